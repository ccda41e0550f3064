// Over 400 lines: one rig, and one test for each way in which clouds, writers and watches can be in the way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceResult } from '@outrigger/cloud-provider';
import { StatusError } from '@outrigger/kube';
import { toBeDeletedTaintKey } from '../service/well-known-names.ts';
import { failure, isShutdownTainted, LifecycleRig, nodeOf } from './lifecycle-rig.suite.ts';
import { allowDeletionAnnotation, shutdownTaintKey } from './well-known-names.ts';

const absent: InstanceResult = { kind: 'absent', proof: 'GET: 404' };
const missing: InstanceResult = { kind: 'missing' };
const range = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `n${i}`);

test('a node whose machine is gone is deleted after two proofs and a grace period, not before', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  assert.equal(rig.cloud.calls, 0);
  rig.vanish('n1');
  await rig.settle();
  assert.deepEqual(rig.cloud.reads, ['n1']);
  await rig.advance(29_900);
  assert.deepEqual(rig.deleted, []);
  await rig.advance(1_100);
  assert.deepEqual(rig.deleted, ['n1']);
  assert.deepEqual(rig.reasons('n1'), ['DeletingNode']);
  assert.deepEqual([rig.cloud.batches.length, rig.cloud.reads.length, rig.api.gets], [2, 2, 1]);
  assert.equal(rig.metrics.get('outrigger_node_deletions_total deleted'), 1);
  assert.equal(rig.clock.pendingTimers, 0);
});

test('a hundred of five hundred nodes are gone: all deleted within the grace period and two seconds', async () => {
  await using rig = new LifecycleRig();
  for (const [i, name] of range(500).entries()) rig.join(name, { zone: `z${i % 3}` });
  await rig.start();
  for (const name of range(100)) rig.vanish(name);
  await rig.advance(32_000);
  assert.deepEqual(
    rig.deletedNames,
    range(100).toSorted((a, b) => (a < b ? -1 : 1)),
  );
  assert.equal(rig.cloud.batches.length, 2);
  assert.equal(rig.cloud.reads.length, 200);
});

test('a hundred stopped nodes are tainted by one batch, then asked about ever less, with no read of the API', async () => {
  await using rig = new LifecycleRig();
  for (const name of range(500)) rig.join(name);
  await rig.start();
  for (const name of range(100)) {
    rig.cloud.machines.set(`fake://${name}`, 'shutdown');
    rig.ready(name, 'Unknown');
  }
  await rig.settle();
  assert.equal([...rig.api.nodes.values()].filter(isShutdownTainted).length, 100);
  assert.equal(rig.cloud.batches.length, 1);
  await rig.advance(60_000);
  assert.ok(rig.cloud.calls <= 12, `${rig.cloud.calls} calls`);
  assert.deepEqual([rig.api.gets, rig.api.writes.length], [0, 100]);
  const before = rig.cloud.calls;
  await rig.advance(600_000);
  assert.ok(rig.cloud.calls - before <= 12, `${rig.cloud.calls - before} calls in ten minutes`);
});

test('the shutdown taint goes when the node is Ready again, others stay', async () => {
  await using rig = new LifecycleRig();
  const other = { key: 'other', effect: 'NoSchedule' } as const;
  rig.join('n1', { ready: 'False', taints: [other] });
  rig.cloud.machines.set('fake://n1', 'shutdown');
  await rig.start();
  assert.ok(isShutdownTainted(rig.api.nodes.get('n1')));
  rig.cloud.machines.set('fake://n1', 'running');
  await rig.advance(120_000);
  assert.ok(isShutdownTainted(rig.api.nodes.get('n1')), 'a machine that starts is not Ready yet');
  rig.ready('n1', 'True');
  await rig.settle();
  assert.deepEqual(rig.api.nodes.get('n1')?.spec?.taints, [other]);
  assert.equal(rig.metrics.get('outrigger_node_shutdown_taints_total removed'), 1);
  assert.equal(rig.clock.pendingTimers, 0);
});

const uninitialized = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
} as const;

test('newborns that are not Ready cost no call: not before they are initialised, and not after by what the node controller knows', async () => {
  await using rig = new LifecycleRig();
  await rig.start();
  const createdAt = new Date(rig.clock.now()).toISOString();
  for (const name of range(100))
    rig.join(name, { ready: 'False', providerID: null, createdAt, taints: [uninitialized] });
  await rig.advance(1_000);
  assert.equal(rig.cloud.calls, 0);
  for (const name of range(100)) {
    const instance = { providerID: `fake://${name}`, state: 'running' } as const;
    rig.cloud.known.set(`uid-${name}`, { asOf: rig.clock.monotonic(), result: { kind: 'found', instance } });
    rig.join(name, { ready: 'False', createdAt });
  }
  await rig.advance(59_000);
  assert.equal(rig.cloud.calls, 0);
  // They stay NotReady: batches of all of them, ever less often.
  await rig.advance(20_000);
  assert.deepEqual(new Set(rig.cloud.batches.map((batch) => batch.length)), new Set([100]));
  assert.ok(rig.cloud.calls <= 5, `${rig.cloud.calls} calls`);
});

