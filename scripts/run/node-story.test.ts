import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { missingOf, tellNode } from './node-story.ts';

const registered: Node = hollowNode({ name: 'node-1' });
const addressed: Node = {
  ...registered,
  status: { ...registered.status, addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
};
const initialised: Node = {
  ...addressed,
  metadata: {
    ...addressed.metadata,
    labels: {
      'node.kubernetes.io/instance-type': 'm.large',
      'topology.kubernetes.io/zone': 'z1',
      'topology.kubernetes.io/region': 'r1',
    },
  },
  spec: { providerID: 'memory://r1/i-1' },
};
const ranged: Node = {
  ...initialised,
  spec: { ...initialised.spec, podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] },
};
const routed: Node = {
  ...ranged,
  status: {
    ...ranged.status,
    conditions: [{ type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' }],
  },
};
const ready: Node = {
  ...routed,
  status: {
    ...routed.status,
    conditions: [...(routed.status?.conditions ?? []), { type: 'Ready', status: 'True' }],
  },
};
const silent: Node = {
  ...ready,
  status: { ...ready.status, conditions: [{ type: 'Ready', status: 'Unknown' }] },
};

test('tells each step from two states of the object', () => {
  assert.deepEqual(tellNode(undefined, registered), ['registered by its kubelet: tainted uninitialized, no address']);
  assert.deepEqual(tellNode(registered, addressed), ['addresses InternalIP 10.0.0.1']);
  assert.deepEqual(tellNode(addressed, initialised), [
    'provider ID memory://r1/i-1',
    'type m.large, zone z1, region r1',
    'taint gone',
  ]);
  assert.deepEqual(tellNode(initialised, ranged), ['pod CIDR 10.244.0.0/24']);
  assert.deepEqual(tellNode(ranged, routed), ['NetworkUnavailable False (RouteCreated)']);
  assert.deepEqual(tellNode(routed, ready), ['Ready, says its kubelet']);
  assert.deepEqual(tellNode(ready, silent), ['Ready Unknown']);
  assert.deepEqual(tellNode(ready, ready), []);
});

test('says what is missing, and nothing once all is there', () => {
  assert.deepEqual(missingOf(undefined), ['not registered']);
  assert.ok(missingOf(registered).includes('still has the uninitialized taint'));
  assert.ok(missingOf(registered).includes('no provider ID'));
  assert.deepEqual(missingOf(initialised), ['no pod CIDR', 'no route']);
  assert.deepEqual(missingOf(routed), ['not Ready']);
  assert.deepEqual(missingOf(ready), []);
  const zoneless: Node = { ...ready, metadata: { ...ready.metadata, labels: {} } };
  assert.deepEqual(missingOf(zoneless, { labels: ['type'] }), ['no type label']);
  assert.deepEqual(missingOf(zoneless, { labels: [] }), [], 'a cloud need not have zones');
});
