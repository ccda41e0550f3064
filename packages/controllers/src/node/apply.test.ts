import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Patch, ResourceClient } from '@outrigger/kube';
import type { NodeAction } from './actions.ts';
import { applyWrites } from './apply.ts';

const node: Node = { metadata: { name: 'a', uid: 'u', resourceVersion: '7' } };
const actions: readonly NodeAction[] = [
  { kind: 'patch-status', addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
  { kind: 'patch-object', providerID: 'fake://1', setLabels: {}, addLabels: { zone: 'a' }, removeTaint: false },
];

test('the API server is asked for metadata alone, and not to look for fields that it does not know: both cost it CPU', async () => {
  const asked: unknown[] = [];
  const patch = (ref: unknown, { type }: Patch, options: object) => {
    asked.push([ref, type, { ...options, signal: undefined }]);
    return Promise.resolve({ metadata: { resourceVersion: '8' } });
  };
  const nodes = { patch } as unknown as Pick<ResourceClient<Node>, 'patch'>;
  await applyWrites(node, actions, { nodes, signal: new AbortController().signal });
  const how = { answer: 'metadata', fieldValidation: 'Ignore', signal: undefined };
  assert.deepEqual(asked, [
    [{ name: 'a' }, 'strategic', { ...how, subresource: 'status' }],
    [{ name: 'a' }, 'json', how],
  ]);
});
