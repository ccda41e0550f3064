/** What every provider's volumes must do, whatever the cloud: one suite, a subject for each provider that has volumes. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type VolumeRef, type VolumeResult } from '@outrigger/cloud-provider';
import type { OpenedProvider } from './open-provider.ts';

/** A provider with volumes over a cloud that the suite can change. */
export interface VolumesSubject extends AsyncDisposable {
  readonly opened: OpenedProvider;
  /** At least two. */
  readonly zones: readonly string[];
  /** In so many zones a volume can be used at most. Default: 2. */
  readonly zonesOfVolume?: 1 | 2;
  /** Requests for two volumes, and one that there is not. Default: 1. */
  readonly requestsOfBatch?: number;
  /** Makes a volume that can be used in these zones, and gives the PersistentVolume that names it. */
  createVolume(name: string, zones: readonly string[]): Promise<VolumeRef>;
  deleteVolume(name: string): Promise<void>;
  /** From now on, each request of the cloud fails with this status; 0 ends it. */
  fail(status: number): Promise<void>;
  requests(): Promise<number>;
}

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

export function volumesSuite(name: string, makeSubject: () => Promise<VolumesSubject>): void {
  const { signal } = new AbortController();
  const lookUp = async (
    { opened }: VolumesSubject,
    volumes: readonly VolumeRef[],
  ): Promise<readonly VolumeResult[]> => {
    const topology = opened.capabilities.volumes;
    assert.ok(topology, 'the provider has volumes');
    return topology.lookUp(volumes, opened.callContext({ signal, priority: 'normal' }));
  };
  const labelsOf = (result: VolumeResult | undefined): Readonly<Record<string, string>> => {
    assert.ok(result?.kind === 'found', `${result?.kind} is not found`);
    return result.labels;
  };

  test(`${name}: zone and region of a volume; several zones are joined`, async () => {
    await using subject = await makeSubject();
    const [a = '', b = ''] = subject.zones;
    const several = [a, b].slice(0, subject.zonesOfVolume ?? 2);
    const volumes = [await subject.createVolume('one', [b]), await subject.createVolume('both', several)];
    const results = await lookUp(subject, volumes);
    const [one, both] = [labelsOf(results[0]), labelsOf(results[1])];
    assert.equal(one[ZONE], b);
    assert.ok(one[REGION]);
    assert.deepEqual(both[ZONE]?.split('__').toSorted(), several.toSorted());
  });

  test(`${name}: answers in the order of the question, in as few requests as the cloud allows`, async () => {
    await using subject = await makeSubject();
    const [zone = ''] = subject.zones;
    const [x, y] = [await subject.createVolume('x', [zone]), await subject.createVolume('y', [zone])];
    const before = await subject.requests();
    const results = await lookUp(subject, [y, { ...x, handle: 'there-is-none' }, x, x]);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['found', 'unknown', 'found', 'found'],
    );
    assert.equal((await subject.requests()) - before, subject.requestsOfBatch ?? 1);
  });

  test(`${name}: what is not of this cloud, or gone, is unknown and no error`, async () => {
    await using subject = await makeSubject();
    const volume = await subject.createVolume('gone', subject.zones.slice(0, 1));
    await subject.deleteVolume('gone');
    const foreign: VolumeRef = { ...volume, source: 'flexVolume', driver: 'example.com/another' };
    const results = await lookUp(subject, [volume, foreign, { ...volume, source: 'nobody', driver: undefined }]);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['unknown', 'unknown', 'unknown'],
    );
  });

  test(`${name}: a cloud that fails says nothing: a CloudError, or failed, and never unknown`, async () => {
    await using subject = await makeSubject();
    const volume = await subject.createVolume('one', subject.zones.slice(0, 1));
    for (const status of [401, 403, 404, 429, 500, 503]) {
      await subject.fail(status);
      const failure = await lookUp(subject, [volume]).then(
        ([result]) => (result?.kind === 'failed' ? result.error : result),
        (error: unknown) => error,
      );
      assert.ok(isCloudError(failure), `after ${status}`);
    }
    await subject.fail(0);
    assert.equal((await lookUp(subject, [volume]))[0]?.kind, 'found');
  });
}
