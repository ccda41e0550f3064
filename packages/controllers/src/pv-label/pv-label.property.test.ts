/** Whatever the volume and whatever the cloud says: nothing that is there is changed, and a second pass finds nothing to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type VolumeResult } from '@outrigger/cloud-provider';
import { isInvalid, resources, type PersistentVolume } from '@outrigger/kube';
import * as fc from 'fast-check';
import { isLabelValue } from '../node/label-syntax.ts';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { labelNewVolume } from './label-new-volume.ts';
import { planVolume } from './plan.ts';
import { BETA_ZONE, found, REGION, volumeOf, ZONE } from './pv-label-rig.suite.ts';
import { additionPatch } from './volume-patch.ts';

const value = fc.constantFrom('a', 'b', 'a__b', 'b__a', '__', '', 'not a label', 'é', '-', 'a__-b');
const label = fc.tuple(fc.constantFrom(ZONE, REGION, BETA_ZONE, 'app', 'a~b/c'), fc.constantFrom('a', 'b', 'a__b', ''));
const volume = fc
  .record({
    labels: fc.option(fc.array(label), { nil: undefined }),
    affinity: fc.option(fc.array(fc.constantFrom('a', 'b')), { nil: undefined }),
    csi: fc.boolean(),
    leaving: fc.boolean(),
  })
  .map(({ affinity, csi, labels, leaving }) =>
    volumeOf('v', {
      ...(labels && { labels: Object.fromEntries(labels) }),
      ...(affinity && { affinity }),
      ...(csi && { source: { csi: { driver: 'd', volumeHandle: 'h' } } }),
      ...(leaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    }),
  );
const answer: fc.Arbitrary<VolumeResult> = fc.oneof(
  fc.dictionary(fc.constantFrom(ZONE, REGION, BETA_ZONE, 'app', 'x'), value).map(found),
  fc.constant({ kind: 'unknown' as const }),
  fc.constant({ kind: 'failed' as const, error: new CloudError('unavailable', 'no') }),
);

/** The volume as the API server would have it after the patch. */
function patched(before: PersistentVolume, after: VolumeResult): Promise<PersistentVolume> | undefined {
  const plan = planVolume(before, after);
  if (plan.kind !== 'add') return undefined;
  const api = new FakeNodeApi();
  api.put(before as object);
  const stored = api.nodes.get('v') as PersistentVolume;
  const patch = additionPatch(stored, plan.additions);
  const volumes = api.client.of(resources.persistentVolumes);
  return volumes.patch({ name: 'v' }, patch);
}

test('no label and no node affinity that is there is ever changed', async () => {
  await fc.assert(
    fc.asyncProperty(volume, answer, async (before, after) => {
      const result = await patched(before, after);
      if (!result) return;
      for (const [key, had] of Object.entries(before.metadata?.labels ?? {})) {
        assert.equal(result.metadata?.labels?.[key], had, key);
      }
      if (before.spec?.nodeAffinity) assert.deepEqual(result.spec?.nodeAffinity, before.spec.nodeAffinity);
      const added = Object.keys(result.metadata?.labels ?? {}).filter(
        (key) => !(key in (before.metadata?.labels ?? {})),
      );
      assert.ok(added.every((key) => key === ZONE || key === REGION));
      const { nodeAffinity: _affinity, ...spec } = result.spec ?? {};
      const { nodeAffinity: _before, ...specBefore } = before.spec ?? {};
      assert.deepEqual(spec, specBefore);
      const [term] = before.spec?.nodeAffinity ? [] : (result.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []);
      for (const { values = [] } of term?.matchExpressions ?? [])
        assert.ok(values.length > 0 && values.every(isLabelValue));
      assert.notEqual(planVolume(result, after).kind, 'add', 'a second pass adds nothing');
    }),
    { numRuns: 2_000 },
  );
});

test('CSI volumes, volumes that are going away, and what the cloud does not know are left', () => {
  fc.assert(
    fc.property(volume, answer, (before, after) => {
      const isLeft = before.spec?.csi || before.metadata?.deletionTimestamp || after.kind !== 'found';
      if (isLeft) assert.notEqual(planVolume(before, after).kind, 'add');
    }),
    { numRuns: 1_000 },
  );
});

test('the webhook does what the controller would do, and nothing when it fails', async () => {
  await fc.assert(
    fc.asyncProperty(volume, answer, async (before, after) => {
      const { operations, warnings } = await labelNewVolume(before, { lookUp: async () => after });
      const plan = planVolume(before, undefined).kind === 'look-up' ? planVolume(before, after) : { kind: 'nothing' };
      assert.equal(operations.length > 0, plan.kind === 'add');
      assert.ok(operations.every(({ op, path }) => op === 'add' && !path.endsWith('/-')));
      assert.equal(warnings.length > 0, ['failed', 'differs', 'invalid'].includes(plan.kind));
    }),
    { numRuns: 1_000 },
  );
});

test('a volume that has changed since it was read is not written', async () => {
  const api = new FakeNodeApi();
  api.put(volumeOf('v') as object);
  const stale = api.nodes.get('v') as PersistentVolume;
  api.put(volumeOf('v', { labels: { [ZONE]: 'mine' } }) as object);
  const plan = planVolume(stale, found({ [ZONE]: 'a' }));
  assert.ok(plan.kind === 'add');
  const volumes = api.client.of(resources.persistentVolumes);
  await assert.rejects(volumes.patch({ name: 'v' }, additionPatch(stale, plan.additions)), isInvalid);
  assert.equal(api.nodes.get('v')?.metadata?.labels?.[ZONE], 'mine');
});
