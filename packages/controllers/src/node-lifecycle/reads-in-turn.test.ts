/** However many machines cannot be read, and however often a node is Ready for a moment: all others have their turns, and a person is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceResult } from '@outrigger/cloud-provider';
import { failure, LifecycleRig } from './lifecycle-rig.suite.ts';

const absent: InstanceResult = { kind: 'absent', proof: 'GET: 404' };
const missing: InstanceResult = { kind: 'missing' };
const running: InstanceResult = { kind: 'found', instance: { providerID: 'fake://b0', state: 'running' } };
const range = (name: string, count: number): readonly string[] => Array.from({ length: count }, (_, i) => name + i);
const zone = range('gone', 40);

/** A zone of 40 beside 200 nodes in four others. */
async function startedRig(): Promise<LifecycleRig> {
  const rig = new LifecycleRig();
  for (const node of zone) rig.join(node, { zone: 'z' });
  for (const [i, node] of range('b', 200).entries()) rig.join(node, { zone: `z${i % 4}` });
  await rig.start();
  return rig;
}

/** So many times, one node is Ready in the middle of each `everyMs`. */
async function flip(
  rig: LifecycleRig,
  { node, everyMs, forMs }: { node: string; everyMs: number; forMs: number },
): Promise<void> {
  for (let ms = 0; ms < forMs; ms += everyMs) {
    rig.ready(node, 'False');
    await rig.advance(everyMs / 2);
    rig.ready(node, 'True');
    await rig.advance(everyMs / 2);
  }
}

for (const unreadable of [8, 12, 30]) {
  test(`a zone is gone, and ${unreadable} others cannot be read: the zone goes within a quarter of an hour`, async () => {
    await using rig = await startedRig();
    const bad = new Set(range('b', unreadable));
    rig.cloud.listLie = ({ name }, truth) => (bad.has(name) ? missing : truth);
    rig.cloud.readLie = ({ name }, truth) => (bad.has(name) ? failure('unavailable') : truth);
    for (const node of bad) rig.ready(node, 'Unknown');
    await rig.advance(600_000);
    for (const node of zone) rig.vanish(node);
    await rig.advance(900_000);
    assert.deepEqual(
      rig.deletedNames,
      zone.toSorted((a, b) => (a < b ? -1 : 1)),
    );
  });
}

for (const unreadable of [50, 200]) {
  test(`a machine is gone, and ${unreadable} that cannot be read fail at the same moment: each is read once before any is read again`, async () => {
    await using rig = new LifecycleRig();
    for (const [i, node] of range('b', 1_000).entries()) rig.join(node, { zone: `z${i % 4}` });
    await rig.start();
    const bad = new Set(range('b', unreadable));
    rig.cloud.listLie = ({ name }, truth) => (bad.has(name) ? missing : truth);
    rig.cloud.readLie = ({ name }, truth) => (bad.has(name) ? failure('unavailable') : truth);
    for (const node of bad) rig.ready(node, 'Unknown');
    rig.vanish('b999');
    // Each failure ends the run for ten seconds at most; the second read is no later than a minute after the first.
    await rig.advance(unreadable * 10_000 + 60_000);
    assert.deepEqual(rig.deleted, ['b999']);
  });
}

for (const [what, answer] of [
  ['unavailable', failure('unavailable')],
  ['timeout', failure('timeout')],
  ['not-found', failure('not-found')],
  ['that it runs', running],
  ['that it is absent', absent],
] as const) {
  test(`a zone is gone, and the node of a machine whose reads say ${what} is Ready for a moment again and again: the zone goes`, async () => {
    await using rig = await startedRig();
    rig.cloud.listLie = ({ name }, truth) => (name === 'b0' ? missing : truth);
    rig.cloud.readLie = ({ name }, truth) => (name === 'b0' ? answer : truth);
    for (const node of zone) rig.vanish(node);
    await flip(rig, { node: 'b0', everyMs: 5_000, forMs: 900_000 });
    assert.equal(rig.deleted.length, 40);
    assert.equal(rig.deleted.includes('b0'), false);
  });
}

test('nodes whose first reads failed are read again, however often another one that cannot be read is Ready for a moment', async () => {
  await using rig = await startedRig();
  let fails = true;
  rig.cloud.listLie = ({ name }, truth) => (name === 'b0' ? missing : truth);
  rig.cloud.readLie = ({ name }, truth) => (fails || name === 'b0' ? failure('unavailable') : truth);
  for (const node of range('b', 6).slice(1)) rig.vanish(node);
  // So that it waits for a read whenever a pause ends.
  await rig.advance(4_000);
  await flip(rig, { node: 'b0', everyMs: 5_000, forMs: 90_000 });
  fails = false;
  await flip(rig, { node: 'b0', everyMs: 5_000, forMs: 240_000 });
  assert.deepEqual(rig.deletedNames, range('b', 6).slice(1));
});

