// Over 400 lines: one rig, and one test for each way in which clouds, nodes and writers can be in the way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { createRouteController } from './route-controller.ts';
import type { RouteControllerOptions } from './route-dependencies.ts';
import { CLUSTER, nodeOf, RouteRig } from './route-rig.suite.ts';

const LIST = 'GET /routes';
const CREATE = 'POST /routes:batchCreate';
const DELETE = 'POST /routes:batchDelete';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function many(rig: RouteRig, count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, i) => `n${i}`);
  for (const [i, name] of names.entries()) rig.join(name, `10.0.${i}.0/24`);
  return names;
}

test('250 nodes cost one list and three batches; each gets its condition by one write', async () => {
  await using rig = new RouteRig();
  const names = many(rig, 250);
  await rig.start();
  assert.deepEqual(rig.takeCalls(), { [LIST]: 1, [CREATE]: 3 });
  assert.equal(rig.owned.length, 250);
  assert.deepEqual(new Set(names.map((name) => rig.condition(name))), new Set(['False RouteCreated']));
  assert.equal(rig.api.writes.length, 250);
  assert.ok(rig.api.nodes.get('n1')?.status?.conditions?.some(({ type }) => type === 'Ready'));
});

test('a new node costs one batched create, a dual-stack one too; a heartbeat costs nothing', async () => {
  await using rig = new RouteRig();
  await rig.start();
  rig.takeCalls();
  rig.join('a', '10.0.1.0/24', 'fd00:0:0:1::/64');
  rig.join('b', '10.0.2.0/24');
  await rig.settle();
  assert.deepEqual(rig.takeCalls(), { [CREATE]: 1 });
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a', '10.0.2.0/24 → b', 'fd00:0:0:1::/64 → a']);
  for (let i = 0; i < 100; i++) rig.api.put({ ...rig.api.nodes.get('a')! });
  await rig.advance(MINUTE);
  assert.deepEqual([rig.takeCalls(), rig.api.writes.length], [{}, 2]);
});

test('idle costs one list each ten minutes, of which a tenth is left to chance; an explicit period is kept', async () => {
  for (const [chance, lists] of [
    [0, 5],
    [1, 6],
  ] as const) {
    await using unset = new RouteRig();
    unset.chance = chance;
    many(unset, 3);
    await unset.start();
    unset.takeCalls();
    await unset.advance(54 * MINUTE + 1_000);
    assert.deepEqual(unset.takeCalls(), { [LIST]: lists });
  }

  await using explicit = new RouteRig();
  many(explicit, 3);
  explicit.chance = 1;
  await explicit.start({ routeReconciliationPeriodMs: 30_000 });
  explicit.takeCalls();
  await explicit.advance(10 * MINUTE);
  assert.deepEqual(explicit.takeCalls(), { [LIST]: 20 });
  assert.deepEqual(
    [
      explicit.metrics.get('route_controller_route_sync_total noop periodic'),
      explicit.metrics.get('route_controller_route_sync_total changed periodic'),
    ],
    [20, 1],
  );
});

test('a node that is gone loses its routes by one list and one batched delete', async () => {
  await using rig = new RouteRig();
  many(rig, 3);
  await rig.start();
  await rig.advance(MINUTE);
  rig.takeCalls();
  rig.api.remove('n0');
  rig.api.remove('n1');
  await rig.settle();
  assert.deepEqual(rig.takeCalls(), { [LIST]: 1, [DELETE]: 1 });
  assert.deepEqual(rig.owned, ['10.0.2.0/24 → n2']);
  assert.equal(rig.metrics.get('outrigger_route_operations_total delete done'), 2);
});

test('a node that comes and goes at once leaves no route', async () => {
  await using rig = new RouteRig();
  rig.join('another');
  await rig.start();
  rig.cloud.configure({ latencyMs: 5_000 });
  rig.join('a', '10.0.1.0/24');
  await rig.settle();
  rig.api.remove('a');
  await rig.advance(5 * MINUTE);
  assert.deepEqual(rig.owned, []);
});

