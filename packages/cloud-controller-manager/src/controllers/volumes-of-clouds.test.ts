import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, isCloudError, type VolumeRef, type VolumeResult } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { VolumesOfClouds } from './volumes-of-clouds.ts';

const volume: VolumeRef = { name: 'pv', uid: 'u', source: 'gcePersistentDisk', handle: 'disk-1' };
const inZone = (zone: string): VolumeResult => ({ kind: 'found', labels: { 'topology.kubernetes.io/zone': zone } });
const unknown: VolumeResult = { kind: 'unknown' };
const down: VolumeResult = { kind: 'failed', error: new CloudError('unavailable', 'down') };

/** What the program says about the volume, and what the controllers of each cloud are told. */
async function said(...answers: (VolumeResult | undefined)[]): Promise<readonly string[]> {
  const { signal } = new AbortController();
  const providers = answers.map((answer, i) => ({
    name: `cloud-${i}`,
    capabilities: answer ? { volumes: { batchSize: 10, lookUp: () => Promise.resolve([answer]) } } : {},
    callContext: () => ({ signal, priority: 'normal', logger: silentLogger, call: () => assert.fail() }) as const,
  }));
  const volumes = new VolumesOfClouds(providers, { clock: new FakeClock(), priority: 'normal', signal });
  const all = [
    await volumes.lookUp(volume),
    ...(await Promise.all(providers.map((provider) => volumes.of(provider).lookUp(volume)))),
  ];
  return all.map((result) => {
    if (result.kind === 'found') return result.labels['topology.kubernetes.io/zone'] ?? '';
    if (result.kind === 'unknown') return 'unknown';
    return isCloudError(result.error) ? result.error.code : 'error';
  });
}

test('the one cloud that knows the volume speaks for it, to its own controllers', async () => {
  assert.deepEqual(await said(unknown, inZone('b'), undefined), ['b', 'unknown', 'b', 'unknown']);
  assert.deepEqual(await said(unknown, unknown), ['unknown', 'unknown', 'unknown']);
});

test('a cloud that is down keeps no other from its volumes, and may be the one that knows', async () => {
  assert.deepEqual(await said(down, inZone('b')), ['b', 'unavailable', 'b']);
  assert.deepEqual(await said(down, unknown), ['unavailable', 'unavailable', 'unknown']);
});

test('of two clouds that know a volume of this name, nobody knows which is meant', async () => {
  assert.deepEqual(await said(inZone('a'), inZone('b'), unknown), ['conflict', 'conflict', 'conflict', 'unknown']);
});

test('what is told of two clouds quotes the handle, and of one that has a thousand characters the beginning', async () => {
  const { signal } = new AbortController();
  const provider = (name: string): ConstructorParameters<typeof VolumesOfClouds>[0][number] => ({
    name,
    capabilities: { volumes: { lookUp: () => Promise.resolve([inZone('a')]) } },
    callContext: () => ({ signal, priority: 'normal', logger: silentLogger, call: () => assert.fail() }),
  });
  const clouds = [provider('one'), provider('other')];
  const volumes = new VolumesOfClouds(clouds, { clock: new FakeClock(), priority: 'normal', signal });
  const result = await volumes.lookUp({ ...volume, handle: `line\n${'x'.repeat(1_000)}` });
  assert.ok(result.kind === 'failed');
  assert.match(result.error.message, /a volume "line\\nx+…" \(1005 characters\);/u);
});