test('newborns that are initialised one after the other for minutes, and are not Ready, share their rounds', async () => {
  await using rig = new LifecycleRig();
  await rig.start();
  for (let s = 0; s < 100; s++) {
    const createdAt = new Date(rig.clock.now()).toISOString();
    for (const name of range(10).map((one) => `${one}-${s}`)) {
      rig.join(name, { ready: 'False', providerID: null, createdAt, taints: [uninitialized] });
      const instance = { providerID: `fake://${name}`, state: 'running' } as const;
      rig.cloud.known.set(`uid-${name}`, { asOf: rig.clock.monotonic(), result: { kind: 'found', instance } });
      rig.join(name, { ready: 'False', createdAt });
    }
    await rig.advance(1_000);
  }
  assert.equal(rig.cloud.reads.length, 0);
  assert.ok(rig.cloud.calls <= 4, `${rig.cloud.calls} calls while they come`);
  // The machine of each is asked about a minute after it came, or a little later.
  await rig.advance(75_000);
  assert.equal(new Set(rig.cloud.batches.flat()).size, 1_000);
  assert.ok(rig.cloud.calls <= 10, `${rig.cloud.calls} calls`);
});

test('newborns of the first list are known by an answer that came before they were told of', async () => {
  await using rig = new LifecycleRig();
  const createdAt = new Date(rig.clock.now() - 1_000).toISOString();
  await rig.start();
  // The first list is handed over in slices: by now the node controller has asked.
  const instance = { providerID: 'fake://n1', state: 'running' } as const;
  rig.cloud.known.set('uid-n1', { asOf: rig.clock.monotonic(), result: { kind: 'found', instance } });
  await rig.advance(100);
  rig.join('n1', { ready: 'False', providerID: null, createdAt, taints: [uninitialized] });
  await rig.settle();
  rig.join('n1', { ready: 'False', createdAt });
  await rig.advance(10_000);
  assert.equal(rig.cloud.calls, 0);
});

test('what the node controller knew before the node stopped being Ready does not count', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  const instance = { providerID: 'fake://n1', state: 'running' } as const;
  rig.cloud.known.set('uid-n1', { asOf: rig.clock.monotonic(), result: { kind: 'found', instance } });
  await rig.advance(1_000);
  rig.cloud.machines.set('fake://n1', 'shutdown');
  rig.ready('n1', 'Unknown');
  await rig.settle();
  assert.ok(isShutdownTainted(rig.api.nodes.get('n1')));
});

