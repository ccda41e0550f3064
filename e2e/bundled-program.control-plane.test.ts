import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, freePort, startHollowNodes, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { buildProgram } from '../scripts/build-program.ts';

const COUNT = 20;
const NAMES = Array.from({ length: COUNT }, (_, index) => `node-${index}`);

/** The TCP ports on which a process listens, as Linux says. */
async function listeningPorts(pid: number): Promise<readonly number[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const own = new Set(links.map((link) => /^socket:\[(\d+)\]$/u.exec(link)?.[1]));
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/u))
    .filter((fields) => fields[3] === '0A' && own.has(fields[9]))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16));
}

function page(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });
}

test('the bundled program initialises nodes on a real control plane with two writes each, and leaves in order', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-bundle-'));
  t.after(() => rm(directory, { recursive: true }));
  const { launcher } = await buildProgram(directory);
  await symlink(process.execPath, join(directory, 'bin', 'node'));
  await writeFile(join(directory, 'cloud.json'), JSON.stringify({ instances: NAMES.map((name) => ({ name })) }));
  const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: 'manager', groups: ['system:masters'] });
  const port = await freePort();
  const log = join(directory, 'log');
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      'exec "$0" "$@" 2> log',
      launcher,
      '--cloud-provider=memory',
      '--cloud-config=cloud.json',
      `--kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      '-v=4',
    ],
    { cwd: directory, stdio: 'ignore' },
  );
  t.after(() => child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));

  await using client = await clientOf(controlPlane.kubeconfig.path);
  await using _kubelets = await startHollowNodes({
    client,
    count: COUNT,
    node: (index) => ({ name: NAMES[index] ?? '' }),
  });
  const tainted = async (): Promise<number> => {
    const { items } = await client.of(resources.nodes).list();
    return items.filter(({ spec }) => spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT)).length;
  };
  for (let attempt = 0; (await tainted()) > 0; attempt++) {
    assert.ok(attempt < 1_200 && child.exitCode === null, readFileSync(log, 'utf8'));
    await new Promise<void>((resolve) => void setTimeout(resolve, 100));
  }

  const { items } = await client.of(resources.nodes).list();
  for (const { metadata, spec, status } of items) {
    assert.equal(spec?.providerID, `memory://region-1/${metadata?.name}`);
    assert.match(metadata?.labels?.['topology.kubernetes.io/zone'] ?? '', /^zone-[abc]$/u);
    assert.ok(status?.addresses?.some(({ type }) => type === 'InternalIP'));
  }
  assert.equal(await page(`https://127.0.0.1:${port}/healthz`), 'ok');
  assert.deepEqual(await listeningPorts(child.pid ?? 0), [port], 'no other port is open');
  const metrics = await page(`https://127.0.0.1:${port}/metrics`);
  assert.match(metrics, /^leader_election_master_status\{name="cloud-controller-manager"\} 1$/mu);

  child.kill('SIGTERM');
  assert.equal(await ended, 0, readFileSync(log, 'utf8'));
  const lease = await client.of(resources.leases).get({ namespace: 'kube-system', name: 'cloud-controller-manager' });
  assert.ok(!lease.spec?.holderIdentity, 'the lease is given back');
  const writes = await controlPlane.auditLog.requests(
    ({ objectRef, user, verb }) => user.username === 'manager' && objectRef?.resource === 'nodes' && verb === 'patch',
  );
  assert.equal(writes.length, 2 * COUNT);
  for (const { userAgent } of writes) assert.match(userAgent ?? '', /^outrigger\/.* external-controller-manager$/u);
  assert.ok(statSync(log).size > 0);
});