test('a machine that was replaced under the same name gets the route: the old one goes first', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  rig.cloud.createInstance({ name: 'a2' });
  rig.api.put(nodeOf('a', ['10.0.1.0/24'], 'a2', 'uid-2'));
  await rig.advance(15_000);
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a2']);
  assert.equal(rig.condition('a'), 'False RouteCreated');
});

test('a store that is behind costs no live node its route', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  // The store sees the node go and not yet that it is there again.
  const node = rig.api.nodes.get('a')!;
  rig.api.remove('a');
  rig.api.holdWatch = true;
  rig.api.put({ ...node, metadata: { ...node.metadata, uid: 'uid-2' } });
  await rig.advance(5 * MINUTE);
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a']);
  assert.equal(rig.takeCalls()[DELETE], undefined);
});

test('a server that cannot be read costs no route either', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  rig.api.before = () => {
    throw new Error('the server is down');
  };
  rig.api.remove('a');
  await rig.advance(MINUTE);
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a']);
  rig.api.before = () => {};
  await rig.advance(5 * MINUTE);
  assert.deepEqual(rig.owned, []);
});

test('many routes that suddenly belong to nobody are held for five minutes, and a person is told', async () => {
  await using rig = new RouteRig();
  const names = many(rig, 40);
  await rig.start();
  await rig.advance(MINUTE);
  for (const name of names.slice(10)) rig.api.remove(name);
  await rig.advance(4 * MINUTE);
  assert.equal(rig.owned.length, 40);
  assert.equal(rig.metrics.get('outrigger_route_removals_held'), 30);
  assert.match(
    rig.eventsOf('kube-system')[0] ?? '',
    /^RouteRemovalHeld: 30 routes belong to nodes that do not exist any more/,
  );
  // Twenty nodes are there again: their routes were never touched.
  for (const name of names.slice(20)) rig.join(name, `10.0.${name.slice(1)}.0/24`);
  await rig.advance(2 * MINUTE);
  assert.equal(rig.owned.length, 30);
  assert.equal(rig.metrics.get('outrigger_route_removals_held'), 0);
});

test('all nodes gone for good: all routes go after the hold', async () => {
  await using rig = new RouteRig();
  const names = many(rig, 40);
  await rig.start();
  for (const name of names) rig.api.remove(name);
  await rig.advance(6 * MINUTE);
  assert.deepEqual(rig.owned, []);
});

test('quota fails the nodes concerned alone, with an Event, and is tried again at the longest back-off', async () => {
  await using rig = new RouteRig();
  rig.cloud.configure({ quota: { routes: 2 } });
  many(rig, 3);
  await rig.start();
  assert.deepEqual(
    [rig.owned.length, rig.condition('n0'), rig.condition('n2')],
    [2, 'False RouteCreated', 'True NoRouteCreated'],
  );
  assert.match(
    rig.eventsOf('n2')[0] ?? '',
    /^FailedToCreateRoute: Could not create the route 10\.0\.2\.0\/24 to node n2: .*quota/,
  );
  assert.deepEqual(rig.eventsOf('n0'), []);
  rig.takeCalls();
  await rig.advance(4 * MINUTE);
  assert.deepEqual(rig.takeCalls(), {});
  rig.cloud.configure({ quota: {} });
  await rig.advance(2 * MINUTE);
  assert.deepEqual([rig.owned.length, rig.condition('n2')], [3, 'False RouteCreated']);
});

test('a cloud that fails for a moment is asked again, and nobody is told', async () => {
  await using rig = new RouteRig();
  rig.cloud.setFaults([{ operation: CREATE, effect: 'status', status: 503, times: 2 }]);
  many(rig, 3);
  await rig.start();
  assert.equal(rig.owned.length, 0);
  await rig.advance(10_000);
  assert.deepEqual([rig.owned.length, rig.events], [3, []]);
  assert.equal(rig.condition('n1'), 'False RouteCreated');
});