test('a node that is never initialised is asked about when it is ten minutes old', async () => {
  await using rig = new LifecycleRig();
  await rig.start();
  const createdAt = new Date(rig.clock.now()).toISOString();
  rig.join('n1', { ready: 'False', createdAt, taints: [uninitialized] });
  rig.vanish('n1');
  await rig.advance(590_000);
  assert.equal(rig.cloud.calls, 0);
  await rig.advance(60_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

for (const backMs of [1, 5_000]) {
  test(`a node that is never initialised is asked about when it is ten minutes old, also by a wall clock that was set back by ${backMs} ms`, async () => {
    await using rig = new LifecycleRig();
    await rig.start();
    const createdAt = new Date(rig.clock.now()).toISOString();
    rig.join('n1', { ready: 'False', createdAt, taints: [uninitialized] });
    rig.vanish('n1');
    await rig.advance(300_000);
    rig.clock.skewWallClock(-backMs);
    await rig.advance(300_000);
    assert.equal(rig.cloud.calls, 0);
    await rig.advance(60_000);
    assert.deepEqual(rig.deleted, ['n1']);
    assert.equal(rig.clock.pendingTimers, 0);
  });
}

test('a node that is never initialised is asked about when it is ten minutes old, however far behind the wall clock was when it came', async () => {
  await using rig = new LifecycleRig();
  await rig.start();
  const createdAt = new Date(rig.clock.now()).toISOString();
  rig.clock.skewWallClock(-3_600_000);
  rig.join('n1', { ready: 'False', createdAt, taints: [uninitialized] });
  rig.vanish('n1');
  await rig.advance(1_000);
  rig.clock.skewWallClock(3_600_000);
  await rig.advance(650_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('heartbeats of nodes wake nothing', async () => {
  await using rig = new LifecycleRig();
  for (const name of range(10)) rig.join(name, { ready: name === 'n0' ? 'False' : 'True' });
  await rig.start();
  const before = rig.cloud.calls;
  for (let i = 0; i < 20; i++) {
    for (const name of range(10)) rig.ready(name, name === 'n0' ? 'False' : 'True', { heartbeat: true });
    await rig.settle();
  }
  assert.equal(rig.cloud.calls, before);
  assert.equal(rig.api.gets + rig.api.writes.length, 0);
});

test('a kubelet that is heard between the two proofs speaks for its machine', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  rig.cloud.machines.clear();
  rig.ready('n1', 'False');
  await rig.settle();
  for (let i = 0; i < 20; i++) {
    await rig.advance(20_000);
    rig.ready('n1', 'False', { heartbeat: true });
  }
  assert.deepEqual(rig.deleted, []);
  await rig.advance(180_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('one lie, then the truth: the node stays, and a second lie much later begins from nothing', async () => {
  await using rig = new LifecycleRig();
  for (const name of range(10)) rig.join(name);
  await rig.start();
  let lies = true;
  rig.cloud.listLie = (_, truth) => (lies ? missing : truth);
  rig.cloud.readLie = (_, truth) => (lies ? absent : truth);
  rig.ready('n1', 'Unknown');
  await rig.advance(5_000);
  lies = false;
  await rig.advance(300_000);
  lies = true;
  await rig.advance(20_000);
  lies = false;
  await rig.advance(300_000);
  assert.deepEqual(rig.deleted, []);
});

test('the list has the machine again between two proofs: what was proved is void', async () => {
  await using rig = new LifecycleRig();
  for (const name of range(10)) rig.join(name);
  await rig.start();
  let list: InstanceResult | undefined = missing;
  rig.cloud.listLie = (_, truth) => list ?? truth;
  rig.cloud.readLie = () => absent;
  rig.ready('n1', 'Unknown');
  await rig.advance(29_000);
  list = undefined;
  await rig.advance(60_000);
  assert.deepEqual(rig.deleted, []);
});

for (const [name, lie] of [
  ['empty', missing],
  ['429', failure('throttled')],
  ['500', failure('unavailable')],
  ['a time-out', failure('timeout')],
] as const) {
  test(`lists that are ${name}, with a hundred nodes not Ready and alive: nothing is deleted, one call a second at most`, async () => {
    await using rig = new LifecycleRig();
    for (const node of range(300)) rig.join(node);
    await rig.start();
    rig.cloud.listLie = () => lie;
    for (const node of range(100)) rig.ready(node, 'Unknown');
    await rig.advance(300_000);
    assert.deepEqual(rig.deleted, []);
    assert.ok(rig.cloud.calls <= 150, `${rig.cloud.calls} calls in five minutes`);
  });

  test(`reads that answer ${name} after a list without the machine: nothing is deleted, one call a second at most`, async () => {
    await using rig = new LifecycleRig();
    for (const node of range(1_000)) rig.join(node);
    await rig.start();
    rig.cloud.listLie = () => missing;
    rig.cloud.readLie = () => lie;
    for (const node of range(100)) rig.ready(node, 'Unknown');
    await rig.advance(300_000);
    assert.deepEqual(rig.deleted, []);
    if (lie !== missing) assert.ok(rig.cloud.calls <= 150, `${rig.cloud.calls} calls in five minutes`);
  });
}

test('a whole zone said not to exist, by list and by read: none is deleted, few calls, an Event and a metric say so', async () => {
  await using rig = new LifecycleRig();
  for (const [i, node] of range(300).entries()) rig.join(node, { zone: `z${i % 4}` });
  await rig.start();
  const inZone = range(300).filter((_, i) => i % 4 === 0);
  let lies = true;
  rig.cloud.listLie = ({ name }, truth) => (lies && inZone.includes(name) ? missing : truth);
  rig.cloud.readLie = ({ name }, truth) => (lies && inZone.includes(name) ? absent : truth);
  for (const node of inZone) rig.ready(node, 'Unknown');
  await rig.advance(300_000);
  assert.deepEqual(rig.deleted, []);
  assert.ok(rig.cloud.calls <= 150, `${rig.cloud.calls} calls in five minutes`);
  assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 75);
  assert.deepEqual(rig.reasons('n0'), ['NodeDeletionHeld']);
  assert.match(
    rig.events[0]?.note.message ?? '',
    /kubectl annotate node n\d+ outrigger\.dev\/allow-node-deletion=true/,
  );
  // A node of another zone that is really gone waits for none of them.
  rig.vanish('n1');
  await rig.advance(35_000);
  assert.deepEqual(rig.deleted, ['n1']);
  lies = false;
  await rig.advance(120_000);
  assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 0);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('a cloud that says of all of 1,000 nodes that they do not exist is asked a few times a second at most, and of 100 hardly', async () => {
  for (const [count, most] of [
    [100, 40],
    [1_000, 180],
  ] as const) {
    await using rig = new LifecycleRig();
    for (const node of range(count)) rig.join(node);
    await rig.start();
    for (const node of range(count)) rig.vanish(node);
    await rig.advance(40_000);
    assert.ok(rig.cloud.calls <= most, `${rig.cloud.calls} calls for ${count}`);
    assert.deepEqual(rig.deleted, []);
  }
});

test('however many nodes a large share has, each machine is read within five minutes', async () => {
  await using rig = new LifecycleRig();
  const nodes = range(1_000);
  for (const node of nodes) rig.join(node);
  await rig.start();
  for (const node of nodes) rig.vanish(node);
  await rig.advance(302_000);
  assert.equal(new Set(rig.cloud.reads).size, 1_000);
});

test('nodes that a person lets go are deleted above the fraction, and only those', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(10)) rig.join(node);
  await rig.start();
  for (const node of range(5)) rig.vanish(node);
  await rig.advance(120_000);
  assert.deepEqual(rig.deleted, []);
  for (const name of ['n0', 'n1']) {
    const node = rig.api.nodes.get(name);
    rig.api.put({ ...node, metadata: { ...node?.metadata, annotations: { [allowDeletionAnnotation]: 'true' } } });
  }
  await rig.advance(35_000);
  assert.deepEqual(rig.deletedNames, ['n0', 'n1']);
});

test('three of ten go at once, and a fourth within ten minutes needs the longer proof', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(10)) rig.join(node);
  await rig.start();
  for (const node of range(3)) rig.vanish(node);
  await rig.advance(35_000);
  assert.equal(rig.deleted.length, 3);
  rig.vanish('n5');
  await rig.advance(330_000);
  assert.equal(rig.deleted.length, 3);
  await rig.advance(30_000);
  assert.equal(rig.deleted.length, 4);
});

test('nodes that the first list tells in a later slice have not joined: what was deleted counts as it would otherwise', async () => {
  await using rig = new LifecycleRig();
  rig.api.firstSlice = 4;
  for (const node of range(10)) rig.join(node);
  await rig.start();
  for (const node of range(3)) rig.vanish(node);
  await rig.advance(35_000);
  assert.equal(rig.deleted.length, 3);
  rig.vanish('n5');
  await rig.advance(330_000);
  assert.equal(rig.deleted.length, 3);
});

for (const [all, lost] of [
  [3, 2],
  [9, 6],
  [20, 7],
] as const) {
  test(`${lost} of ${all} machines are really gone: their nodes go within 6 minutes, and no sooner than after 5`, async () => {
    await using rig = new LifecycleRig();
    for (const [i, node] of range(all).entries()) rig.join(node, { zone: `z${i % 3}` });
    await rig.start();
    for (const node of range(lost)) rig.vanish(node);
    await rig.advance(300_000);
    assert.deepEqual(rig.deleted, []);
    assert.equal(rig.metrics.get('outrigger_node_deletions_held'), lost);
    assert.equal(rig.metrics.get('outrigger_node_deletions_unproved'), 0);
    assert.match(rig.events[0]?.note.message ?? '', /only after 6 minutes of proof/);
    await rig.advance(60_000);
    assert.deepEqual(rig.deletedNames, range(lost));
    assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 0);
    assert.ok(rig.cloud.calls <= 40 + 3 * lost, `${rig.cloud.calls} calls`);
  });
}

for (const apartMs of [30_000, 180_000]) {
  test(`a pool of three, replaced one by one ${apartMs / 1_000} s apart: each node goes within a minute of its machine`, async () => {
    await using rig = new LifecycleRig();
    for (const i of [0, 1, 2]) rig.join(`old${i}`, { zone: 'a' });
    await rig.start();
    const gone = new Map<string, number>();
    rig.onDeleted = ({ metadata }) => void gone.set(metadata?.name ?? '', rig.clock.monotonic());
    const ended: number[] = [];
    for (const i of [0, 1, 2]) {
      rig.join(`new${i}`, { zone: 'a' });
      rig.vanish(`old${i}`);
      ended.push(rig.clock.monotonic());
      await rig.advance(apartMs);
    }
    await rig.advance(60_000);
    for (const [i, at] of ended.entries()) assert.ok((gone.get(`old${i}`) ?? Infinity) - at <= 60_000, `old${i}`);
    assert.deepEqual([...rig.api.nodes.keys()], ['new0', 'new1', 'new2']);
  });
}

/** Ten nodes that were found where they are; then the cloud says of all that they do not exist. */
async function scaledToZero(rig: LifecycleRig, place: string | undefined, found = true): Promise<void> {
  rig.cloud.place = place;
  for (const [i, node] of range(10).entries()) rig.join(node, { zone: `z${i % 3}` });
  await rig.start();
  if (found) rig.refresh();
  for (const node of range(10)) rig.vanish(node);
}

test('everything at once, where the machines were found: all nodes go after 30 minutes of proofs, and not before', async () => {
  await using rig = new LifecycleRig();
  await scaledToZero(rig, 'project p');
  await rig.advance(29 * 60_000);
  assert.deepEqual(rig.deleted, []);
  assert.match(rig.events[0]?.note.message ?? '', /only after 30 minutes of proof/);
  assert.deepEqual(rig.metrics.get('outrigger_node_deletions_unproved'), 0);
  await rig.advance(2 * 60_000);
  assert.deepEqual(rig.deletedNames, range(10));
  assert.ok(rig.cloud.reads.length <= 50, `${rig.cloud.reads.length} reads`);
});

for (const [what, place, asked, found] of [
  ['a provider that names no place', undefined, undefined, true],
  ['another project, by a changed config', 'project p', 'project q', true],
  ['a process that never saw a machine of the cluster', 'project p', 'project p', false],
] as const) {
  test(`everything at once, and ${what}: no node goes in a day, and a person is told`, async () => {
    await using rig = new LifecycleRig();
    await scaledToZero(rig, place, found);
    rig.cloud.place = asked;
    await rig.advance(24 * 3_600_000);
    assert.deepEqual(rig.deleted, []);
    assert.equal(rig.metrics.get('outrigger_node_deletions_unproved'), 10);
    assert.match(rig.events.at(-1)?.note.message ?? '', /not proved that this is the account, project or region/);
  });
}

test('everything at once, before a restart: what the cloud remembers of one machine proves the place for all', async () => {
  await using rig = new LifecycleRig();
  rig.cloud.remembers.add('fake://n7');
  await scaledToZero(rig, 'project p', false);
  await rig.advance(31 * 60_000);
  assert.deepEqual(rig.deletedNames, range(10));
});

test('a proof from one place and one from another are not two', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(10)) rig.join(node);
  rig.cloud.place = 'project p';
  await rig.start();
  rig.vanish('n1');
  await rig.advance(20_000);
  rig.cloud.place = 'project q';
  await rig.advance(30_000);
  assert.deepEqual(rig.deleted, []);
  await rig.advance(60_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('a cloud that does not have the machines of Ready nodes either is not believed about the others, and a person is told', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(10)) rig.join(node);
  await rig.start();
  let lies = true;
  rig.cloud.listLie = (_, truth) => (lies ? missing : truth);
  rig.cloud.readLie = (_, truth) => (lies ? absent : truth);
  for (const node of range(6)) rig.ready(node, 'Unknown');
  await rig.advance(24 * 3_600_000);
  assert.deepEqual(rig.deleted, []);
  assert.equal(rig.metrics.get('outrigger_node_deletions_unproved'), 6);
  assert.match(rig.events.at(-1)?.note.message ?? '', /machines of Ready nodes either/);
  lies = false;
  await rig.advance(120_000);
  assert.deepEqual([rig.deleted, rig.metrics.get('outrigger_node_deletions_held')], [[], 0]);
});

test('a zone of 100 nodes of 500, not Ready and answered with false 404s for two minutes, beside 400 that are found: none is deleted', async () => {
  await using rig = new LifecycleRig();
  rig.cloud.place = 'project p';
  for (const [i, node] of range(500).entries()) rig.join(node, { zone: `z${i % 5}` });
  await rig.start();
  rig.refresh();
  const hit = new Set(range(500).filter((_, i) => i % 5 === 0));
  let lies = true;
  rig.cloud.listLie = ({ name }, truth) => (lies && hit.has(name) ? missing : truth);
  rig.cloud.readLie = ({ name }, truth) => (lies && hit.has(name) ? absent : truth);
  for (const node of hit) rig.ready(node, 'Unknown');
  await rig.advance(120_000);
  lies = false;
  await rig.advance(600_000);
  assert.deepEqual(rig.deleted, []);
});

for (const [what, ready, options] of [
  ['Ready', 'True', {}],
  ['not Ready, and 0.15 may go', 'Unknown', { deletionMaxFraction: 0.15 }],
] as const) {
  test(`100 nodes of 500, scattered over five zones and ${what}, answered with false 404s for two minutes: none is deleted`, async () => {
    await using rig = new LifecycleRig();
    rig.cloud.place = 'project p';
    for (const [i, node] of range(500).entries()) rig.join(node, { zone: `z${i % 5}` });
    await rig.start(options);
    rig.refresh();
    const hit = new Set(range(100));
    let lies = true;
    rig.cloud.listLie = ({ name }, truth) => (lies && hit.has(name) ? missing : truth);
    rig.cloud.readLie = ({ name }, truth) => (lies && hit.has(name) ? absent : truth);
    for (const node of hit) rig.ready(node, ready);
    for (let s = 0; s < 120; s += 10) {
      rig.refresh();
      await rig.advance(10_000);
    }
    lies = false;
    await rig.advance(600_000);
    assert.deepEqual(rig.deleted, []);
    assert.equal(rig.cloud.reads.length > 0, ready === 'Unknown');
  });
}

test('one may always go; and nodes that the autoscaler marked do not count', async () => {
  await using rig = new LifecycleRig();
  rig.join('a');
  rig.join('b');
  for (const node of range(5)) rig.join(node, { taints: [{ key: toBeDeletedTaintKey, effect: 'NoSchedule' }] });
  await rig.start();
  for (const node of [...range(5), 'a']) rig.vanish(node);
  await rig.advance(35_000);
  assert.deepEqual(rig.deletedNames, ['a', ...range(5)]);
});

test('a new machine that shows up 30 s late: its node stays, initialised or not', async () => {
  await using rig = new LifecycleRig();
  const taints = [
    { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  ] as const;
  for (const node of range(20)) {
    rig.api.put(nodeOf(node, { ready: 'False', taints, createdAt: '2026-01-01T00:00:00Z' }));
  }
  await rig.start();
  await rig.advance(599_000);
  assert.deepEqual(rig.deleted, []);
  assert.deepEqual(rig.cloud.reads, []);
  for (const node of range(20)) rig.cloud.machines.set(`fake://${node}`, 'running');
  await rig.advance(600_000);
  assert.deepEqual(rig.deleted, []);
});

test('a node that was never initialised is deleted when it is old enough', async () => {
  await using rig = new LifecycleRig();
  const taints = [
    { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  ] as const;
  rig.api.put(nodeOf('n1', { ready: 'False', taints, createdAt: '2026-01-01T00:00:00Z' }));
  rig.api.put(nodeOf('n2', { ready: 'False', taints, createdAt: 'when?' }));
  await rig.start({ deletionMaxFraction: 1 });
  await rig.advance(700_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('nodes without a provider ID are deleted only where the flag says so and the cloud proves it by name', async () => {
  for (const [unknownNodeDeletionMs, provesByName, expected] of [
    [0, true, []],
    [120_000, false, []],
    [120_000, true, ['n1']],
  ] as const) {
    await using rig = new LifecycleRig();
    rig.cloud.provesByName = provesByName;
    rig.api.put(nodeOf('n1', { ready: 'Unknown', providerID: null }));
    await rig.start({ unknownNodeDeletionMs });
    await rig.advance(115_000);
    assert.deepEqual(rig.deleted, []);
    await rig.advance(120_000);
    assert.deepEqual(rig.deleted, expected);
  }
});

test('nodes of another provider are not asked about, tainted or deleted, and make no fraction smaller', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(100)) rig.api.put(nodeOf(node, { ready: 'Unknown', providerID: `other://${node}` }));
  for (const node of ['x', 'y', 'z']) rig.join(node);
  rig.api.put(nodeOf('opaque', { ready: 'Unknown', providerID: 'i-123' }));
  const taints = [{ key: shutdownTaintKey, effect: 'NoSchedule' }] as const;
  rig.api.put(nodeOf('foreign', { providerID: 'other://foreign', taints }));
  await rig.start();
  assert.equal(rig.cloud.calls, 0);
  rig.vanish('x');
  rig.vanish('y');
  await rig.advance(300_000);
  assert.deepEqual(rig.deleted, []);
  assert.ok(isShutdownTainted(rig.api.nodes.get('foreign')));
});

test('a node that is Ready again while the store has not heard of it is not deleted', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  rig.cloud.machines.clear();
  rig.ready('n1', 'Unknown');
  await rig.advance(10_000);
  rig.api.holdWatch = true;
  rig.ready('n1', 'True');
  await rig.advance(120_000);
  assert.deepEqual(rig.deleted, []);
  assert.ok(rig.api.gets > 0);
  assert.ok(rig.api.gets < 10, `${rig.api.gets} reads`);
});

test('a node whose kubelet was heard while the store has not heard of it is not deleted', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  rig.vanish('n1');
  await rig.advance(10_000);
  rig.api.holdWatch = true;
  rig.ready('n1', 'Unknown', { heartbeat: true });
  await rig.advance(120_000);
  assert.deepEqual(rig.deleted, []);
  rig.api.holdWatch = false;
  rig.api.publish();
  await rig.advance(180_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('another node of the same name is never deleted for the first', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  rig.vanish('n1');
  await rig.advance(10_000);
  rig.api.holdWatch = true;
  rig.cloud.machines.set('fake://n1-new', 'running');
  rig.api.put(nodeOf('n1', { uid: 'uid-new', providerID: 'fake://n1-new', ready: 'Unknown' }));
  await rig.advance(120_000);
  assert.deepEqual(rig.deleted, []);
  rig.api.holdWatch = false;
  rig.api.publish();
  await rig.advance(300_000);
  assert.deepEqual(rig.deleted, []);
});

test('a node that changes between the read and the delete is read again', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  await rig.start();
  rig.vanish('n1');
  let conflicts = 0;
  rig.beforeDelete = (name) => {
    if (conflicts++ < 2) rig.api.put({ ...rig.api.nodes.get(name) });
  };
  await rig.advance(35_000);
  assert.deepEqual(rig.deleted, ['n1']);
  assert.equal(rig.metrics.get('outrigger_node_deletions_total conflict'), 2);
  assert.deepEqual(rig.reasons('n1'), ['DeletingNode']);
});

test('a delete that is refused is told, tried again, and does not count against others', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(4)) rig.join(node);
  await rig.start();
  rig.vanish('n1');
  let refused = true;
  rig.beforeDelete = () => {
    if (refused) throw new StatusError('DELETE n1', 403, { reason: 'Forbidden', code: 403, message: 'no' });
  };
  await rig.advance(60_000);
  assert.deepEqual(rig.reasons('n1'), ['DeletingNode', 'DeletingNodeFailed']);
  refused = false;
  await rig.advance(400_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('a delete whose answer is lost counts, and is found done', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(4)) rig.join(node);
  await rig.start();
  rig.vanish('n1');
  rig.onDeleted = ({ metadata }) => {
    rig.api.remove(metadata?.name ?? '');
    throw new Error('connection lost');
  };
  await rig.advance(35_000);
  assert.deepEqual(rig.deleted, ['n1']);
  rig.vanish('n2');
  await rig.advance(300_000);
  assert.deepEqual(rig.deleted, ['n1']);
});

test('a machine whose read never ends holds up no other', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(50)) rig.join(node);
  await rig.start();
  rig.cloud.readLie = ({ name }, truth) => (name === 'n0' ? new Promise<never>(() => {}) : truth);
  for (const node of range(10)) rig.vanish(node);
  await rig.advance(35_000);
  assert.deepEqual(rig.deletedNames, range(10).slice(1));
});

test('machines that cannot be read keep no others from being read', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(200)) rig.join(node);
  await rig.start();
  rig.cloud.readLie = ({ name }, truth) => (Number(name.slice(1)) < 20 ? failure('unavailable') : truth);
  for (const node of range(20)) rig.vanish(node);
  await rig.advance(300_000);
  for (const node of range(40).slice(20)) rig.vanish(node);
  await rig.advance(120_000);
  assert.equal(rig.deleted.length, 20);
});

