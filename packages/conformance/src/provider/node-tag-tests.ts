/** What `NodeTags` promises. The tags are those of the fixture's cloud config. */
import { strict as assert } from 'node:assert';
import { isCloudError, type NodeRef, type NodeTagResult } from '@outrigger/cloud-provider';
import { has, type ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import type { ProviderRig } from './provider-rig.ts';

const TYPES = 'packages/cloud-provider/src/node-tags.ts NodeTags.put';

function promise(name: string, run: (rig: ProviderRig) => Promise<void>): ConformanceTest {
  return { name: `node-tags / ${name}`, feature: 'node-tags', source: TYPES, declares: has('nodeTags'), run };
}

export const nodeTagTests: readonly ConformanceTest[] = [
  promise('machines get what they lack, and lack nothing then', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    await lacks(rig, a);
    await lacks(rig, b);
    assert.deepEqual(await put(rig, a, b), ['done', 'done']);
    await lacksNothing(rig, a);
    await lacksNothing(rig, b);
  }),

  promise('what is there already is put once more without harm', async (rig) => {
    const a = await rig.createNode('a');
    await lacks(rig, a);
    assert.deepEqual(await put(rig, a), ['done']);
    assert.deepEqual(await put(rig, a), ['done']);
    await lacksNothing(rig, a);
  }),

  promise('machines that are not named get nothing', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    await lacks(rig, b);
    await put(rig, a);
    await lacksNothing(rig, a);
    assert.ok((await missing(rig, b)) > 0, 'a machine that was not named has the tags');
  }),

  promise('a machine that is gone fails alone', async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    await lacks(rig, a);
    await rig.deleteMachine(b);
    assert.deepEqual(await put(rig, b, a), ['not-found', 'done']);
    await lacksNothing(rig, a);
  }),

  promise('an answer that is lost is found by the next try', async (rig) => {
    const a = await rig.createNode('a');
    await lacks(rig, a);
    rig.faults.set(({ member }) => (member === 'put' ? { kind: 'lose' } : undefined));
    await put(rig, a).catch((error: unknown) => assert.ok(isCloudError(error), String(error)));
    rig.faults.set();
    assert.deepEqual(await put(rig, a), ['done']);
    await lacksNothing(rig, a);
  }),
];

/** By the cloud config. */
async function lacks(rig: ProviderRig, node: NodeRef): Promise<void> {
  if ((await missing(rig, node)) === 0)
    throw new NotVerifiable(
      "the fixture's cloud config asks for no tags on machines of nodes, or for those that new ones have",
    );
}

/** A cloud may need a while to show it. */
async function lacksNothing(rig: ProviderRig, node: NodeRef): Promise<void> {
  for (let attempt = 0; (await missing(rig, node)) > 0; attempt++) {
    assert.ok(attempt < 30, `the machine of ${node.name} has its tags, and the provider says that it lacks some`);
    await rig.wait(2_000);
  }
}

async function missing(rig: ProviderRig, node: NodeRef): Promise<number> {
  return Object.keys((await rig.instanceOf(node)).missingTags ?? {}).length;
}

/** What each came to: the code of what failed. */
async function put(rig: ProviderRig, ...nodes: readonly NodeRef[]): Promise<readonly string[]> {
  const nodeTags = rig.use('nodeTags');
  const results = await rig.call('put', (call) => nodeTags.put(nodes, call), { writes: true });
  assert.equal(results.length, nodes.length, 'an answer for each node');
  return results.map(wordOf);
}

function wordOf(result: NodeTagResult): string {
  if (result.kind !== 'failed') return result.kind;
  assert.ok(isCloudError(result.error), `not a CloudError: ${String(result.error)}`);
  return result.error.code;
}
