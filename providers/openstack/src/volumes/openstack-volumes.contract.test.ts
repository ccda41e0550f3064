import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VolumeRef } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { volumesSuite, type VolumesSubject } from '../../../../packages/cloud-runtime/src/volumes.suite.ts';
import { FakeRouterRig } from '../routes/fake-router.suite.ts';

function cinder(handle: string): VolumeRef {
  return { name: handle, uid: `uid-${handle}`, source: 'cinder', handle };
}

async function subject(): Promise<VolumesSubject> {
  const rig = await FakeRouterRig.open({ clock: systemClock });
  const { cloud, seeded } = rig;
  await rig.opened.capabilities.volumes?.lookUp([cinder('nothing')], rig.call);
  return {
    opened: rig.opened,
    zones: ['az-1', 'az-2'],
    zonesOfVolume: 1,
    // One each, and one for what there is not.
    requestsOfBatch: 3,
    createVolume: async (id, [zone = '']) => {
      cloud.volumes.add({ id, projectId: seeded.project.id, availability_zone: zone });
      return cinder(id);
    },
    deleteVolume: async (id) => void cloud.volumes.volumes.delete(id),
    // A 404 of cinder's own is what it says of a volume that is gone.
    fail: async (status) =>
      cloud.faults.set(
        ...(status === 0 ? [] : [{ effect: status === 404 ? 'proxy' : 'status', status, service: 'volume' } as const]),
      ),
    requests: async () => cloud.calls.all().length,
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

volumesSuite('openstack', subject);

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
