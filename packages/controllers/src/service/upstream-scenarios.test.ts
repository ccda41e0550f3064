import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { wakesLoadBalancers } from './back-ends.ts';
import { upstreamScenarios, type Traits } from './upstream-scenarios.suite.ts';

const taint = (key: string): { key: string; effect: 'NoSchedule' } => ({ key, effect: 'NoSchedule' });

function nodeWith(traits: Traits): Node {
  const { deleted, draining, excluded, otherCondition, otherLabel, otherTaint, providerID, ready } = traits;
  const id = { another: 'fake://other', none: undefined }[providerID ?? 'none'];
  return {
    metadata: {
      name: 'n',
      uid: 'n',
      labels: {
        ...(excluded && { 'node.kubernetes.io/exclude-from-external-load-balancers': '' }),
        ...(otherLabel && { other: '' }),
      },
      ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      ...(providerID === undefined && { providerID: 'fake://n' }),
      ...(id !== undefined && { providerID: id }),
      taints: [...(draining ? [taint('ToBeDeletedByClusterAutoscaler')] : []), ...(otherTaint ? [taint('other')] : [])],
    },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      conditions: [
        ...(ready === 'unset' ? [] : [{ type: 'Ready', status: ready ?? ('True' as const) }]),
        ...(otherCondition === undefined ? [] : [{ type: 'Other', status: otherCondition }]),
      ],
    },
  };
}

/** Unlike upstream: a node whose removal was called off has left the back ends at some other change, and comes back. */
const WAKES_HERE: ReadonlySet<string> = new Set(['not drained any more', 'not Ready, not drained any more']);

for (const { after, before, name, source, upstream } of upstreamScenarios) {
  const wakes = upstream || WAKES_HERE.has(name);
  test(`upstream's case, ${source}: ${name}: ${wakes ? 'wakes' : 'wakes nothing'}`, () => {
    const change = { type: 'update', key: 'n', object: nodeWith(after), previous: nodeWith(before) } as const;
    assert.equal(wakesLoadBalancers(change, { providerName: 'fake', isDefault: true }), wakes);
  });
}

test('all cases of the two tables are there, once', () => {
  assert.equal(
    new Set(upstreamScenarios.map(({ name, source }) => `${source} ${name}`)).size,
    upstreamScenarios.length,
  );
  assert.equal(upstreamScenarios.length, 47);
});
