import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VolumeRef } from '@outrigger/cloud-provider';
import { openOnFake } from '../fake/open-provider.ts';

function volumeOf(handle: string, driver: string): VolumeRef {
  return { name: handle, uid: handle, source: 'flexVolume', driver, handle };
}

test('a volume of this cloud gets its zone; what is not, or is not found, is left alone', async () => {
  await using provider = await openOnFake();
  provider.cloud.resource('volumes').put({ id: 'vol-1', zone: 'north-1b' });
  const volumes = ['my-cloud.example/volume', 'another.example/volume'].map((driver) => volumeOf('vol-1', driver));
  volumes.push(volumeOf('vol-2', 'my-cloud.example/volume'));
  assert.deepEqual(await provider.of('volumes').lookUp(volumes, provider.call), [
    {
      kind: 'found',
      labels: { 'topology.kubernetes.io/zone': 'north-1b', 'topology.kubernetes.io/region': 'north-1' },
    },
    { kind: 'unknown' },
    { kind: 'unknown' },
  ]);
});
