/** The flags of nodes that the whole program has: what they say comes to what it does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '@outrigger/provider-memory';
import { hollowNode } from '@outrigger/testing';
import { Bench, until } from '../packages/cloud-controller-manager/src/program/program-bench.suite.ts';
import { quickClock } from './quick-clock.ts';

const cloudOf = (): MemoryCloud => createMemoryCloud({ clock: systemClock, random: () => 0.5 });

function join(bench: Bench, name: string, labels: Record<string, string> = {}): void {
  const { metadata, ...node } = hollowNode({ name, images: 0, labels });
  bench.server.store.put({ ...node, metadata: { ...metadata, name, uid: `uid-${name}` } });
}

test('--node-maintenance-conditions: what the cloud says of a machine is on its node, in Events, and nowhere else', async () => {
  await using bench = await Bench.start();
  bench.clock = quickClock(5);
  const cloud = cloudOf();
  cloud.createInstance({ name: 'node-1' });
  join(bench, 'node-1');
  const flags = ['--node-maintenance-conditions', '--node-status-update-frequency=1s'];
  const { log } = await bench.run(createMemoryProvider({ cloud, name: 'green' }), ...flags);
  await until('initialised', () => bench.isInitialised('node-1'), log);
  const conditionsAre = (expected: Readonly<Record<string, string>>) => (): boolean =>
    Object.entries(expected).every(([type, status]) =>
      bench.node('node-1').status?.conditions?.some((one) => one.type === type && one.status === status),
    );
  cloud.updateInstance('node-1', { maintenance: { state: 'planned', reason: 'new firmware' } });
  await until('it is planned', conditionsAre({ MaintenancePlanned: 'True' }), log);
  cloud.updateInstance('node-1', { maintenance: { state: 'in-progress' } });
  const inProgress = { MaintenancePlanned: 'False', MaintenanceInProgress: 'True' };
  await until('it is in progress', conditionsAre(inProgress), log);
  cloud.updateInstance('node-1', { maintenance: null });
  await until('it is over', conditionsAre({ MaintenanceInProgress: 'False' }), log);
  const told = (): readonly string[] =>
    bench.server.store
      .list({ plural: 'events' })
      .map((event) => (event as { reason?: string }).reason ?? '')
      .filter((reason) => reason.startsWith('Maintenance'))
      .toSorted();
  const expected = [
    'MaintenanceInProgress',
    'MaintenanceInProgressOver',
    'MaintenancePlanned',
    'MaintenancePlannedOver',
  ];
  await until('all is told', () => told().length === expected.length, log);
  assert.deepEqual(told(), expected);
  assert.deepEqual(bench.node('node-1').spec?.taints ?? [], []);
});

test('--unmanaged-nodes: such a node is neither initialised nor deleted; the others are', async () => {
  for (const [flags, left, other] of [
    [[], { type: 'virtual-kubelet' }, { edge: '' }],
    [['--unmanaged-nodes=label:edge'], { edge: '' }, { type: 'virtual-kubelet' }],
  ] as const) {
    await using bench = await Bench.start();
    bench.clock = quickClock(30);
    const cloud = cloudOf();
    for (const name of ['left', 'other']) cloud.createInstance({ name });
    join(bench, 'left', left);
    join(bench, 'other', other);
    const { log } = await bench.run(
      createMemoryProvider({ cloud, name: 'green' }),
      '--node-deletion-grace-period=1s',
      '--node-deletion-max-fraction=1',
      // By this clock a Lease would be lost within a third of a second.
      '--leader-elect=false',
      ...flags,
    );
    await until('the other is initialised', () => bench.isInitialised('other'), log);
    assert.ok(!bench.isInitialised('left'));
    assert.equal(bench.node('left').spec?.providerID, undefined);
    // Neither is Ready, and now neither has a machine.
    const [spec, before] = [{ providerID: 'green://region-1/left', taints: [] }, bench.node('left')];
    bench.server.store.put({ ...before, spec });
    for (const name of ['left', 'other']) cloud.deleteInstance(name);
    await until('the other is deleted', () => bench.server.store.get({ plural: 'nodes' }, 'other') === undefined, log);
    await bench.clock.sleep(30_000);
    assert.deepEqual(bench.node('left')?.spec, spec);
  }
});
