import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '@outrigger/cloud-provider';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { RouteRecord } from './route-record.ts';
import { nodeOf, RouteRig } from './route-rig.suite.ts';
import { addressedNode, UnmarkedRig } from './unmarked-rig.suite.ts';

const MINUTE = 60_000;

/** Younger than those that rigs make. */
const YOUNGER = '2026-02-01T00:00:00Z';

function joinLater(rig: RouteRig, name: string, ...podCIDRs: readonly string[]): void {
  if (!rig.cloud.instance(name)) rig.cloud.createInstance({ name });
  const node = nodeOf(name, podCIDRs);
  rig.api.put({ ...node, metadata: { ...node.metadata, creationTimestamp: YOUNGER } });
}

test('a node with a pod CIDR inside of another’s gets no route, and is told and marked; the other one is neither', async () => {
  await using rig = new RouteRig();
  rig.join('victim', '10.0.3.0/24');
  await rig.start({ serviceCidrs: parseClusterCidrs('10.0.96.0/20') });
  joinLater(rig, 'evil', '10.0.3.0/25');
  joinLater(rig, 'evil-2', '10.0.96.0/24');
  await rig.advance(MINUTE);
  assert.deepEqual(rig.owned, ['10.0.3.0/24 → victim']);
  assert.deepEqual(rig.eventsOf('evil'), [
    'PodCIDRWithoutRoute: No route is created for node evil. Its pod CIDR 10.0.3.0/25 overlaps 10.0.3.0/24 of node victim, which is older.',
  ]);
  assert.deepEqual(rig.eventsOf('evil-2'), [
    'PodCIDRWithoutRoute: No route is created for node evil-2. Its pod CIDR 10.0.96.0/24 overlaps the range of Services 10.0.96.0/20 (--service-cluster-ip-range).',
  ]);
  assert.deepEqual(rig.eventsOf('victim'), []);
  assert.deepEqual(
    ['victim', 'evil', 'evil-2'].map((name) => rig.condition(name)),
    ['False RouteCreated', 'True NoRouteCreated', 'True NoRouteCreated'],
  );
  assert.match(rig.explain('evil')?.join(' ') ?? '', /No route can be created: Its pod CIDR 10\.0\.3\.0\/25 overlaps/u);
  rig.api.remove('victim');
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.owned, ['10.0.3.0/25 → evil'], 'nobody else has it any more');
});

test('a route that a former release made stays, and its node its network; an Event says what is wrong', async () => {
  await using rig = new RouteRig();
  rig.join('older', '10.0.3.0/24');
  joinLater(rig, 'younger', '10.0.3.0/25');
  const { cloud } = rig;
  cloud.createRoute({ destination: '10.0.3.0/25', instanceId: 'younger', nodeName: 'younger', clusterId: 'cluster-1' });
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual(rig.owned, ['10.0.3.0/24 → older', '10.0.3.0/25 → younger']);
  assert.equal(rig.condition('younger'), 'False RouteCreated');
  assert.deepEqual(rig.eventsOf('younger'), [
    'PodCIDRWithoutRoute: A route of node younger is kept, but not created again. Its pod CIDR 10.0.3.0/25 overlaps 10.0.3.0/24 of node older, which is older.',
  ]);
  assert.match(rig.explain('younger')?.join(' ') ?? '', /Its route is kept, but not created again: Its pod CIDR/u);
  rig.api.remove('younger');
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.owned, ['10.0.3.0/24 → older'], 'a person has decided');
  joinLater(rig, 'younger', '10.0.3.0/25');
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.owned, ['10.0.3.0/24 → older']);
});

test('after a restart a twin that comes first in the store does not cost the older node its network', async () => {
  await using rig = new RouteRig();
  rig.cloud.createInstance({ name: 'victim' });
  const twin = nodeOf('a-evil', ['10.0.3.0/24'], 'victim');
  rig.api.put({ ...twin, metadata: { ...twin.metadata, creationTimestamp: YOUNGER } });
  rig.join('victim', '10.0.3.0/24');
  const { cloud } = rig;
  cloud.createRoute({ destination: '10.0.3.0/24', instanceId: 'victim', nodeName: 'victim', clusterId: 'cluster-1' });
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual(
    [rig.condition('victim'), rig.eventsOf('victim'), rig.condition('a-evil')],
    ['False RouteCreated', [], 'True NoRouteCreated'],
  );
});

test('of a node that writes a thousand addresses, and others each time, the record gets few lines', async () => {
  await using rig = new UnmarkedRig();
  rig.api.put(addressedNode('last', [], '192.168.0.99'));
  await rig.start();
  const lines: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const addresses = Array.from({ length: 200 }, (_, i) => ({
      type: i % 2 === 0 ? 'ExternalIP' : 'InternalIP',
      address: i % 4 < 2 ? `172.16.${turn}.${i}` : `fd01::${turn}:${i.toString(16)}`,
    }));
    const node = addressedNode('evil', ['10.0.3.0/24', 'fd00:0:0:3::/64'], '192.168.0.1');
    rig.api.put({ ...node, status: { ...node.status, addresses } });
    await rig.settle();
    await rig.advance(1_000);
    lines.push(rig.recorded.length);
  }
  assert.ok((lines[0] ?? 0) > 0 && (lines[0] ?? 0) <= 16, `${lines.join(', ')} lines`);
  assert.ok(Math.max(...lines) < 150, `${lines.join(', ')} lines`);
  rig.api.put(addressedNode('good', ['10.0.4.0/24'], '192.168.0.4'));
  await rig.advance(MINUTE);
  assert.ok(rig.routes.includes('10.0.4.0/24 via 192.168.0.4'));
  rig.api.remove('evil');
  for (let i = 0; i < 45; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.routes, rig.recorded], [['10.0.4.0/24 via 192.168.0.4'], ['10.0.4.0/24 192.168.0.4']]);
});

test('a record that is full of one destination takes it again once lists have shown what is gone', () => {
  const record = new RouteRecord();
  const hops = Array.from({ length: 64 }, (_, i) => `192.168.0.${i}`);
  for (const hop of hops) record.note('10.0.3.0/24', [hop, hop], 0);
  assert.deepEqual([record.isFull('10.0.3.0/24'), record.isFull('10.0.4.0/24')], [true, false]);
  const there: Route = {
    id: 'r',
    destination: '10.0.3.0/24',
    nextHops: hops.slice(1),
    blackhole: false,
    ownership: 'unmarked',
  };
  for (const asOf of [1, 2]) record.keepOnly([there], asOf);
  assert.equal(record.isFull('10.0.3.0/24'), false);
});

test('a node that takes its addresses away and gives them back is not tried any sooner', async () => {
  await using rig = new UnmarkedRig();
  await rig.start();
  let tries = 0;
  rig.cloud.before = (request) => {
    if (request !== 'create') return;
    tries++;
    throw new Error('refused');
  };
  const node = addressedNode('a', ['10.0.3.0/24'], '192.168.0.1');
  for (let turn = 0; turn < 120; turn++) {
    rig.api.put(turn % 2 === 0 ? node : { ...node, status: { ...node.status, addresses: [] } });
    await rig.advance(500);
  }
  assert.ok(tries <= 8, `${tries} tries in a minute`);
});
