/**
 * What a user of the installed packages can do: `node initialise-node.js manager.js provider.js` starts an API server, a small cloud and
 * the manager, prints the provider ID that a node is given, and ends with the manager's exit code.
 */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Node, systemClock } from '@outrigger/kube';
import { hollowNode, startEmbeddedApiServer, UNINITIALIZED_TAINT } from '@outrigger/testing';

const SERVER = {
  id: 'srv-1',
  name: 'n',
  status: 'active',
  plan: 'm1',
  zone: 'z1',
  region: 'r1',
  privateIp: '10.1.0.1',
};
const ATTEMPTS = 600;

const [manager, provider] = process.argv.slice(2);
if (!manager || !provider) throw new Error('usage: initialise-node.js manager.js provider.js');

const cloud = createServer(({ url = '' }, response) => {
  const body = url === '/accounts/me' ? { number: 'account-1' } : { items: url === '/servers' ? [SERVER] : [] };
  response.end(JSON.stringify(body));
});
cloud.listen(0, '127.0.0.1');
await once(cloud, 'listening');
const endpoint = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`;

const directory = await mkdtemp(path.join(tmpdir(), 'initialise-node-'));
const [config, kubeconfig] = [path.join(directory, 'cloud.json'), path.join(directory, 'kubeconfig')];
await writeFile(config, JSON.stringify({ endpoint, token: 'hunter2' }), { mode: 0o600 });
const server = await startEmbeddedApiServer();
await writeFile(kubeconfig, server.kubeconfig().yaml, { mode: 0o600 });
server.store.put(hollowNode({ name: 'n', ip: '10.1.0.1' }) as Parameters<typeof server.store.put>[0]);

const child = spawn(
  process.execPath,
  [
    manager,
    `--cloud-provider=${provider}`,
    `--cloud-config=${config}`,
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
const exited = once(child, 'exit');
try {
  const node = (): Node => server.store.get({ plural: 'nodes' }, 'n') as Node;
  for (let attempt = 0; node().spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT); attempt++) {
    if (attempt === ATTEMPTS || child.exitCode !== null) throw new Error('the node was not initialised');
    await systemClock.sleep(50);
  }
  console.log(`initialised ${node().spec?.providerID}`);
} finally {
  child.kill();
  const [code] = (await exited) as [number | null];
  process.exitCode ??= code ?? 1;
  cloud.close();
  cloud.closeAllConnections();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
}
