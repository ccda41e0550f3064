import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@outrigger/kube';
import { judgeBeside } from './judge-beside.ts';
import { judgeHandOver } from './judge-managers.ts';
import { TARGET, apiServer, cluster, lease, manager, ours } from './observed-cluster.suite.ts';

/** What both say with Outrigger's only pod, `acme-7` on the node cp-2, while `holder` leads. */
function statesOf(holder: string, { isMirror }: { readonly isMirror: boolean }): readonly string[] {
  const { metadata, ...rest } = ours('acme-7');
  const annotations = isMirror ? { 'kubernetes.io/config.mirror': 'of-its-file' } : {};
  const pod: Pod = { ...rest, metadata: { ...metadata, annotations } };
  const seen = cluster({ pods: [manager, apiServer, pod], leases: [lease('cloud-controller-manager', holder)] });
  return [...judgeHandOver(seen, TARGET), ...judgeBeside(seen, TARGET)].map(({ state }) => state);
}

test('the mirror of a static Pod is the holder of a Lease by its node alone: a kubelet gives it any name', () => {
  assert.deepEqual(statesOf('acme-7_9', { isMirror: true }), ['unknown', 'unknown']);
  assert.deepEqual(statesOf('cp-2_9', { isMirror: true }), ['ok', 'ok']);
  assert.deepEqual(statesOf('acme-7_9', { isMirror: false }), ['ok', 'ok']);
  assert.deepEqual(statesOf('cp-3_9', { isMirror: false }), ['unknown', 'unknown']);
});
