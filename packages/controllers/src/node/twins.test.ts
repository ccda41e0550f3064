import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { olderTwin, Twins } from './twins.ts';

const nodeOf = (uid: string, creationTimestamp: string, more: Node['metadata'] = {}): Node => {
  return { metadata: { name: `n-${uid}`, uid, creationTimestamp, ...more }, spec: { providerID: 'fake://1' } };
};
const early = nodeOf('b', '2026-01-01T00:00:00Z');
const late = nodeOf('a', '2026-01-01T00:00:01Z');

test('of several the oldest stays; of one second the UID decides; one that is going does not count', () => {
  assert.equal(olderTwin(late, [early, late]), early);
  assert.equal(olderTwin(early, [early, late]), undefined);
  const same = nodeOf('c', '2026-01-01T00:00:00Z');
  assert.equal(olderTwin(same, [early, same, late]), early);
  assert.equal(olderTwin(early, [same]), undefined);
  const going = nodeOf('b', '2026-01-01T00:00:00Z', { deletionTimestamp: '2026-01-01T00:00:02Z' });
  assert.equal(olderTwin(late, [going]), undefined);
});

test('nodes are known by their provider ID until it is another, or they are gone', () => {
  const twins = new Twins();
  for (const name of ['n1', 'n2']) twins.note(name, early);
  twins.note('n3', { metadata: { name: 'n3' } });
  assert.deepEqual(twins.of(['fake://1', 'fake://1', 'fake://2']), ['n1', 'n2']);
  twins.note('n1', { spec: { providerID: 'fake://2' } });
  twins.note('n2', undefined);
  assert.deepEqual([twins.of(['fake://1']), twins.of(['fake://2'])], [[], ['n1']]);
});

test('a provider ID counts as the machine that it names', () => {
  const twins = new Twins((providerID) => providerID.split('/').at(-1) ?? '');
  twins.note('n1', { spec: { providerID: 'fake:///1' } });
  twins.note('n2', { spec: { providerID: 'fake://zone/1' } });
  assert.deepEqual(twins.of(['fake://other/1']), ['n1', 'n2']);
  twins.note('n1', { spec: { providerID: 'fake://zone/2' } });
  assert.deepEqual([twins.of(['fake:///1']), twins.of(['fake:///2'])], [['n2'], ['n1']]);
});
