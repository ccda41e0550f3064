/** What `VolumeTopology` promises. */
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { isCloudError, type VolumeRef, type VolumeResult } from '@outrigger/cloud-provider';
import { FAILURES, STATUSES } from './cloud-failures.ts';
import { has, type ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import type { ProviderRig } from './provider-rig.ts';

const TYPES = 'packages/cloud-provider/src/volume-topology.ts VolumeTopology.lookUp';
const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

function promise(
  name: string,
  run: (rig: ProviderRig) => Promise<void>,
  more: Pick<ConformanceTest, 'hooks'> = {},
): ConformanceTest {
  const hooks = ['createVolume', 'deleteVolume', 'zones', ...(more.hooks ?? [])] as const;
  return { name: `volumes / ${name}`, feature: 'volumes', source: TYPES, declares: has('volumes'), hooks, run };
}

export const volumeTests: readonly ConformanceTest[] = [
  promise('zone and region of a volume are its labels; several zones are joined', async (rig) => {
    const [a = '', b = ''] = rig.fixture.zones ?? [];
    const several = [a, b].slice(0, rig.fixture.zonesOfVolume ?? 2);
    const results = await lookUp(rig, await create(rig, [b]), await create(rig, several));
    const [one, both] = [labelsOf(results[0]), labelsOf(results[1])];
    assert.equal(one[ZONE], b);
    assert.ok(one[REGION], 'a region');
    assert.deepEqual(both[ZONE]?.split('__').toSorted(), several.toSorted());
  }),

  promise('answers come in the order of the question', async (rig) => {
    const [a = '', b = ''] = rig.fixture.zones ?? [];
    const [x, y] = [await create(rig, [a]), await create(rig, [b])];
    const results = await lookUp(rig, y, nowhere(x), x, x);
    const zones = results.map((result) => (result.kind === 'found' ? result.labels[ZONE] : result.kind));
    assert.deepEqual(zones, [b, 'unknown', a, a]);
    assert.deepEqual(await lookUp(rig), []);
  }),

  promise(
    'a batch costs as many requests as are declared',
    async (rig) => {
      const most = rig.fixture.requestsOf?.volumes;
      if (most === undefined) throw new NotVerifiable('the fixture does not say requestsOf.volumes');
      const [zone = ''] = rig.fixture.zones ?? [];
      const [x, y] = [await create(rig, [zone]), await create(rig, [zone])];
      await lookUp(rig, x);
      rig.faults.set();
      await lookUp(rig, y, nowhere(x), x, x);
      assert.equal(rig.faults.count('volumes'), most);
    },
    { hooks: ['requestsOf'] },
  ),

  promise('what is not of this cloud, or gone, is unknown and no error', async (rig) => {
    const [zone = ''] = rig.fixture.zones ?? [];
    const volume = await create(rig, [zone]);
    await rig.fixture.deleteVolume?.(volume);
    const foreign: VolumeRef = { ...volume, source: 'flexVolume', driver: 'example.com/another' };
    const results = await lookUp(rig, volume, foreign, { ...volume, source: 'nobody', driver: undefined });
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['unknown', 'unknown', 'unknown'],
    );
  }),

  promise('a request that fails makes no volume unknown', async (rig) => {
    const [zone = ''] = rig.fixture.zones ?? [];
    const volume = await create(rig, [zone]);
    for (const code of FAILURES) {
      rig.faults.set(() => ({ kind: 'fail', code }));
      await assertFails(rig, volume, `while requests end as ${code}`);
      rig.faults.set();
    }
    await rig.recovers('the volume is found', async () => (await lookUp(rig, volume))[0]?.kind === 'found');
  }),

  promise(
    'no status of the cloud makes a volume unknown',
    async (rig) => {
      const [zone = ''] = rig.fixture.zones ?? [];
      const volume = await create(rig, [zone]);
      for (const status of STATUSES) {
        await rig.fail({ kind: 'status', status });
        await assertFails(rig, volume, `after ${status}`);
        await rig.fail(undefined);
        await rig.wait(rig.fixture.clock ? 60_000 : 0);
      }
      assert.equal((await lookUp(rig, volume))[0]?.kind, 'found');
    },
    { hooks: ['fail'] },
  ),
];

async function create(rig: ProviderRig, zones: readonly string[]): Promise<VolumeRef> {
  const volume = await rig.fixture.createVolume?.(`vol-${randomUUID().slice(0, 8)}`, zones);
  if (!volume) throw new NotVerifiable('the fixture has no createVolume');
  rig.defer(`volume ${volume.name}`, async () => rig.fixture.deleteVolume?.(volume));
  return volume;
}

/** One that there is not, in whatever form this cloud's names have. */
function nowhere(volume: VolumeRef): VolumeRef {
  return { ...volume, name: 'nowhere', uid: randomUUID(), handle: randomUUID() };
}

async function lookUp(rig: ProviderRig, ...volumes: readonly VolumeRef[]): Promise<readonly VolumeResult[]> {
  const topology = rig.use('volumes');
  const results = await rig.inBatches(topology, volumes, (batch) =>
    rig.call('volumes', (call) => topology.lookUp(batch, call)),
  );
  assert.equal(results.length, volumes.length, 'an answer for each volume');
  return results;
}

async function assertFails(rig: ProviderRig, volume: VolumeRef, when: string): Promise<void> {
  const failure = await lookUp(rig, volume).then(
    ([result]) => (result?.kind === 'failed' ? result.error : result?.kind),
    (error: unknown) => error,
  );
  assert.ok(isCloudError(failure), `${when}: ${String(failure)}`);
}

function labelsOf(result: VolumeResult | undefined): Readonly<Record<string, string>> {
  assert.ok(result?.kind === 'found', `${result?.kind}: a volume that is there is found`);
  return result.labels;
}
