/** Load balancers whose Service lives on, and does not have them any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { cleanupFinalizer } from '../service/well-known-names.ts';
import { OrphanRig } from './orphan-rig.suite.ts';

const ofType = (
  type: 'LoadBalancer' | 'ClusterIP',
  metadata: Service['metadata'] = {},
  loadBalancerClass?: string,
) => ({
  metadata,
  spec: { type, ...(loadBalancerClass && { loadBalancerClass }) },
});
const ownedBy = (owner: string) => ({ annotations: { [loadBalancerOwnerAnnotation]: owner } });
const held = { finalizers: [cleanupFinalizer] };
const deletionTimestamp = '2026-01-01T00:00:00Z';

async function rigWith(uid: string, service: Service): Promise<OrphanRig> {
  const rig = new OrphanRig();
  for (let i = 0; i < 10; i++) {
    rig.service(`live-${i}`);
    rig.loadBalancer(`live-${i}`);
  }
  rig.service(uid, service);
  rig.loadBalancer(uid);
  return rig;
}

const left: Readonly<Record<string, Service>> = {
  'another type, without a record': ofType('ClusterIP'),
  'another type, with an empty owner': ofType('ClusterIP', ownedBy('')),
  'recorded for another provider': ofType('LoadBalancer', { ...ownedBy('south'), ...held }),
  'of another class, without a record': ofType('LoadBalancer', {}, 'example.com/other'),
  'of another class, which has the finalizer by now': ofType('LoadBalancer', held, 'example.com/other'),
};

for (const [what, service] of Object.entries(left)) {
  test(`what a Service has left is reported and, while that lives, not removed: ${what}`, async () => {
    await using rig = await rigWith('left', service);
    await rig.start({ policy: 'delete', gracePeriodMs: 0 });
    await rig.passes(1);
    assert.deepEqual(rig.reasons, []);
    await rig.passes(3);
    assert.equal(rig.metrics.get('outrigger_orphans dns'), 1);
    assert.deepEqual(rig.reasons, ['OrphanedLoadBalancers']);
    assert.match(
      rig.events[0]?.message ?? '',
      /UID left, which exists, and which memory does not serve: delete it by hand if no other program does/u,
    );
    assert.ok(rig.left.includes('left'));
    assert.equal(rig.metrics.get('outrigger_orphan_removals_held load-balancer'), 0);
    assert.match(rig.controller?.explain('left')?.planned[0]?.text ?? '', /its Service exists/u);
    rig.services.delete('left');
    await rig.passes(1);
    assert.ok(!rig.left.includes('left'));
  });
}

const served: Readonly<Record<string, Service>> = {
  'served, and recorded': ofType('LoadBalancer', { ...ownedBy('memory'), ...held }),
  'recorded, of another type, and not cleaned up yet': ofType('ClusterIP', { ...ownedBy('memory'), ...held }),
  'recorded, without the finalizer': ofType('ClusterIP', ownedBy('memory')),
  'recorded, of another class by now': ofType('LoadBalancer', ownedBy('memory'), 'example.com/other'),
  'to be served, and not recorded yet': ofType('LoadBalancer'),
  'deleted, of our class, without a record': ofType('LoadBalancer', { deletionTimestamp, finalizers: ['a/b'] }),
  'served by a predecessor until now': ofType('LoadBalancer', held),
  'of a predecessor, and another type by now': ofType('ClusterIP', held),
};

for (const [what, service] of Object.entries(served)) {
  test(`what a Service still has is no orphan: ${what}`, async () => {
    await using rig = await rigWith('live', service);
    await rig.start({ policy: 'delete', gracePeriodMs: 0 });
    await rig.passes(4);
    assert.deepEqual([rig.reasons, rig.left.length], [[], 11]);
  });
}

test('Services without a class are served by the default provider alone', async () => {
  await using rig = await rigWith('left', ofType('LoadBalancer'));
  await rig.start({ policy: 'delete', gracePeriodMs: 0, isDefault: false });
  await rig.passes(3);
  assert.deepEqual(rig.reasons, ['OrphanedLoadBalancers']);
  assert.equal(rig.left.length, 11);
});

test('however many are left by Services that live, what has no Service is removed', async () => {
  await using rig = await rigWith('left-0', ofType('ClusterIP'));
  for (let i = 1; i < 9; i++) {
    rig.service(`left-${i}`, ofType('ClusterIP'));
    rig.loadBalancer(`left-${i}`);
  }
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(3);
  assert.ok(!rig.left.includes('gone'));
  assert.equal(rig.left.length, 19);
});