for (const code of ['forbidden', 'conflict', 'invalid', 'unsupported'] as const) {
  test(`machines about which alone a read says ${code} hold up no read of another`, async () => {
    await using rig = new LifecycleRig();
    for (const node of range(50)) rig.join(node);
    await rig.start();
    rig.cloud.readLie = ({ name }, truth) => (Number(name.slice(1)) < 8 ? failure(code) : truth);
    for (const node of range(9)) rig.vanish(node);
    await rig.advance(33_000);
    assert.deepEqual(rig.deleted, ['n8']);
    await rig.advance(300_000);
    // A first read that fails for all puts it behind the others, and not behind those that are refused.
    let fails = true;
    rig.cloud.readLie = ({ name }, truth) => {
      if (Number(name.slice(1)) < 8) return failure(code);
      const failed = fails;
      fails = false;
      return failed ? failure('unavailable') : truth;
    };
    rig.vanish('n9');
    await rig.advance(37_000);
    assert.deepEqual(rig.deleted, ['n8', 'n9']);
  });
}

test('a cloud that may not be asked about any machine is asked about each once, one at a time, and then at a pace', async () => {
  for (const [count, most] of [
    [299, 299 + 10 + 120],
    [1_000, 10 + 400],
  ] as const) {
    await using rig = new LifecycleRig();
    for (const node of range(1_000)) rig.join(node);
    await rig.start();
    let together = 0;
    let mostTogether = 0;
    rig.cloud.listLie = () => missing;
    rig.cloud.readLie = async () => {
      mostTogether = Math.max(mostTogether, ++together);
      await rig.clock.sleep(20, new AbortController().signal);
      together -= 1;
      return failure('forbidden');
    };
    for (const node of range(count)) rig.ready(node, 'Unknown');
    await rig.advance(120_000);
    assert.ok(rig.cloud.reads.length <= most, `${rig.cloud.reads.length} reads for ${count}`);
    assert.ok(new Set(rig.cloud.reads).size >= Math.min(count, 400));
    assert.equal(mostTogether, 1);
    assert.deepEqual(rig.deleted, []);
  }
});

