import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Node } from '@outrigger/kube';
import { systemClock } from '@outrigger/kube';
import { hollowNode, startEmbeddedApiServer, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { Manager } from './manager.ts';

const PROVIDER = fileURLToPath(new URL('../packages/cloud-provider/examples/my-cloud.ts', import.meta.url));
const SERVER = {
  id: 'srv-1',
  name: 'n',
  status: 'active',
  plan: 'm1',
  zone: 'z1',
  region: 'r1',
  privateIp: '10.1.0.1',
};

test('a provider that is one file, named by its path, initialises a node', async (t) => {
  const cloud = createServer((_request, response) => void response.end(JSON.stringify({ servers: [SERVER] })));
  await new Promise<void>((resolve) => void cloud.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    cloud.close();
    cloud.closeAllConnections();
  });
  const directory = await mkdtemp(join(tmpdir(), 'one-file-provider-'));
  t.after(() => rm(directory, { recursive: true }));
  const [config, kubeconfig, log] = ['cloud.json', 'kubeconfig', 'log'].map((file) => join(directory, file)) as [
    string,
    string,
    string,
  ];
  await writeFile(
    config,
    JSON.stringify({ endpoint: `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`, token: 'hunter2' }),
  );
  await using server = await startEmbeddedApiServer();
  await writeFile(kubeconfig, server.kubeconfig().yaml, { mode: 0o600 });
  server.store.put(hollowNode({ name: 'n', ip: '10.1.0.1' }) as Parameters<typeof server.store.put>[0]);

  await using manager = new Manager(
    [
      `--cloud-provider=${PROVIDER}`,
      `--cloud-config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      '-v=4',
    ],
    log,
  );
  manager.start();
  const node = (): Node => server.store.get({ plural: 'nodes' }, 'n') as Node;
  for (let attempt = 0; node().spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT); attempt++) {
    assert.ok(attempt < 6_000 && manager.running, await readFile(log, 'utf8'));
    await systemClock.sleep(50);
  }
  assert.equal(node().spec?.providerID, 'my-cloud://srv-1');
  assert.equal(node().metadata?.labels?.['topology.kubernetes.io/zone'], 'z1');
  assert.equal(await manager.end('SIGTERM'), 0);
  assert.doesNotMatch(await readFile(log, 'utf8'), /hunter2/u);
});
