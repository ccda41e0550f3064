import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VolumeRef } from '@outrigger/cloud-provider';
import { FakeRouterRig } from '../routes/fake-router.suite.ts';

function cinder(handle: string): VolumeRef {
  return { name: handle, uid: `uid-${handle}`, source: 'cinder', handle };
}

test('openstack: a zone becomes the label that nodes have it by; without one, or without cinder, nothing is said', async () => {
  await using rig = await FakeRouterRig.open();
  const { cloud, seeded, opened } = rig;
  const { volumes } = opened.capabilities;
  assert.ok(volumes);
  const add = (id: string, availability_zone: string | null): VolumeRef => {
    cloud.volumes.add({ id, projectId: seeded.project.id, availability_zone });
    return cinder(id);
  };
  const refs = [add('a', 'Room 1'), add('b', null)];
  assert.deepEqual(await volumes.lookUp(refs, rig.call), [
    {
      kind: 'found',
      labels: { 'topology.kubernetes.io/zone': 'Room-1', 'topology.kubernetes.io/region': cloud.region },
    },
    { kind: 'unknown' },
  ]);
  await using bare = await FakeRouterRig.open({ withoutService: 'block-storage' });
  const none = await bare.opened.capabilities.volumes?.lookUp(refs, bare.call);
  assert.deepEqual(none, [{ kind: 'unknown' }, { kind: 'unknown' }]);
});