test('a cloud whose lists are empty and whose reads fail is asked at most sixty times in two minutes', async () => {
  await using rig = new LifecycleRig();
  for (const node of range(500)) rig.join(node);
  await rig.start();
  rig.cloud.listLie = () => missing;
  rig.cloud.readLie = () => failure('unavailable');
  rig.cloud.sendsOfRead = (_, most) => most;
  for (const node of range(100)) rig.ready(node, 'Unknown');
  await rig.advance(120_000);
  const asked = rig.cloud.sends + rig.cloud.batches.length;
  assert.ok(asked <= 60, `${asked} requests`);
  assert.deepEqual(rig.deleted, []);
});

test('a node whose taints another writer has changed keeps all of them', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1', { taints: [{ key: 'a', effect: 'NoSchedule' }] });
  rig.cloud.machines.set('fake://n1', 'shutdown');
  await rig.start();
  rig.api.holdWatch = true;
  let raced = false;
  rig.api.before = ({ verb }) => {
    if (verb !== 'patch' || raced) return;
    raced = true;
    const node = rig.api.nodes.get('n1');
    rig.api.put({ ...node, spec: { ...node?.spec, taints: [{ key: 'b', effect: 'NoExecute' }] } });
  };
  rig.api.holdWatch = false;
  rig.ready('n1', 'Unknown');
  await rig.settle();
  assert.deepEqual(
    rig.api.nodes.get('n1')?.spec?.taints?.map(({ key }) => key),
    ['b', shutdownTaintKey],
  );
  assert.equal(rig.api.gets, 1);
});

