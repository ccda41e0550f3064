import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObservedMember } from '../observed-tree.ts';
import type { WirePool } from '../octavia-wire.ts';
import { KnownMembers } from './known-members.ts';

const memberOf = (id: string, more: Partial<ObservedMember> = {}): ObservedMember => ({
  id,
  name: id,
  status: 'ACTIVE',
  late: 'no',
  address: '10.0.0.1',
  port: 30_000,
  monitorPort: null,
  subnetId: null,
  ...more,
});

const poolOf = (members: readonly ObservedMember[], more: Partial<WirePool> = {}): WirePool => ({
  id: 'pool',
  name: '',
  provisioning_status: 'ACTIVE',
  updated_at: '2026-11-21T17:01:08',
  protocol: 'TCP',
  lb_algorithm: 'ROUND_ROBIN',
  session_persistence: null,
  healthmonitor_id: null,
  members: members.map(({ id }) => ({ id })),
  loadbalancers: [],
  listeners: [],
  ...more,
});

const two = [memberOf('a'), memberOf('b')];

/** Of the second read, after a first one of `first` that showed `shown`. */
async function isAskedAgain(
  first: WirePool,
  second: WirePool,
  shown: readonly ObservedMember[] = two,
): Promise<boolean> {
  const known = new KnownMembers();
  assert.deepEqual(await known.read(first, () => Promise.resolve(shown)), shown);
  let isAsked = false;
  const read = await known.read(second, () => {
    isAsked = true;
    return Promise.resolve(two);
  });
  assert.deepEqual(read, two);
  return isAsked;
}

test('the members of a pool that has not changed are not asked for again', async () => {
  assert.equal(await isAskedAgain(poolOf(two), poolOf(two.toReversed())), false);
});

const later = { updated_at: '2026-11-21T17:01:09' };
const pending = { provisioning_status: 'PENDING_UPDATE' } as const;
const [a, b] = two as [ObservedMember, ObservedMember];
for (const [what, first, second, shown] of [
  ['changed later', poolOf(two), poolOf(two, later)],
  ['has others by now, in the same second', poolOf(two), poolOf([a, memberOf('c')])],
  ['has fewer by now, in the same second', poolOf(two), poolOf([a])],
  ['is being changed', poolOf(two), poolOf(two, pending)],
  ['was being changed', poolOf(two, pending), poolOf(two)],
  ['has no time', poolOf(two, { updated_at: null }), poolOf(two, { updated_at: null })],
  ['was changed between the two lists', poolOf([a]), poolOf([a])],
  ['had one that Octavia had failed to make', poolOf(two), poolOf(two), [a, { ...b, status: 'ERROR' }]],
  ['has been made anew', poolOf(two), poolOf(two, { id: 'other' })],
] as const satisfies readonly (readonly [string, WirePool, WirePool, (readonly ObservedMember[])?])[]) {
  test(`those of a pool that ${what} are asked for`, async () => {
    assert.equal(await isAskedAgain(first, second, shown), true);
  });
}

test('what could not be read is asked for again, and nothing old is shown in its place', async () => {
  const known = new KnownMembers();
  await known.read(poolOf(two), () => Promise.resolve(two));
  await assert.rejects(known.read(poolOf(two, later), () => Promise.reject(new Error('503'))));
  assert.deepEqual(await known.read(poolOf(two), () => Promise.resolve([a, b])), two);
});

test('a bounded number is remembered: those of pools that were looked at last', async () => {
  const known = new KnownMembers();
  const asked: string[] = [];
  const members = Array.from({ length: 5_000 }, (_, i) => memberOf(`m-${i}`));
  const read = (id: string): Promise<unknown> =>
    known.read(poolOf(members, { id }), () => {
      asked.push(id);
      return Promise.resolve(members);
    });
  for (const id of ['1', '2', '3', '4', '1', '5', '1', '3', '2']) await read(id);
  assert.deepEqual(asked, ['1', '2', '3', '4', '5', '2']);
});
