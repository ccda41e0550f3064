import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimNode } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
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

test('a provider is told the UUID of the system and when the node was created, of a node as the store keeps it', () => {
  const registered = hollowNode({ name: 'n', images: 3 });
  const node = trimNode({
    ...registered,
    metadata: { ...registered.metadata, creationTimestamp: '2026-01-02T03:04:05Z', managedFields: [{}] },
  });
  const { systemUUID, createdAt } = refOfNode(node);
  assert.equal(systemUUID, registered.status?.nodeInfo?.systemUUID);
  assert.equal(createdAt, Date.UTC(2026, 0, 2, 3, 4, 5));
});

test('what a node does not say of itself is absent, and what it says at length is cut', () => {
  assert.deepEqual(Object.keys(refOfNode({ metadata: { name: 'n', uid: 'u' } })), [
    'name',
    'uid',
    'labels',
    'annotations',
  ]);
  const { nodeInfo } = hollowNode({ name: 'n' }).status ?? {};
  assert.ok(nodeInfo);
  const systemUUID = 'a'.repeat(240_000);
  assert.equal(refOfNode({ status: { nodeInfo: { ...nodeInfo, systemUUID } } }).systemUUID?.length, 255);
  assert.equal('systemUUID' in refOfNode({ status: { nodeInfo: { ...nodeInfo, systemUUID: '' } } }), false);
});
