import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isForbidden, resources, type Client } from '@outrigger/kube';
import { clientOf } from '../client-of.ts';
import { startFaultProxy } from '../fault-proxy/fault-proxy.ts';
import { controlPlaneOrSkip } from './control-plane-or-skip.ts';
import { startControlPlane } from './control-plane.ts';
import { runCommand } from './run-command.ts';
import { sharedControlPlane } from './shared-control-plane.ts';

const shared = sharedControlPlane(after);

async function withClient<T>(kubeconfig: string, use: (client: Client) => Promise<T>): Promise<T> {
  await using client = await clientOf(kubeconfig);
  return await use(client);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What a running process has used, by the kernel's account: time that a busy machine kept it waiting does not count. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

test('a control plane is up after 15 s, of processor time where that is known, with RBAC, certificates, tokens and an audit log', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, {
    kubeControllerManager: true,
    kubectl: true,
    tokenUsers: [{ user: 'reader', groups: ['system:masters', 'others'] }],
  });
  if (!controlPlane) return;
  const pids = Object.values(controlPlane.pids);
  assert.equal(pids.length, 3);
  const seconds =
    process.platform === 'linux' ? pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0) : controlPlane.startMs / 1_000;
  assert.ok(seconds > 0.5 && seconds < 15, `${seconds} s`);
  const said = await runCommand(controlPlane.kubectl!, ['--kubeconfig', controlPlane.kubeconfig.path, 'version']);
  assert.match(said, new RegExp(`Server Version: v${controlPlane.kubernetes}`));

  // A user is who the certificate or token says, and may do what RBAC says.
  const nobody = await controlPlane.kubeconfigFor({ user: 'nobody', groups: ['none'] });
  await withClient(nobody.path, (client) => assert.rejects(client.of(resources.nodes).list(), isForbidden));
  const reader = await controlPlane.kubeconfigFor({ user: 'reader', credential: 'token' });
  const mark = await controlPlane.auditLog.mark();
  await withClient(reader.path, async (client) => {
    for (let call = 0; call < 3; call++) await client.of(resources.nodes).list();
  });
  const counts = await controlPlane.auditLog.count((entry) => `${entry.user.username} ${entry.verb}`, mark);
  assert.equal(counts['reader list'], 3);
  await assert.rejects(controlPlane.kubeconfigFor({ user: 'stranger', credential: 'token' }), /no token: name it/);
  const token = await controlPlane.serviceAccountToken('kube-system', 'cloud-controller-manager');
  assert.equal(token.split('.').length, 3);
});

test('the API server is restarted and killed on its port, with its data; disposal leaves no process', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const name = 'survivor';
  const { path } = controlPlane.kubeconfig;
  await withClient(path, (client) =>
    client.of(resources.namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  );
  const before = controlPlane.pids['kube-apiserver'];
  await controlPlane.restartApiServer();
  assert.notEqual(controlPlane.pids['kube-apiserver'], before);
  await controlPlane.killApiServer();
  assert.equal(controlPlane.pids['kube-apiserver'], undefined);
  await controlPlane.startApiServer();
  await withClient(path, (client) => client.of(resources.namespaces).get({ name }));
  const pids = Object.values(controlPlane.pids);
  assert.equal(pids.length, 2);
  await controlPlane[Symbol.asyncDispose]();
  for (let attempt = 0; attempt < 3_000 && pids.some(isAlive); attempt++) {
    await new Promise<void>((resolve) => void setTimeout(resolve, 10));
  }
  assert.ok(!pids.some(isAlive));
  assert.ok(!existsSync(controlPlane.directory));
});

test('a control plane is shared: each test finds it as it was at its start', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  const { pids } = controlPlane;
  await withClient(controlPlane.kubeconfig.path, async (client) => {
    const [nodes, namespaces, services] = [
      client.of(resources.nodes),
      client.of(resources.namespaces),
      client.of(resources.services),
    ];
    const atStart = async (): Promise<readonly unknown[]> =>
      (await Promise.all([nodes.list(), namespaces.list(), services.list()])).map(({ items }) =>
        items.map(({ metadata }) => [metadata?.name, metadata?.uid]),
      );
    const before = await atStart();
    // More than one transaction holds, and a finalizer that nobody will take away.
    const names = Array.from({ length: 150 }, (_, i) => `n${i}`);
    await Promise.all(names.map((name) => nodes.create({ metadata: { name, finalizers: ['example.com/held'] } })));
    await namespaces.create({ metadata: { name: 'made' } });
    const clusterIP = '10.96.0.77';
    const service = { metadata: { name: 'web', namespace: 'made' }, spec: { clusterIP, ports: [{ port: 80 }] } };
    await services.create(service);
    await nodes.delete({ name: 'n0' });

    assert.equal(await shared(t), controlPlane);
    assert.deepEqual(await atStart(), before);
    assert.deepEqual(controlPlane.pids, pids);
    // Names and addresses are free again.
    await nodes.create({ metadata: { name: 'n0' } });
    await namespaces.create({ metadata: { name: 'made' } });
    await services.create(service);
  });
});

test('a program that cannot start is named, with the end of its log', async (t) => {
  if (!(await shared(t))) return;
  const flags = { 'kube-apiserver': { 'no-such-flag': 'true' } };
  await assert.rejects(startControlPlane({ flags }), {
    code: 'control-plane-start',
    message: /kube-apiserver: ended with 1; end of its log:\n[^]*unknown flag: --no-such-flag/,
  });
});

test('kill -9 of the test process ends etcd and the API server, and removes their data', async (t) => {
  if (!(await shared(t))) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const module = fileURLToPath(new URL('./control-plane.ts', import.meta.url));
  const program = `
    const { startControlPlane } = await import(process.argv[1]);
    const controlPlane = await startControlPlane();
    console.log(JSON.stringify([controlPlane.directory, ...Object.values(controlPlane.pids)]));
    process.stdin.resume();
  `;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program, module], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: directory },
  });
  t.after(() => owner.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
  const [data, ...pids] = JSON.parse(line) as [string, ...number[]];
  assert.equal(pids.length, 2);
  assert.ok(pids.every(isAlive) && existsSync(data));
  owner.kill('SIGKILL');
  for (let attempt = 0; attempt < 3_000 && (pids.some(isAlive) || existsSync(data)); attempt++) {
    await new Promise<void>((resolve) => void setTimeout(resolve, 10));
  }
  assert.ok(!pids.some(isAlive));
  assert.ok(!existsSync(data));
});

test('the real client goes through the fault proxy to the real server by token', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  const { server: target, certificateAuthority } = controlPlane;
  await using proxy = await startFaultProxy({ target, certificateAuthority });
  const { path } = await controlPlane.kubeconfigFor({
    credential: 'token',
    server: proxy.url,
    certificateAuthority: proxy.certificateAuthority!,
  });
  await withClient(path, async (client) => {
    const namespaces = client.of(resources.namespaces);
    const rule = proxy.add({ match: { verb: 'create', times: 1 }, fault: { type: 'lose-answer' } });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lost' } };
    await assert.rejects(namespaces.create(namespace));
    assert.equal(rule.hits, 1);
    assert.equal((await namespaces.get({ name: 'lost' })).metadata?.name, 'lost');
  });
  assert.deepEqual(proxy.calls.count(), { 'create namespaces': 1, 'get namespaces': 1 });
});