test('a node that is Ready when its shutdown taint arrives does not get it', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1');
  rig.cloud.machines.set('fake://n1', 'shutdown');
  await rig.start();
  rig.api.before = ({ verb }) => {
    if (verb === 'patch' && rig.api.writes.length === 0) rig.ready('n1', 'True');
  };
  rig.ready('n1', 'Unknown');
  await rig.settle();
  assert.ok(!isShutdownTainted(rig.api.nodes.get('n1')));
});

test('nodes that go, and a controller that stops, leave no timer', async () => {
  const rig = new LifecycleRig();
  for (const node of range(5)) rig.join(node);
  await rig.start();
  rig.cloud.readLie = () => failure('unavailable');
  for (const node of range(5)) rig.vanish(node);
  await rig.advance(5_000);
  for (const node of range(3)) rig.api.remove(node);
  await rig.settle();
  assert.ok(rig.clock.pendingTimers > 0);
  await rig.stop();
  assert.equal(rig.clock.pendingTimers, 0);
});

test('a machine that is stopped while its node is not Ready is noticed at once by a hint, and else within a minute', async () => {
  for (const isHinted of [true, false]) {
    await using rig = new LifecycleRig();
    rig.join('n1', { ready: 'False' });
    await rig.start();
    // Asked about ever more seldom: it runs.
    await rig.advance(600_000);
    rig.cloud.machines.set('fake://n1', 'shutdown');
    if (isHinted) rig.cloud.hints.tell({ ids: ['fake://n1'] });
    await rig.advance(100);
    assert.equal(isShutdownTainted(rig.api.nodes.get('n1')), isHinted);
    await rig.advance(60_000);
    assert.ok(isShutdownTainted(rig.api.nodes.get('n1')));
    await rig.stop();
    assert.equal(rig.cloud.hints.listeners, 0);
  }
});