test('a list that fails concludes nothing: no route is made or removed, no condition written', async () => {
  await using rig = new RouteRig();
  rig.cloud.setFaults([{ operation: LIST, effect: 'status', status: 500 }]);
  many(rig, 3);
  await rig.start();
  await rig.advance(10 * MINUTE);
  const calls = rig.takeCalls();
  assert.deepEqual(Object.keys(calls), [LIST]);
  assert.ok((calls[LIST] ?? 0) <= 12, 'with back-off');
  assert.equal(rig.api.writes.length, 0);
  rig.cloud.setFaults([]);
  await rig.advance(6 * MINUTE);
  assert.equal(rig.owned.length, 3);
});

test('a request that hangs holds up no other', async () => {
  await using rig = new RouteRig();
  await rig.start();
  rig.cloud.setFaults([{ operation: CREATE, effect: 'hang', times: 1 }]);
  rig.join('slow', '10.0.1.0/24');
  await rig.settle();
  rig.join('quick', '10.0.2.0/24');
  await rig.advance(5_000);
  assert.deepEqual(rig.owned, ['10.0.2.0/24 → quick']);
  await rig.advance(2 * MINUTE);
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → slow', '10.0.2.0/24 → quick']);
});

test('an answer that is lost leaks nothing, though the node is gone before the next try', async () => {
  await using rig = new RouteRig();
  rig.join('another');
  await rig.start();
  rig.cloud.setFaults([{ operation: CREATE, effect: 'lost', times: 1 }]);
  rig.join('a', '10.0.1.0/24');
  await rig.settle();
  rig.api.remove('a');
  await rig.advance(2 * MINUTE);
  assert.deepEqual(rig.owned, []);
});

test('a foreign route in the way is told and left; it goes, and the route is made', async () => {
  await using rig = new RouteRig();
  rig.cloud.createInstance({ name: 'router' });
  const { route } = rig.cloud.createRoute({
    destination: '10.0.1.0/24',
    instanceId: 'router',
    nodeName: '',
    clusterId: '',
  });
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  assert.match(
    rig.eventsOf('a')[0] ?? '',
    /^PodCIDRWithoutRoute: .*is used by the route route-\d+, which this cluster did not create/,
  );
  assert.equal(rig.condition('a'), 'True NoRouteCreated');
  rig.cloud.deleteRoute(route.id);
  await rig.advance(11 * MINUTE);
  assert.deepEqual([rig.owned, rig.condition('a')], [['10.0.1.0/24 → a'], 'False RouteCreated']);
  assert.equal(rig.eventsOf('a').length, 1);
});

test('a route that was removed by hand is made again at the next list; the condition stays', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  for (const { id } of rig.cloud.routes()) rig.cloud.deleteRoute(id);
  await rig.advance(11 * MINUTE);
  assert.deepEqual([rig.owned, rig.api.writes.length], [['10.0.1.0/24 → a'], 1]);
});

test('another writer of the condition is answered, whoever it is', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  await rig.advance(1_000);
  const node = rig.api.nodes.get('a')!;
  const conditions = [{ type: 'NetworkUnavailable', status: 'True', reason: 'NoRouteCreated' }];
  rig.api.put({ ...node, status: { conditions } });
  await rig.settle();
  assert.equal(rig.condition('a'), 'False RouteCreated');
});

/** Writes the condition each time that it is not its own. */
function rival(rig: RouteRig, status: 'False' | 'True', reason: string): { writes: number } {
  const counted = { writes: 0 };
  const fieldsV1 = { 'f:status': { 'f:conditions': { 'k:{"type":"NetworkUnavailable"}': {} } } };
  const managedFields = [{ manager: 'other-network', time: '2026-01-01T00:00:00Z', fieldsV1 }];
  rig.api.store.subscribe((change) => {
    if (change.type === 'delete' || rig.condition(change.key) === `${status} ${reason}`) return;
    counted.writes += 1;
    setImmediate(() => {
      const live = rig.api.nodes.get(change.key);
      const conditions = [{ type: 'NetworkUnavailable', status, reason }];
      rig.api.put({ ...live, metadata: { ...live?.metadata, managedFields }, status: { ...live?.status, conditions } });
    });
  });
  return counted;
}

test('a network plug-in that keeps its own reason with the same status is left alone', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  await rig.advance(1_000);
  const before = rig.api.writes.length;
  rival(rig, 'False', 'CiliumIsUp');
  await rig.advance(HOUR);
  assert.deepEqual([rig.api.writes.length - before, rig.condition('a')], [0, 'False CiliumIsUp']);
});

