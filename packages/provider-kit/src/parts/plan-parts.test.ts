import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desiredOf, serviceOf } from './part-cloud.suite.ts';
import type { PartKind } from './part-kind.ts';
import { planMembersOf, type KeyedPart } from './plan-parts.ts';

test('members that are wanted of many parts are read once, however many parts lack one', () => {
  const members = ['a', 'b'];
  let reads = 0;
  const iterate = members[Symbol.iterator].bind(members);
  Object.defineProperty(members, Symbol.iterator, { value: () => (reads++, iterate()) });
  const pool: PartKind = {
    kind: 'pool',
    wanted: () => undefined,
    members: () => ({ members }),
    list: () => Promise.resolve([]),
    create: () => Promise.resolve({ id: '' }),
    update: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
  const desired = desiredOf(serviceOf([80]));
  const parts = ['c', 'a'].map((member): KeyedPart => {
    const attributes = { members: [member] };
    return { kind: 'pool', id: member, owner: desired.owner, state: 'ready', attributes };
  });
  const { actions } = planMembersOf(desired, parts, { kinds: [pool] });
  assert.deepEqual([actions.map(({ mayCutTraffic }) => mayCutTraffic), reads], [[true, undefined], 1]);
});
