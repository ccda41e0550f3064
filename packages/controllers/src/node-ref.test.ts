import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refOfNode } from './node-ref.ts';

test('a provider sees the beginning of what a node has that is too long, and knows that there is something', () => {
  const node = {
    metadata: { name: 'n', uid: 'u', annotations: { a: 'x'.repeat(240_000), b: 'y' } },
    spec: { providerID: `fake://${'1'.repeat(240_000)}` },
  };
  const { annotations, providerID = '' } = refOfNode(node);
  assert.deepEqual([annotations['a']?.length, annotations['b'], providerID.length], [4_096, 'y', 1_024]);
  const short = { name: 'n', uid: 'u', annotations: { b: 'y' } };
  assert.equal(refOfNode({ metadata: short }).annotations, short.annotations);
});
