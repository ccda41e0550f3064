import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Lease } from '@outrigger/kube';
import { Bench, greenCloud, page, until } from '../program/program-bench.suite.ts';

const LEASES = { group: 'coordination.k8s.io', plural: 'leases' };
const MIGRATION = 'handover';

/** The holder of the migration's lease; `undefined` when there is no such object. */
function holder(bench: Bench): string | undefined {
  return (bench.server.store.get(LEASES, MIGRATION, 'kube-system') as Lease | undefined)?.spec?.holderIdentity;
}

function hold(bench: Bench, holderIdentity: string): void {
  const now = new Date().toISOString().replace('Z', '000Z');
  const before = bench.server.store.get(LEASES, MIGRATION, 'kube-system');
  bench.server.store.put({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...before?.metadata, name: MIGRATION, namespace: 'kube-system' },
    spec: { holderIdentity, leaseDurationSeconds: 3_600, acquireTime: now, renewTime: now, leaseTransitions: 7 },
  });
}

/** Flags for a migration of the controllers, `name: component`. */
async function migrate(bench: Bench, leaders: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const file = join(bench.directory, 'migration.yaml');
  const controllerLeaders = Object.entries(leaders).map(([name, component]) => ({ name, component }));
  const config = {
    apiVersion: 'controllermanager.config.k8s.io/v1',
    kind: 'LeaderMigrationConfiguration',
    leaderName: MIGRATION,
    controllerLeaders,
  };
  await writeFile(file, JSON.stringify(config));
  return ['--enable-leader-migration', `--leader-migration-config=${file}`];
}

test('a migrated controller works once the other manager lets go of the lock, and both locks are given back', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  hold(bench, 'kube-controller-manager');
  const program = await bench.run(greenCloud(), ...(await migrate(bench, { 'cloud-node': '*' })));
  const lifecycleRuns = (): boolean => /"Controller started".*cloud-node-lifecycle/u.test(program.log());
  await until('main controllers run', lifecycleRuns, program.log);
  await until('the lock is sought', () => program.log().match(/Attempting to acquire/gu)?.length === 2, program.log);
  assert.ok(!/"Controller started".*"cloud-node-controller"/u.test(program.log()));
  assert.ok(!bench.isInitialised('node-1'));
  assert.match(await page(`${program.url}/metrics`), /^leader_election_master_status\{name="handover"\} 0$/mu);
  assert.match(await page(`${program.url}/configz`), /"leaderName":\s*"handover"/u);
  assert.equal(await page(`${program.url}/healthz/leaderElection`), 'ok');

  hold(bench, '');
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  const metrics = await page(`${program.url}/metrics`);
  assert.match(metrics, /^leader_election_master_status\{name="handover"\} 1$/mu);
  assert.match(metrics, /^leader_election_master_status\{name="cloud-controller-manager"\} 1$/mu);
  assert.equal(holder(bench), bench.lease()?.spec?.holderIdentity);

  program.signal('SIGTERM');
  assert.equal(await program.ended, 0, program.log());
  assert.deepEqual([holder(bench), bench.lease()?.spec?.holderIdentity], ['', '']);
  const told = bench.server.store
    .list({ plural: 'events' })
    .map((event) => event as { reason?: string; message?: string; involvedObject?: { name?: string } })
    .filter(({ involvedObject, reason }) => reason === 'LeaderElection' && involvedObject?.name === MIGRATION);
  assert.deepEqual(told.map(({ message = '' }) => message.replace(/^\S+ /u, '')).toSorted(), [
    'became leader',
    'stopped leading',
  ]);
});

test('the lock of the migration that another one has taken ends the program with 1, and nobody in it writes any more', async () => {
  await using bench = await Bench.start();
  // The node controller is not moved: it is the other lock that is lost.
  const program = await bench.run(greenCloud(), ...(await migrate(bench, { 'cloud-node-lifecycle': '*' })));
  await until('both locks are held', () => (holder(bench) ?? '') !== '', program.log);
  bench.addNode('node-1');
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  hold(bench, 'thief');
  assert.equal(await program.ended, 1, program.log());
  assert.match(program.log(), /Leadership lost/u);
  assert.equal(holder(bench), 'thief');
});

test('what another manager is to run is left alone, and a lock under which nothing runs here is not sought', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  const elsewhere = { 'cloud-node-controller': 'kube-controller-manager', nodeipam: '*' };
  const program = await bench.run(greenCloud(), ...(await migrate(bench, elsewhere)));
  const lifecycleRuns = (): boolean => /"Controller started".*cloud-node-lifecycle/u.test(program.log());
  await until('main controllers run', lifecycleRuns, program.log);
  assert.match(program.log(), /"Controller not started".*cloud-node-controller.*assigns it to another manager/u);
  program.signal('SIGTERM');
  assert.equal(await program.ended, 0, program.log());
  assert.equal(holder(bench), undefined);
  assert.ok(!bench.isInitialised('node-1'));
});

test('a configuration that cannot be kept to ends the start with one line and 1, and no lease is touched', async () => {
  await using bench = await Bench.start();
  for (const [leaders, more, message] of [
    [
      { 'cloud-nod': '*' },
      [],
      /controllerLeaders\[0\]\.name: no controller "cloud-nod" \(did you mean "cloud-node"\?\)/u,
    ],
    [{ route: '*' }, [`--leader-elect-resource-name=${MIGRATION}`], /leaderName: handover is already the Lease of/u],
    [{ route: 'a', 'route-controller': 'b' }, [], /node-route-controller is to run in a already, not in b/u],
  ] as const) {
    const program = await bench.run(greenCloud(), ...(await migrate(bench, leaders)), ...more);
    assert.equal(await program.ended, 1);
    assert.match(program.log(), message);
    assert.deepEqual(bench.server.store.list(LEASES), []);
  }
});