test('a controller that asserts the opposite: a few writes an hour, no cloud call for them, and one Event that names it', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  await rig.start({ routeReconciliationPeriodMs: 10 * HOUR });
  await rig.advance(1_000);
  rig.takeCalls();
  const before = rig.api.writes.length;
  const theirs = rival(rig, 'True', 'NetworkIsDown');
  // What they write first is no change of the cloud either.
  rig.api.put({ ...rig.api.nodes.get('a') });
  for (let second = 0; second < 30; second++) await rig.advance(1_000);
  assert.ok(rig.api.writes.length - before <= 4, `${rig.api.writes.length - before} writes in half a minute`);
  for (let minute = 0; minute < 25; minute++) await rig.advance(MINUTE);
  assert.ok(rig.api.writes.length - before <= 12, `${rig.api.writes.length - before} writes in 25 minutes`);
  assert.ok(theirs.writes <= 13);
  assert.deepEqual(rig.takeCalls(), {});
  assert.equal(rig.api.gets, 1);
  assert.equal(rig.eventsOf('a').length, 1);
  assert.match(rig.eventsOf('a')[0] ?? '', /^FieldContested: The field manager other-network writes condition Netw/);
});

test('a node that an API server restored from a backup shows without its condition gets it again', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  const backup = rig.api.nodes.get('a');
  assert.ok(backup);
  await rig.start();
  await rig.advance(10_000);
  assert.equal(rig.condition('a'), 'False RouteCreated');
  // As the node controller had set it, with the lower version of then.
  const conditions = [{ type: 'NetworkUnavailable', status: 'True', reason: 'NoRouteCreated' }];
  rig.api.nodes.set('a', { ...backup, status: { ...backup.status, conditions } });
  rig.api.publish();
  await rig.advance(MINUTE);
  assert.equal(rig.condition('a'), 'False RouteCreated');
});

test('a node that waits for its provider ID or pod CIDR gets its route when it has both', async () => {
  await using rig = new RouteRig();
  await rig.start();
  rig.cloud.createInstance({ name: 'a' });
  const whole = nodeOf('a', ['10.0.1.0/24']);
  rig.api.put({ ...whole, spec: {} });
  rig.api.put({ ...whole, spec: { podCIDRs: ['10.0.1.0/24'] } });
  await rig.settle();
  assert.deepEqual([rig.owned, rig.condition('a')], [[], undefined]);
  rig.api.put(whole);
  await rig.settle();
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a']);
});

test('routes that are there at the start are taken as they are', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  rig.cloud.createRoute({ destination: '10.0.1.0/24', instanceId: 'a', nodeName: 'a', clusterId: CLUSTER });
  await rig.start();
  assert.deepEqual(rig.takeCalls(), { [LIST]: 1 });
  assert.equal(rig.condition('a'), 'False RouteCreated');
});

test('an API server that lists no node at all is not believed for a while: not even one route goes by it', async () => {
  await using rig = new RouteRig();
  for (const name of ['a', 'b']) rig.cloud.createInstance({ name });
  // As in clouds whose routes say nothing of a node.
  rig.cloud.createRoute({ destination: '10.0.1.0/24', instanceId: 'a', nodeName: '', clusterId: CLUSTER });
  await rig.start();
  await rig.advance(4 * MINUTE);
  assert.deepEqual([rig.owned, rig.deletions], [['10.0.1.0/24 → a'], []]);
  assert.equal(rig.metrics.get('outrigger_route_removals_held'), 1);
  rig.join('a', '10.0.1.0/24');
  await rig.advance(10 * MINUTE);
  assert.deepEqual([rig.owned, rig.deletions], [['10.0.1.0/24 → a'], []]);
});

test('nothing starts after the end, and what runs is ended', async () => {
  const rig = new RouteRig();
  await rig.start();
  rig.cloud.setFaults([{ operation: CREATE, effect: 'hang' }]);
  rig.join('a', '10.0.1.0/24');
  await rig.settle();
  await rig.stop();
  rig.join('b', '10.0.2.0/24');
  rig.takeCalls();
  await rig.advance(20 * MINUTE);
  assert.deepEqual([rig.takeCalls(), rig.events], [{}, []]);
});

