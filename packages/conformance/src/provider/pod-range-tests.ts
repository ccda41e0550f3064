/** What `PodRanges` promises. */
import { strict as assert } from 'node:assert';
import { isCloudError, type NodeRef, type PodRangeResult } from '@outrigger/cloud-provider';
import { has, type ConformanceTest } from './conformance-test.ts';
import type { ProviderRig } from './provider-rig.ts';

const TYPES = 'packages/cloud-provider/src/pod-ranges.ts PodRanges.assign';

function promise(name: string, run: (rig: ProviderRig) => Promise<void>): ConformanceTest {
  return { name: `pod-ranges / ${name}`, feature: 'pod-ranges', source: TYPES, declares: has('podRanges'), run };
}

export const podRangeTests: readonly ConformanceTest[] = [
  promise('a machine gets its ranges, of both families, and shows them', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    assert.deepEqual(await assign(rig, [a, '10.0.0.0/24', 'fd00::/64'], [b, '10.0.1.0/24']), ['done', 'done']);
    assert.deepEqual((await rig.instanceOf(a)).podCidrs?.toSorted(), ['10.0.0.0/24', 'fd00::/64']);
    assert.deepEqual((await rig.instanceOf(b)).podCidrs, ['10.0.1.0/24']);
  }),

  promise('what a machine has already exists; others for it are a conflict, and nothing is taken', async (rig) => {
    const a = await rig.createNode('a');
    await assign(rig, [a, '10.0.0.0/24']);
    assert.deepEqual(await assign(rig, [a, '10.0.0.0/24'], [a, '10.0.2.0/24']), ['exists', 'conflict']);
    assert.deepEqual((await rig.instanceOf(a)).podCidrs, ['10.0.0.0/24']);
  }),

  promise('no two machines have a part of one range', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    await assign(rig, [a, '10.0.0.0/24', 'fd00::/64']);
    assert.deepEqual(
      await assign(rig, [b, '10.0.0.0/24'], [b, '10.0.0.128/25'], [b, '10.0.0.0/16'], [b, 'fd00::/63']),
      ['conflict', 'conflict', 'conflict', 'conflict'],
    );
    assert.deepEqual((await rig.instanceOf(b)).podCidrs ?? [], []);
  }),

  promise('all of a request, or none', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    await assign(rig, [a, '10.0.0.0/24']);
    assert.deepEqual(await assign(rig, [b, '10.0.1.0/24', '10.0.0.0/24']), ['conflict']);
    assert.deepEqual((await rig.instanceOf(b)).podCidrs ?? [], []);
  }),

  promise('a machine that is gone fails alone', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    await rig.deleteMachine(b);
    assert.deepEqual(await assign(rig, [b, '10.0.1.0/24'], [a, '10.0.0.0/24']), ['not-found', 'done']);
  }),

  promise('an answer that is lost is found by the next try', async (rig) => {
    const a = await rig.createNode('a');
    rig.faults.set(({ member }) => (member === 'assign' ? { kind: 'lose' } : undefined));
    await assign(rig, [a, '10.0.0.0/24']).catch((error: unknown) => assert.ok(isCloudError(error), String(error)));
    rig.faults.set();
    assert.deepEqual(await assign(rig, [a, '10.0.0.0/24']), ['exists']);
    assert.deepEqual((await rig.instanceOf(a)).podCidrs, ['10.0.0.0/24']);
  }),
];

/** What each came to: the code of what failed. */
async function assign(
  rig: ProviderRig,
  ...requests: readonly (readonly [NodeRef, ...string[]])[]
): Promise<readonly string[]> {
  const podRanges = rig.use('podRanges');
  const wanted = requests.map(([node, ...podCidrs]) => ({ node, podCidrs }));
  const results = await rig.inBatches(podRanges, wanted, (batch) =>
    rig.call('assign', (call) => podRanges.assign(batch, call), { writes: true }),
  );
  assert.equal(results.length, wanted.length, 'an answer for each request');
  return results.map(wordOf);
}

function wordOf(result: PodRangeResult): string {
  if (result.kind !== 'failed') return result.kind;
  assert.ok(isCloudError(result.error), `not a CloudError: ${String(result.error)}`);
  return result.error.code;
}