test('hints prove nothing: a node that is Ready is not asked about, and one of a machine that runs is asked about and stays', async () => {
  await using rig = new LifecycleRig();
  rig.join('ready');
  rig.join('silent', { ready: 'Unknown' });
  await rig.start();
  await rig.advance(600_000);
  const before = rig.cloud.calls;
  for (let i = 0; i < 20; i++) {
    rig.cloud.hints.tell({ all: true });
    await rig.settle();
  }
  const asked = rig.cloud.batches.slice(-20);
  assert.equal(rig.cloud.calls - before, 20);
  assert.ok(asked.every((names) => names.join() === 'silent'));
  assert.deepEqual([rig.deleted, rig.cloud.reads], [[], []]);
});

test('of a node whose machine is neither found nor proved to be gone a person is told, once, and not of what passes by itself', async () => {
  await using rig = new LifecycleRig();
  for (const node of ['lost', 'flaky']) rig.join(node);
  await rig.start();
  rig.cloud.listLie = () => missing;
  rig.cloud.readLie = () => failure('unavailable');
  for (const node of ['lost', 'flaky']) rig.ready(node, 'Unknown');
  await rig.advance(5_000);
  rig.ready('flaky', 'True');
  assert.deepEqual(rig.reasons('lost'), []);
  await rig.advance(600_000);
  assert.deepEqual([rig.deleted, rig.reasons('lost'), rig.reasons('flaky')], [[], ['NodeDeletionUnproved'], []]);
  assert.equal(
    rig.events[0]?.note.message,
    'Node lost is kept: it is not known whether its machine is gone. If it is: kubectl delete node lost. the cloud said unavailable',
  );
});

