/** A cloud config that its provider cannot use is one line at once, whatever the API server does: nobody is connected to. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { testEnvironment } from '../packages/cloud-controller-manager/src/program/test-environment.suite.ts';

const manager = newCloudControllerManager({
  providers: {
    memory: () => import('@outrigger/provider-memory'),
    openstack: () => import('@outrigger/provider-openstack'),
  },
});

/** Stands for an API server, and a keystone, that do not answer. */
const silent = createServer();
let connections = 0;
silent.on('connection', (socket) => {
  connections++;
  socket.destroy();
});
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'outrigger-cloud-config-'));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  await writeFile(
    join(directory, 'kubeconfig'),
    `apiVersion: v1
kind: Config
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "https://127.0.0.1:${port}" } }]
users: [{ name: a, user: { token: abc } }]
`,
  );
});

after(async () => {
  silent.close();
  await rm(directory, { recursive: true });
});

/** {keystone}: the same silent server. */
const GLOBAL =
  '[Global]\nauth-url = {keystone}\nusername = u\npassword = hush-hush\ntenant-name = p\ndomain-name = d\n';

for (const { provider, says, text } of [
  { provider: 'memory', text: '{', says: 'cloud.conf: must be JSON' },
  {
    provider: 'memory',
    text: '{ "endpont": 1 }',
    says: 'cloud.conf: unknown key endpont; known are endpoint, hints, instances, loadBalancerParts and nodeTags',
  },
  { provider: 'memory', text: '{ "endpoint": "far" }', says: 'cloud.conf: endpoint must be an http:// URL' },
  {
    provider: 'memory',
    text: '{ "instances": [{ "name": "a" }, { "name": "b", "id": "a" }] }',
    says: 'cloud.conf: instances: a is there twice',
  },
  {
    provider: 'openstack',
    text: undefined,
    says: 'the openstack provider needs its cloud.conf: name it with --cloud-config',
  },
  { provider: 'openstack', text: '', says: "cloud.conf: [Global] auth-url is needed: keystone's URL" },
  { provider: 'openstack', text: '[Global', says: 'cloud.conf:1:' },
  {
    provider: 'openstack',
    text: `${GLOBAL}ca-file = /nowhere/ca.pem\n`,
    says: 'ca-file /nowhere/ca.pem cannot be read',
  },
  { provider: 'openstack', text: `${GLOBAL}cert-file = a.crt\n`, says: 'cert-file and key-file go together' },
  {
    provider: 'openstack',
    text: `${GLOBAL}[LoadBalancer]\ncreate-monitor = perhaps\n`,
    says: 'cloud.conf:8: [LoadBalancer] create-monitor',
  },
]) {
  test(`${provider} with ${JSON.stringify(text)}`, async () => {
    const { port } = silent.address() as AddressInfo;
    await writeFile(join(directory, 'cloud.conf'), (text ?? '').replace('{keystone}', `https://127.0.0.1:${port}`));
    let log = '';
    connections = 0;
    const code = await manager.main(
      [
        `--cloud-provider=${provider}`,
        ...(text === undefined ? [] : ['--cloud-config=cloud.conf']),
        `--kubeconfig=${join(directory, 'kubeconfig')}`,
        '--secure-port=0',
      ],
      testEnvironment(directory, (text) => void (log += text)),
    );
    assert.equal(code, 1);
    assert.equal(connections, 0);
    const lines = log.trimEnd().split('\n');
    // Of a busy machine it tells too, as of any second in which it was not run.
    assert.equal(lines.filter((line) => !/held the event loop|The process was not run/u.test(line)).length, 1, log);
    assert.ok(log.includes(says), log);
    assert.equal(log.split('cloud.conf').length, 2, `the file is named once: ${log}`);
    assert.ok(!log.includes('hush-hush'), log);
  });
}