test('while not all ranges are known, a node outside of them is not said to have no route; it gets one once they are', async () => {
  await using rig = new RouteRig();
  let clusterCidrs = parseClusterCidrs('10.0.0.0/16');
  let knowsAllRanges = false;
  const options: Partial<RouteControllerOptions> = {
    get clusterCidrs() {
      return clusterCidrs;
    },
    get knowsAllRanges() {
      return knowsAllRanges;
    },
  };
  rig.join('a', '10.0.1.0/24');
  rig.join('b', '10.1.1.0/24');
  await rig.start(options);
  assert.deepEqual([rig.condition('a'), rig.condition('b'), rig.events], ['False RouteCreated', undefined, []]);
  clusterCidrs = [...clusterCidrs, ...parseClusterCidrs('10.1.0.0/16')];
  knowsAllRanges = true;
  rig.replan();
  await rig.settle();
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a', '10.1.1.0/24 → b']);
  assert.equal(rig.condition('b'), 'False RouteCreated');
});

test('before the store is synced nothing is asked, made or removed', async () => {
  const rig = new RouteRig();
  rig.cloud.createInstance({ name: 'a' });
  rig.cloud.createRoute({ destination: '10.0.1.0/24', instanceId: 'a', nodeName: 'a', clusterId: CLUSTER });
  let sync = (): void => {};
  const synced = new Promise<void>((resolve) => void (sync = resolve));
  Object.assign(rig.api.store, { whenSynced: () => synced });
  await rig.start();
  await rig.advance(20 * MINUTE);
  assert.deepEqual([rig.takeCalls(), rig.owned], [{}, ['10.0.1.0/24 → a']]);
  rig.join('a', '10.0.1.0/24');
  sync();
  await rig.settle();
  assert.deepEqual([rig.takeCalls(), rig.condition('a')], [{ [LIST]: 1 }, 'False RouteCreated']);
  await rig.stop();
});

test('without a cluster CIDR it cannot be made', () => {
  const dependencies = { options: { providerName: 'memory', clusterId: CLUSTER, clusterCidrs: [] } };
  assert.throws(() => createRouteController(dependencies as never), /needs a cluster CIDR/);
});

test('a dry run makes no route; it says which it would, until the cloud has it from somebody else', async () => {
  await using rig = new RouteRig(() => 0, true);
  rig.join('a', '10.0.1.0/24');
  await rig.start();
  const planned = (): readonly string[] =>
    rig.journal.plans().flatMap(({ actions }) => actions.map(({ summary }) => summary));
  assert.deepEqual(planned(), ['create the route 10.0.1.0/24 to node a']);
  assert.deepEqual(rig.explain('a'), ['The cloud has no route for it.', 'Create the route 10.0.1.0/24 to node a.']);
  assert.deepEqual([rig.owned, rig.api.writes.length], [[], 0]);
  const line = { name: '10.0.1.0/24', controller: 'node-route-controller', to: 'a' };
  const planning = [{ text: 'Create the route 10.0.1.0/24 to node a.' }];
  assert.deepEqual(rig.list(), [{ ...line, state: 'missing', planned: planning }]);
  rig.cloud.createRoute({ destination: '10.0.1.0/24', instanceId: 'a', nodeName: 'a', clusterId: CLUSTER });
  await rig.advance(MINUTE);
  assert.deepEqual(rig.list(), [{ ...line, state: 'owned', planned: [] }]);
  assert.deepEqual(planned(), ['set its condition NetworkUnavailable to False']);
  const [change] = rig.journal.plans()[0]?.actions[0]?.changes ?? [];
  assert.deepEqual([change?.field, change?.from], ['status.conditions[NetworkUnavailable]', undefined]);
  assert.equal(rig.api.writes.length, 0);
  assert.match(
    rig.explain('10.0.1.0/24')?.join(' ') ?? '',
    /leads to a; this cluster created it\. Nothing: its routes in/u,
  );
  assert.equal(rig.explain('10.0.9.0/24'), undefined);
});
