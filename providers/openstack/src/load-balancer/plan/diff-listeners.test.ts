import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeFor } from '../desired/tree-inputs.suite.ts';
import { Rig, served, serviceNamed } from '../rig.suite.ts';
import { loadBalancerIn, type ObservedListener } from '../observed-tree.ts';
import { diffListeners } from './diff-listeners.ts';

const MOST_RANGES = 4_096;
const all = Array.from({ length: MOST_RANGES }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`).toSorted();

/** How often an element of either list is read, and what the plan is. */
async function costOf(thereRanges: readonly string[], wantedRanges: readonly string[]) {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const [part] = await rig.look(served(web, await rig.bring(web)));
  const loadBalancer = loadBalancerIn(part!);
  let reads = 0;
  const counted = (list: readonly string[]): readonly string[] =>
    new Proxy(list, {
      get: (target, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/u.test(key)) reads++;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
  const tree = treeFor();
  const { steps } = diffListeners({
    loadBalancer,
    children: {
      ...loadBalancer.children!,
      listeners: loadBalancer.children!.listeners.map((one): ObservedListener => ({
        ...one,
        allowedCidrs: counted(thereRanges),
      })),
    },
    tree: { ...tree, listeners: tree.listeners.map((one) => ({ ...one, allowedCidrs: counted(wantedRanges) })) },
    tags: [],
    isOurs: () => true,
  });
  return { reads, updates: steps.filter(({ summary }) => summary.startsWith('update the listener')) };
}

test('source ranges that are as they should be are read a few times each, not once for each other', async () => {
  const { reads, updates } = await costOf(all, all);
  assert.deepEqual(updates, []);
  assert.ok(reads <= 10 * MOST_RANGES, `${reads} reads`);
});

test('so are those that change, and whom the change shuts out is found', async () => {
  for (const [wanted, leavesOut] of [
    [all.slice(0, -1), true],
    [[...all, '192.0.2.0/24'], false],
  ] as const) {
    const { reads, updates } = await costOf(all, wanted);
    assert.deepEqual(
      updates.map((one) => one.leavesOut),
      [leavesOut],
    );
    assert.ok(reads <= 10 * MOST_RANGES, `${reads} reads`);
  }
});
