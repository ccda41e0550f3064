import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeBeside } from './judge-beside.ts';
import { judgeHandOver } from './judge-managers.ts';
import { TARGET, apiServer, cluster, lease, manager, mirrorOf, ours } from './observed-cluster.suite.ts';
import type { ObservedCluster } from './observed-cluster.ts';

/** With Outrigger's only pod, `acme-7` on the node cp-2, while `holder` leads. */
function seenWith(holder: string, isMirror: boolean): ObservedCluster {
  const pod = isMirror ? mirrorOf(ours('acme-7')) : ours('acme-7');
  return cluster({ pods: [manager, apiServer, pod], leases: [lease('cloud-controller-manager', holder)] });
}

/** What both say then. */
function statesOf(holder: string, { isMirror }: { readonly isMirror: boolean }): readonly string[] {
  const seen = seenWith(holder, isMirror);
  return [...judgeHandOver(seen, TARGET), ...judgeBeside(seen, TARGET)].map(({ state }) => state);
}

test('the mirror of a static Pod is the holder of a Lease by its node alone: a kubelet gives it any name', () => {
  assert.deepEqual(statesOf('acme-7_9', { isMirror: true }), ['unknown', 'unknown']);
  assert.deepEqual(statesOf('cp-2_9', { isMirror: true }), ['ok', 'ok']);
  assert.deepEqual(statesOf('acme-7_9', { isMirror: false }), ['ok', 'ok']);
  assert.deepEqual(statesOf('cp-3_9', { isMirror: false }), ['unknown', 'unknown']);
});

test('where a static Pod has the name of the host of the holder, it is said where to look', () => {
  const textOf = (holder: string): string | undefined => judgeHandOver(seenWith(holder, true), TARGET)[0]?.text;
  assert.equal(
    textOf('acme-7_9'),
    'acme-7_9 leads; the static Pod acme-7 on node cp-2 has that name, which is inconclusive',
  );
  assert.equal(textOf('cp-3_9'), 'cp-3_9 leads, which is no pod of kube-system');
});
