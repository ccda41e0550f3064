import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf, keyOfObject, refOf } from './kube-object.ts';

test('a key and a reference are the same thing, with and without a namespace', () => {
  for (const ref of [{ name: 'node-1' }, { namespace: 'kube-system', name: 'lease' }]) {
    assert.deepEqual(refOf(keyOf(ref)), ref);
  }
  assert.equal(keyOfObject({ kind: 'Lease', metadata: { namespace: 'a', name: 'b' } }), 'a/b');
});

test('an object without a name is refused by its kind', () => {
  assert.throws(() => keyOfObject({ kind: 'Node', metadata: {} }), {
    name: 'TypeError',
    message: 'Node has no metadata.name',
  });
});
