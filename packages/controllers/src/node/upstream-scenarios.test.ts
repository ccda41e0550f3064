import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CloudError, type InstanceResult } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { bringNode } from './bring-node.suite.ts';
import { planNode } from './plan.ts';
import { upstreamScenarios, type Scenario } from './upstream-scenarios.suite.ts';
import { uninitializedTaintKey } from './well-known-names.ts';

const differences = readFileSync(new URL('../../../../docs/reference/differences/nodes.md', import.meta.url), 'utf8');
const options = { providerName: 'fake', runsRoutes: false, nodeSyncedEvents: false };
/** Upstream's tables have it on most nodes: it is somebody else's, and stays. */
const other = { key: 'ImproveCoverageTaint', value: 'true', effect: 'NoSchedule' } as const;
const uninitialized = { key: uninitializedTaintKey, value: 'true', effect: 'NoSchedule' } as const;

function nodeOf({ addresses = [], labels = {}, providedIP, providerID, tainted }: Scenario['node']): Node {
  const annotations: Record<string, string> =
    providedIP === undefined ? {} : { 'alpha.kubernetes.io/provided-node-ip': providedIP };
  return {
    metadata: { name: 'node0', uid: 'u0', resourceVersion: '1', labels: { ...labels }, annotations },
    spec: { ...(providerID !== undefined && { providerID }), taints: tainted ? [other, uninitialized] : [other] },
    status: { addresses: [...addresses] },
  };
}

function resultOf(cloud: Scenario['cloud']): InstanceResult {
  if (cloud === 'nothing') return { kind: 'missing' };
  if (cloud === 'error') return { kind: 'failed', error: new CloudError('unavailable', 'metadata error') };
  return { kind: 'found', instance: { providerID: 'fake://12345', state: 'running', ...cloud } };
}

const shownOf = ({ metadata, spec, status }: Node): object => ({
  labels: metadata?.labels,
  providerID: spec?.providerID,
  taints: spec?.taints,
  addresses: status?.addresses,
});

for (const { cloud, differs, expected, node, source } of upstreamScenarios) {
  test(`upstream's case, ${source}${differs === undefined ? '' : `; not as upstream, where ${differs.upstream}`}`, async () => {
    const before = nodeOf(node);
    const answer = { asOf: 0, result: resultOf(cloud) };
    const after = await bringNode(before, planNode({ node: before, answer, now: Date.UTC(2026, 0, 1), options }));
    const changed: Node = nodeOf({ ...node, tainted: false, ...(expected === 'as-it-was' ? {} : expected) });
    assert.deepEqual(shownOf(after.node), shownOf(expected === 'as-it-was' ? before : changed));
    if (differs !== undefined)
      assert.ok(differences.includes(differs.row), 'docs/reference/differences/nodes.md says why');
  });
}
