// Over 400 lines: one rig, and one test for each way in which routes without a mark can be in the way.
/** Routes of a cloud that keeps no owner with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError, type Node } from '@outrigger/kube';
import { addressedNode, CLUSTER, UnmarkedRig } from './unmarked-rig.suite.ts';

const MINUTE = 60_000;

test('a route is made, recorded before, and removed with its node', async () => {
  await using rig = new UnmarkedRig();
  let recordedFirst: readonly string[] = [];
  rig.cloud.before = (request) => {
    if (request === 'create') recordedFirst = rig.recorded;
  };
  await rig.start();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.settle();
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1']);
  assert.deepEqual(recordedFirst, ['10.0.1.0/24 192.168.0.1']);
  rig.api.remove('a');
  rig.api.put(addressedNode('b', [], '192.168.0.9'));
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, []);
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.recorded, []);
});

test('the node goes while the program is down: its route is removed by the record, a foreign one beside it is not', async () => {
  await using rig = new UnmarkedRig();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  rig.api.put(addressedNode('b', ['10.0.2.0/24'], '192.168.0.2'));
  await rig.start();
  await rig.stop();
  rig.api.remove('a');
  // Inside of the cluster's ranges, by somebody else: to nobody, and to one of our nodes.
  rig.cloud.routes.add('10.0.7.0/24 via 192.168.0.7');
  rig.cloud.routes.add('10.0.8.0/24 via 192.168.0.2');
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, [
    '10.0.2.0/24 via 192.168.0.2',
    '10.0.7.0/24 via 192.168.0.7',
    '10.0.8.0/24 via 192.168.0.2',
  ]);
});

test('an answer is lost, and the node and the program are gone before the next list', async () => {
  await using rig = new UnmarkedRig();
  rig.cloud.after = (request) => {
    if (request === 'create') throw new Error('lost');
  };
  rig.api.put(addressedNode('b', [], '192.168.0.2'));
  await rig.start();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.settle();
  await rig.stop();
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1']);
  rig.api.remove('a');
  rig.cloud.after = () => {};
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, []);
});

test('the address of a node changes, also while the program is down: the new hop is there before the old one goes', async () => {
  await using rig = new UnmarkedRig();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.5'));
  for (let i = 0; i < 2; i++) await rig.advance(MINUTE);
  await rig.stop();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.6'));
  await rig.start();
  for (let i = 0; i < 2; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cloud.done, [
    '+ 10.0.1.0/24 via 192.168.0.1',
    '+ 10.0.1.0/24 via 192.168.0.5',
    '- 10.0.1.0/24 via 192.168.0.1',
    '+ 10.0.1.0/24 via 192.168.0.6',
    '- 10.0.1.0/24 via 192.168.0.5',
  ]);
});

test('another program’s routes to our nodes are taken as they are, and are ours from then on', async () => {
  await using rig = new UnmarkedRig();
  rig.cloud.routes.add('10.0.1.0/24 via 192.168.0.1');
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  rig.api.put(addressedNode('b', [], '192.168.0.2'));
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual(rig.cloud.done, []);
  assert.deepEqual(rig.recorded, ['10.0.1.0/24 192.168.0.1']);
  rig.api.remove('a');
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cloud.done, ['- 10.0.1.0/24 via 192.168.0.1']);
});

test('a route that somebody else leads to one of our nodes stays foreign when its destination becomes the pod CIDR of another', async () => {
  await using rig = new UnmarkedRig();
  rig.cloud.routes.add('10.0.8.0/24 via 192.168.0.2');
  rig.api.put(addressedNode('b', ['10.0.2.0/24'], '192.168.0.2'));
  await rig.start();
  await rig.advance(MINUTE);
  rig.api.put(addressedNode('c', ['10.0.8.0/24'], '192.168.0.3'));
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cloud.done, ['+ 10.0.2.0/24 via 192.168.0.2']);
  assert.match(rig.events[0]?.message ?? '', /used by the route 10\.0\.8\.0\/24 via 192\.168\.0\.2/);
});

test('one list that lacks a route makes it nobody’s no more than it makes it gone', async () => {
  await using rig = new UnmarkedRig();
  // A clock on which no two moments are the same, as on a real one.
  const monotonic = rig.clock.monotonic.bind(rig.clock);
  let reads = 0;
  rig.clock.monotonic = () => monotonic() + reads++ / 1_000;
  for (const n of [1, 2, 3]) rig.api.put(addressedNode(`n${n}`, [`10.0.${n}.0/24`], `192.168.0.${n}`));
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  rig.cloud.before = (request) => {
    if (request === 'delete') throw new Error('unwell');
  };
  rig.api.remove('n1');
  await rig.advance(3_000);
  const list = rig.cloud.list.bind(rig.cloud);
  let isCut = true;
  rig.cloud.list = async () => {
    const all = await list();
    const wasCut = isCut;
    isCut = false;
    return wasCut ? { ...all, routes: [] } : all;
  };
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  rig.cloud.before = () => {};
  for (let i = 0; i < 40; i++) await rig.advance(MINUTE);
  assert.equal(isCut, false);
  assert.deepEqual(rig.routes, ['10.0.2.0/24 via 192.168.0.2', '10.0.3.0/24 via 192.168.0.3']);
  assert.deepEqual(rig.recorded, ['10.0.2.0/24 192.168.0.2', '10.0.3.0/24 192.168.0.3']);
});

test('a foreign hop for the pod CIDR of a node is in the way, and is said to be', async () => {
  await using rig = new UnmarkedRig();
  rig.cloud.routes.add('10.0.1.0/24 via 192.168.0.77');
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cloud.done, []);
  assert.match(rig.events[0]?.message ?? '', /used by the route 10\.0\.1\.0\/24 via 192\.168\.0\.77/);
});

test('while the record cannot be written no route is made, and one Event says why', async () => {
  await using rig = new UnmarkedRig();
  rig.beforeRecord = (verb) => {
    if (verb !== 'get') throw new StatusError('configmaps', 403, { reason: 'Forbidden', code: 403 });
  };
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, []);
  assert.deepEqual(
    [...new Set(rig.events.map(({ message }) => message))],
    [
      "Could not create the route 10.0.1.0/24 to node a: the record of the cluster's routes, ConfigMap kube-system/outrigger-routes, could not be written: grant it, as the roles of this release do (forbidden). It will be retried; check the routes, the quota and the credentials in the cloud.",
    ],
  );
  rig.beforeRecord = () => {};
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1']);
});

test('while the record cannot be read nothing is planned', async () => {
  await using rig = new UnmarkedRig();
  let isDown = true;
  rig.beforeRecord = () => {
    if (isDown) throw new StatusError('configmaps', 500, { reason: 'InternalError', code: 500 });
  };
  rig.cloud.routes.add('10.0.1.0/24 via 192.168.0.77');
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.events, []);
  isDown = false;
  const data = { cloud: '10.0.1.0/24 192.168.0.77', other: 'x y' };
  rig.configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: 'old' }, data };
  for (let i = 0; i < 3; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1']);
  // Two lists of the resync without it.
  for (let i = 0; i < 24; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.configMap.data, {
    cloud: '10.0.1.0/24 192.168.0.1',
    'cloud.cluster-id': CLUSTER,
    other: 'x y',
  });
  const writes = rig.recordWrites;
  for (let i = 0; i < 30; i++) await rig.advance(MINUTE);
  assert.equal(rig.recordWrites, writes, 'nothing changes: nothing is written');
});

test('a record that may not be read is told, once', async () => {
  await using rig = new UnmarkedRig();
  rig.beforeRecord = () => {
    throw new StatusError('configmaps', 403, { reason: 'Forbidden', code: 403 });
  };
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.events, [
    {
      type: 'Warning',
      reason: 'RouteRecordUnusable',
      message:
        "No route is created or deleted: the record of the cluster's routes, ConfigMap kube-system/outrigger-routes, could not be read: grant it, as the roles of this release do (forbidden).",
    },
  ]);
});

test('another cluster’s record, from a backup, says nothing of this one’s routes: all stay as they are, and one Event says why', async () => {
  await using rig = new UnmarkedRig();
  const theirs = '10.0.7.0/24 via 192.168.0.7';
  rig.cloud.routes.add(theirs);
  const data = { cloud: '10.0.7.0/24 192.168.0.7', 'cloud.cluster-id': 'cluster-2' };
  rig.configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: 'restored' }, data };
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cloud.done, rig.configMap.data, rig.events.length], [[], data, 1]);
  assert.match(
    rig.events[0]?.message ?? '',
    /kube-system\/outrigger-routes, belongs to another cluster: its cloud\.cluster-id is cluster-2.* delete the ConfigMap.* cluster-1/,
  );
  // As the Event says.
  rig.configMap = undefined;
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1', theirs]);
  assert.deepEqual(rig.configMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'outrigger-routes', namespace: 'kube-system', resourceVersion: '1' },
    data: { cloud: '10.0.1.0/24 192.168.0.1', 'cloud.cluster-id': CLUSTER },
  });
});

test('a record without a cluster, of a release before, is this one’s, and says so from then on', async () => {
  await using rig = new UnmarkedRig();
  rig.cloud.routes.add('10.0.7.0/24 via 192.168.0.7');
  const data = { cloud: '10.0.7.0/24 192.168.0.7' };
  rig.configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: 'old' }, data };
  rig.api.put(addressedNode('b', [], '192.168.0.9'));
  await rig.start();
  assert.equal(rig.configMap.data?.['cloud.cluster-id'], CLUSTER);
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, []);
});

test('a write of a former leader that arrives late costs no line, neither its own nor a new one', async () => {
  await using rig = new UnmarkedRig();
  rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
  rig.api.put(addressedNode('b', [], '192.168.0.9'));
  await rig.start();
  // It knew of a node that has gone meanwhile, and not of what was written since; its route came about, too.
  rig.cloud.routes.add('10.0.2.0/24 via 192.168.0.2');
  rig.configMap = {
    ...rig.configMap,
    metadata: { resourceVersion: 'late' },
    data: { cloud: '10.0.2.0/24 192.168.0.2', 'cloud.cluster-id': CLUSTER },
  };
  rig.api.put(addressedNode('c', ['10.0.3.0/24'], '192.168.0.3'));
  await rig.settle();
  assert.deepEqual(rig.recorded, ['10.0.1.0/24 192.168.0.1', '10.0.2.0/24 192.168.0.2', '10.0.3.0/24 192.168.0.3']);
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via 192.168.0.1', '10.0.3.0/24 via 192.168.0.3']);
});

test('a node that has a pod CIDR before its addresses waits for them: nothing has failed', async () => {
  await using rig = new UnmarkedRig();
  await rig.start();
  const node = addressedNode('a', ['10.0.1.0/24'], '192.168.0.1');
  rig.api.put({ ...node, status: { ...node.status, addresses: [{ type: 'Hostname', address: 'a' }] } });
  await rig.advance(MINUTE);
  assert.deepEqual([rig.cloud.done, rig.events, rig.condition('a')], [[], [], undefined]);
  assert.deepEqual(rig.explain('a'), [
    'The cloud has no route for it.',
    'No route can be created until the node has an IP address.',
  ]);
  rig.api.put({ ...node, metadata: { ...rig.api.nodes.get('a')?.metadata } });
  await rig.settle();
  assert.deepEqual([rig.routes, rig.condition('a')], [['10.0.1.0/24 via 192.168.0.1'], 'False']);
});

for (const addresses of [[], [{ type: 'InternalIP', address: '192.168.0.1' }]]) {
  test(`a node that registers again keeps its route until it is known which pod CIDR it has (${addresses.length} addresses)`, async () => {
    await using rig = new UnmarkedRig();
    rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1'));
    await rig.start();
    rig.api.remove('a');
    rig.api.put({ metadata: { name: 'a', uid: 'uid-again' }, spec: {}, status: { addresses } });
    for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
    assert.deepEqual(rig.cloud.done, ['+ 10.0.1.0/24 via 192.168.0.1']);
    rig.api.put(addressedNode('a', ['10.0.1.0/24'], '192.168.0.1', 'uid-again'));
    for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
    assert.deepEqual(rig.cloud.done, ['+ 10.0.1.0/24 via 192.168.0.1'], 'the same again');
    rig.api.put({
      ...addressedNode('a', ['10.0.1.0/24'], '192.168.0.1', 'uid-third'),
      spec: { providerID: 'cloud:///a', podCIDRs: ['10.0.2.0/24'] },
    });
    for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
    assert.deepEqual(rig.routes, ['10.0.2.0/24 via 192.168.0.1'], 'another one');
  });
}

test('a node that is never initialised keeps routes that may be its own, and that is told after ten minutes, once', async () => {
  await using rig = new UnmarkedRig();
  for (const i of [1, 2, 3, 4]) rig.api.put(addressedNode(`n${i}`, [`10.0.${i}.0/24`], `192.168.0.${i}`));
  rig.api.put(addressedNode('stays', ['10.0.9.0/24'], '192.168.0.9'));
  await rig.start();
  const made = rig.cloud.done.length;
  for (const i of [1, 2, 3, 4]) rig.api.remove(`n${i}`);
  rig.api.put({ metadata: { name: 'lost', uid: 'uid-lost' }, spec: {}, status: {} });
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cloud.done.length, rig.events], [made, []]);
  for (let i = 0; i < 25; i++) await rig.advance(MINUTE);
  assert.equal(rig.cloud.done.length, made);
  assert.deepEqual(rig.events, [
    {
      type: 'Warning',
      reason: 'RouteRemovalHeld',
      message:
        'This node has no provider ID, no address and no pod CIDR: routes that belong to no other node (10.0.1.0/24, 10.0.2.0/24, 10.0.3.0/24 and 1 more) may be its own, and are kept. Delete the Node if its machine is gone.',
    },
  ]);
  assert.equal(
    rig.explain('10.0.1.0/24').at(-1),
    'It belongs to no known node and is kept: it may belong to lost, without an address or a pod CIDR yet.',
  );
  rig.api.remove('lost');
  await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, ['10.0.9.0/24 via 192.168.0.9']);
});

test('a node that has just registered is not told of, however long others keep routes', async () => {
  await using rig = new UnmarkedRig();
  rig.api.put(addressedNode('n1', ['10.0.1.0/24'], '192.168.0.1'));
  rig.api.put(addressedNode('stays', ['10.0.9.0/24'], '192.168.0.9'));
  await rig.start();
  rig.api.remove('n1');
  const registers = (i: number): void =>
    rig.api.put({ metadata: { name: `f${i}`, uid: `uid-f${i}` }, spec: {}, status: {} });
  registers(0);
  for (let i = 1; i <= 22; i++) {
    await rig.advance(20_000);
    registers(i);
    await rig.advance(10_000);
    rig.api.put(addressedNode(`f${i - 1}`, [`10.0.${20 + i}.0/24`], `192.168.1.${i}`));
  }
  assert.deepEqual(rig.events, []);
});

const machineNode = (name: string, podCIDRs: readonly string[], providerID: string = `cloud:///${name}`): Node => {
  const node = addressedNode(name, podCIDRs, '192.168.0.1');
  return { ...node, spec: { ...node.spec, providerID }, status: { ...node.status, addresses: [] } };
};

test('routes to machines, without owners: made to a node without an address, recorded, and removed with it after a restart', async () => {
  await using rig = new UnmarkedRig('instance');
  await rig.start();
  rig.api.put(machineNode('a', ['10.0.1.0/24']));
  rig.api.put(machineNode('b', ['10.0.2.0/24']));
  await rig.settle();
  assert.deepEqual(rig.routes, ['10.0.1.0/24 via cloud:///a', '10.0.2.0/24 via cloud:///b']);
  assert.deepEqual(rig.recorded, ['10.0.1.0/24 cloud:///a', '10.0.2.0/24 cloud:///b']);
  assert.equal(rig.condition('a'), 'False');
  await rig.stop();
  rig.api.remove('a');
  // Somebody else's, to nobody that is known, and from a range of no node to one of ours.
  rig.cloud.routes.add('10.0.7.0/24 via cloud:///x');
  rig.cloud.routes.add('10.0.8.0/24 via cloud:///b');
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, [
    '10.0.2.0/24 via cloud:///b',
    '10.0.7.0/24 via cloud:///x',
    '10.0.8.0/24 via cloud:///b',
  ]);
});

test('routes to machines, without owners, that say an address too: the machine counts', async () => {
  await using rig = new UnmarkedRig('instance');
  rig.cloud.addressBeside = '192.168.0.9';
  await rig.start();
  rig.api.put(machineNode('a', ['10.0.1.0/24']));
  await rig.settle();
  assert.deepEqual(rig.recorded, ['10.0.1.0/24 cloud:///a']);
  assert.equal(rig.condition('a'), 'False');
  await rig.stop();
  await rig.start();
  await rig.settle();
  assert.equal(rig.condition('a'), 'False');
  rig.api.remove('a');
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, []);
});

test('routes whose machines were forgotten while nothing ran: those that were seen to be ours go, also for a node that is back; others stay', async () => {
  await using rig = new UnmarkedRig('instance');
  await rig.start();
  for (const [i, name] of ['gone', 'back', 'stays'].entries()) rig.api.put(machineNode(name, [`10.0.${i}.0/24`]));
  await rig.settle();
  // It is not known by which name the cloud calls them before it has listed them.
  await rig.advance(MINUTE);
  await rig.stop();
  rig.api.remove('gone');
  const back = machineNode('back', ['10.0.1.0/24'], 'cloud:///again');
  rig.api.put({ ...back, metadata: { ...back.metadata, uid: 'uid-again' } });
  // Somebody else's, in the place of ours and beside it.
  rig.cloud.routes.delete('10.0.2.0/24 via cloud:///stays');
  for (const id of ['10.0.2.0/24 via cloud:///x', '10.0.9.0/24 via cloud:///gone']) rig.cloud.routes.add(id);
  for (const machine of ['gone', 'back', 'x']) rig.cloud.forgotten.add(`cloud:///${machine}`);
  await rig.start();
  for (let i = 0; i < 12; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.routes, [
    '10.0.1.0/24 via cloud:///again',
    '10.0.2.0/24 via cloud:///x',
    '10.0.9.0/24 via cloud:///gone',
  ]);
  assert.deepEqual([rig.condition('back'), rig.condition('stays')], ['False', 'True']);
});

test('a provider ID that would be two lines of the record is one', async () => {
  await using rig = new UnmarkedRig('instance');
  await rig.start();
  rig.api.put(machineNode('a', ['10.0.1.0/24'], 'cloud:///a\n10.0.7.0/24 cloud:///x'));
  await rig.settle();
  assert.deepEqual(rig.recorded, ['10.0.1.0/24 cloud:///a%2010.0.7.0/24%20cloud:///x']);
});