test('of a node that had no turn for minutes, as reads of others fail, a person is told, and it is counted until it is read', async () => {
  await using rig = new LifecycleRig();
  for (const node of range('b', 500)) rig.join(node);
  await rig.start();
  let fails = true;
  rig.cloud.readLie = (_, truth) => (fails ? failure('unavailable') : truth);
  for (const node of range('b', 100)) rig.vanish(node);
  await rig.advance(400_000);
  const told = new Set(rig.events.filter(({ note }) => note.reason === 'NodeDeletionUnproved').map(({ name }) => name));
  const unread = range('b', 100).filter((node) => !rig.cloud.reads.includes(node));
  assert.ok(unread.length > 40, `${unread.length} not read`);
  assert.deepEqual(
    unread.filter((node) => !told.has(node)),
    [],
  );
  assert.ok((rig.metrics.get('outrigger_node_deletions_unproved') ?? 0) >= unread.length);
  fails = false;
  await rig.advance(150_000);
  assert.equal(rig.deleted.length, 100);
  assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 0);
});

for (const [what, answer] of [
  ['prove nothing', missing],
  ['are refused', failure('forbidden')],
] as const) {
  test(`of a node that had no turn for minutes, as reads of others take long and ${what}, a person is told`, async () => {
    await using rig = new LifecycleRig();
    const nodes = range('b', 1_000);
    for (const node of nodes) rig.join(node);
    await rig.start();
    rig.cloud.listLie = () => missing;
    rig.cloud.readLie = async () => {
      await rig.clock.sleep(900, new AbortController().signal);
      return answer;
    };
    for (const node of nodes.slice(1)) rig.ready(node, 'Unknown');
    await rig.advance(345_000);
    const unread = nodes.slice(1).filter((node) => !rig.cloud.reads.includes(node));
    assert.ok(unread.length > 500, `${unread.length} not read`);
    assert.deepEqual(new Set(unread.map((node) => rig.reasons(node).join())), new Set(['NodeDeletionUnproved']));
    assert.match(rig.events.at(-1)?.note.message ?? '', /could not be read for minutes/);
    assert.ok((rig.metrics.get('outrigger_node_deletions_unproved') ?? 0) >= unread.length);
    const told = rig.events.length;
    await rig.advance(30_000);
    assert.ok(rig.events.length - told < 50, 'each once');
  });
}

for (const [what, spec] of [
  ['a provider ID', {}],
  ['no provider ID, which is read by its name', { providerID: null }],
] as const) {
  test(`a node with ${what}, and neither the list nor a read says what became of its machine: a person is told within half a minute`, async () => {
    await using rig = new LifecycleRig();
    rig.join('n', spec);
    await rig.start({ unknownNodeDeletionMs: 60_000 });
    let proves = false;
    rig.cloud.listLie = () => missing;
    rig.cloud.readLie = () => (proves ? absent : missing);
    rig.ready('n', 'Unknown');
    await rig.advance(5_000);
    assert.deepEqual(rig.reasons('n'), [], 'a list may only be late');
    await rig.advance(25_000);
    assert.deepEqual(rig.reasons('n'), ['NodeDeletionUnproved']);
    assert.match(rig.events[0]?.note.message ?? '', /cannot prove that it does not exist/);
    assert.match(rig.events[0]?.note.message ?? '', /kubectl delete node n\b/);
    assert.equal(rig.metrics.get('outrigger_node_deletions_unproved'), 1);
    proves = true;
    await rig.advance(300_000);
    assert.deepEqual(rig.deleted, ['n']);
    assert.equal(rig.metrics.get('outrigger_node_deletions_held'), 0);
  });
}

for (const [what, answer] of [
  ['absent', absent],
  ['missing', missing],
  ['unavailable', failure('unavailable')],
] as const) {
  test(`a node that is Ready for a moment ten times a second, and ${what}, is not asked about ten times a second`, async () => {
    await using rig = await startedRig();
    rig.cloud.listLie = () => missing;
    rig.cloud.readLie = () => answer;
    await flip(rig, { node: 'b0', everyMs: 100, forMs: 60_000 });
    assert.ok(rig.cloud.calls <= 60, `${rig.cloud.batches.length} look-ups, ${rig.cloud.reads.length} reads`);
    assert.deepEqual(rig.deleted, []);
  });
}

test('a node that was Ready for a moment, and whose machine is gone, goes two seconds later than another at most', async () => {
  await using rig = await startedRig();
  rig.cloud.machines.delete('fake://b0');
  await flip(rig, { node: 'b0', everyMs: 1_000, forMs: 9_000 });
  rig.ready('b0', 'Unknown');
  await rig.advance(34_000);
  assert.deepEqual(rig.deleted, ['b0']);
});