for (const [what, lie] of [
  ['look-up', (rig) => (rig.cloud.listLie = () => failure('unavailable'))],
  ['read', (rig) => ((rig.cloud.listLie = () => missing), (rig.cloud.readLie = () => failure('unavailable')))],
  ['read, which proves nothing,', (rig) => (rig.cloud.listLie = rig.cloud.readLie = () => missing)],
] satisfies [string, (rig: LifecycleRig) => unknown][]) {
  test(`one ${what} in vain after many that found the machine is not told; five in a row are`, async () => {
    await using rig = new LifecycleRig();
    rig.join('n1', { ready: 'Unknown' });
    await rig.start();
    const { listLie } = rig.cloud;
    for (let round = 0; round < 5; round++) {
      rig.cloud.listLie = listLie;
      await rig.advance(300_000);
      lie(rig);
      await rig.advance(60_000);
      assert.deepEqual(rig.events, []);
      assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 0);
    }
    await rig.advance(300_000);
    assert.deepEqual(rig.reasons('n1'), ['NodeDeletionUnproved']);
    assert.equal(rig.metrics.get('outrigger_node_deletions_unproved'), what === 'look-up' ? 0 : 1);
    rig.cloud.listLie = listLie;
    await rig.advance(60_000);
    assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 0);
  });
}

test('look-ups in vain before a machine was found to be shut down do not count with one after it', async () => {
  await using rig = new LifecycleRig();
  rig.join('n1', { ready: 'Unknown' });
  const { listLie } = rig.cloud;
  const asked = async (batches: number): Promise<void> => {
    while (rig.cloud.batches.length < batches) await rig.advance(1_000);
  };
  rig.cloud.listLie = () => failure('unavailable');
  await rig.start();
  await asked(4);
  rig.cloud.listLie = listLie;
  rig.cloud.machines.set('fake://n1', 'shutdown');
  await asked(5);
  assert.ok(isShutdownTainted(rig.api.nodes.get('n1')));
  rig.cloud.listLie = () => failure('unavailable');
  await asked(6);
  assert.deepEqual(rig.events, []);
});

test('reads in vain before one that proved absence do not count with one after it', async () => {
  await using rig = new LifecycleRig();
  for (const name of range(3)) rig.join(name);
  await rig.start();
  const read = async (times: number): Promise<void> => {
    while (rig.cloud.reads.filter((name) => name === 'n0').length < times) await rig.advance(1_000);
  };
  rig.cloud.readLie = () => failure('unavailable');
  for (const name of ['n0', 'n1']) rig.vanish(name);
  await read(4);
  rig.cloud.readLie = (_, truth) => truth;
  await read(5);
  assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 2);
  rig.cloud.readLie = () => failure('unavailable');
  await read(6);
  assert.deepEqual(rig.reasons('n0'), ['NodeDeletionHeld']);
});
