import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CloudError, type InstanceResult } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import type { Node } from '@outrigger/kube';
import * as fc from 'fast-check';
import { noEvidence, withLookUp, withRead, type Evidence } from './evidence.ts';
import { nodeOf, type NodeSpec } from './lifecycle-rig.suite.ts';
import { planNodeLifecycle, type LifecycleOptions, type LifecyclePlan } from './plan.ts';
import { addShutdownTaint, removeShutdownTaint } from './shutdown-taint.ts';
import { upstreamScenarios, type Scenario } from './upstream-scenarios.suite.ts';
import { shutdownTaintKey } from './well-known-names.ts';

const differences = readFileSync(
  new URL('../../../../docs/reference/differences/node-lifecycle.md', import.meta.url),
  'utf8',
);
const shutdownTaint = { key: shutdownTaintKey, effect: 'NoSchedule' } as const;
const options: LifecycleOptions = { providerName: 'fake', deletionGraceMs: 30_000, unknownNodeDeletionMs: 0 };
const wallNow = Date.parse('2026-01-01T00:00:00Z');
const plan = (
  node: Node,
  evidence: Evidence | undefined,
  now: number,
  more: Partial<LifecycleOptions> = {},
): LifecyclePlan => planNodeLifecycle({ node, evidence, now, wallNow, options: { ...options, ...more } });

const found = (state: 'running' | 'shutdown'): InstanceResult => ({
  kind: 'found',
  instance: { providerID: 'fake://n1', state },
});
const absent: InstanceResult = { kind: 'absent', proof: '404' };
const missing: InstanceResult = { kind: 'missing' };
const failed: InstanceResult = { kind: 'failed', error: new CloudError('throttled', 'no', { retryAfterMs: 7_000 }) };

function answersOf(cloud: Scenario['cloud']): readonly [InstanceResult, InstanceResult] {
  if (cloud === 'gone') return [missing, absent];
  if (cloud === 'error') return [failed, failed];
  return [found(cloud), found(cloud)];
}

for (const scenario of upstreamScenarios) {
  test(`upstream's case: ${scenario.name}`, () => {
    const spec: NodeSpec = {
      ready: scenario.ready,
      ...(scenario.providerID === 'none' && { providerID: null }),
      ...(scenario.tainted && { taints: [shutdownTaint] }),
    };
    const [list, read] = answersOf(scenario.cloud);
    let evidence = noEvidence(0);
    for (const at of [1_000, 40_000]) {
      evidence = withRead(withLookUp(evidence, { asOf: at, result: list }), { asOf: at, result: read }, at);
    }
    const { kind } = plan(nodeOf('n1', spec), scenario.ready === 'True' ? undefined : evidence, 40_000);
    assert.equal(kind, scenario.expected);
    const same: Record<Scenario['upstream'], readonly LifecyclePlan['kind'][]> = {
      stays: ['wait', 'nothing'],
      'is deleted': ['delete'],
      'is tainted': ['add-shutdown-taint'],
      'loses the taint': ['remove-shutdown-taint'],
    };
    assert.equal(same[scenario.upstream].includes(kind), scenario.why === undefined);
    if (scenario.why !== undefined)
      assert.ok(differences.includes(scenario.why), 'docs/reference/differences/node-lifecycle.md says why');
  });
}

test('from not Ready to deleted, step by step', () => {
  const node = nodeOf('n1', { ready: 'Unknown' });
  assert.equal(plan(node, undefined, 0).kind, 'look-up');
  let evidence = withLookUp(noEvidence(100), { asOf: 150, result: missing });
  assert.equal(plan(node, evidence, 200).kind, 'read');
  evidence = withRead(evidence, { asOf: 200, result: absent }, 250);
  assert.deepEqual(plan(node, evidence, 250), { kind: 'wait', reason: 'grace', afterMs: 29_950 });
  evidence = withLookUp(evidence, { asOf: 30_300, result: missing });
  assert.equal(plan(node, evidence, 30_300).kind, 'read');
  evidence = withRead(evidence, { asOf: 30_310, result: absent }, 30_320);
  assert.deepEqual(plan(node, evidence, 30_320), {
    kind: 'delete',
    first: { asOf: 200, proof: '404' },
    second: { asOf: 30_310, proof: '404' },
  });
  assert.equal(plan(node, evidence, 90_400).kind, 'look-up', 'a proof that is a minute old');
});

test('an answer of a batch is never a proof, even if it says so', () => {
  const node = nodeOf('n1', { ready: 'Unknown' });
  let evidence = noEvidence(0);
  for (const asOf of [1_000, 40_000, 80_000]) evidence = withLookUp(evidence, { asOf, result: absent });
  assert.equal(plan(node, evidence, 80_000).kind, 'read');
});

test('what was asked before the node stopped being Ready says nothing about it, for the machine or against it', () => {
  const evidence = noEvidence(10);
  for (const result of [found('running'), missing, absent, failed]) {
    assert.deepEqual(withLookUp(evidence, { asOf: 9, result }), evidence);
    assert.deepEqual(withRead(evidence, { asOf: 9, result }, 11), evidence);
  }
});

test('without a grace period there are still two proofs', () => {
  const node = nodeOf('n1', { ready: 'Unknown' });
  const once = withRead(withLookUp(noEvidence(0), { asOf: 5, result: missing }), { asOf: 9, result: absent }, 9);
  assert.equal(plan(node, once, 9, { deletionGraceMs: 0 }).kind, 'wait');
  assert.equal(plan(node, once, 5_000, { deletionGraceMs: 0 }).kind, 'wait');
  const twice = withRead(once, { asOf: 1_009, result: absent }, 1_010);
  assert.equal(plan(node, twice, 1_010, { deletionGraceMs: 0 }).kind, 'delete');
});

test("failures wait as long as the cloud says; a node that is being deleted, and others' nodes, are left alone", () => {
  const node = nodeOf('n1', { ready: 'False' });
  const evidence = withLookUp(noEvidence(0), { asOf: 1, result: failed });
  const waits = plan(node, evidence, 2);
  assert.deepEqual([waits.kind, waits.kind === 'wait' && waits.afterMs], ['wait', 7_000]);
  const deleting = { ...node, metadata: { ...node.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(plan(deleting, undefined, 0), { kind: 'nothing', reason: 'being-deleted' });
  for (const providerID of ['other://n1', 'n1']) {
    assert.deepEqual(plan(nodeOf('n1', { ready: 'False', providerID }), undefined, 0), {
      kind: 'nothing',
      reason: 'not-ours',
    });
  }
});

test('a node without a Ready condition is not Ready', () => {
  assert.equal(plan({ ...nodeOf('n1'), status: {} }, undefined, 0).kind, 'look-up');
});

test('no sequence of answers leads to a deletion without two proofs, a grace period apart, and nothing for the machine between', () => {
  const result = fc.constantFrom<InstanceResult>(found('running'), found('shutdown'), missing, absent, absent, failed);
  const answer = fc.record({
    by: fc.constantFrom('look-up', 'read', 'read'),
    after: fc.constantFrom(10, 1_000, 15_000, 31_000),
    takes: fc.constantFrom(0, 5, 20_000),
    result,
  });
  let deletions = 0;
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 12 }), fc.constantFrom(0, 120_000), (answers, unknownNodeDeletionMs) => {
      const nodes = [nodeOf('n1', { ready: 'Unknown' }), nodeOf('n1', { ready: 'Unknown', providerID: null })];
      const since = 500;
      let evidence = noEvidence(since);
      let now = 0;
      let proofs: number[] = [];
      for (const { by, after, takes, result: said } of answers) {
        now += after;
        const given: DatedAnswer = { asOf: now, result: said };
        now += takes;
        evidence = by === 'read' ? withRead(evidence, given, now) : withLookUp(evidence, given);
        if (given.asOf >= since && said.kind === 'found') proofs = [];
        if (given.asOf >= since && said.kind === 'absent' && by === 'read') proofs.push(given.asOf);
        for (const node of nodes) {
          const { kind } = plan(node, evidence, now, { unknownNodeDeletionMs });
          if (kind !== 'delete') continue;
          deletions += 1;
          assert.ok(node.spec?.providerID || unknownNodeDeletionMs > 0);
          const grace = node.spec?.providerID ? 30_000 : unknownNodeDeletionMs;
          assert.ok((proofs.at(-1) ?? 0) - (proofs[0] ?? 0) >= grace);
        }
      }
    }),
    { numRuns: 5_000 },
  );
  assert.ok(deletions > 50, `the property is about something: ${deletions}`);
});

test('a large share needs a longer proof: beside a witness, or in its own place where nothing is found; else none is enough', () => {
  const surroundings = fc.record({
    isLargeShare: fc.boolean(),
    witnessAsOf: fc.option(fc.nat({ max: 3_000_000 }), { nil: undefined }),
    anyReady: fc.boolean(),
    isOwnPlace: fc.boolean(),
  });
  const node = nodeOf('n1', { ready: 'Unknown' });
  const reasons = new Set<string>();
  fc.assert(
    fc.property(surroundings, fc.integer({ min: 1, max: 3_000_000 }), (around, apart) => {
      const first = withRead(withLookUp(noEvidence(0), { asOf: 1, result: missing }), { asOf: 2, result: absent }, 2);
      const now = 2 + apart;
      const evidence = withRead(withLookUp(first, { asOf: now, result: missing }), { asOf: now, result: absent }, now);
      const made = planNodeLifecycle({ node, evidence, now, wallNow, options, surroundings: around });
      const { isLargeShare, witnessAsOf = 0, anyReady, isOwnPlace } = around;
      const isWitnessed = witnessAsOf > 2 && now - witnessAsOf <= 150_000;
      if (made.kind === 'hold') reasons.add(made.hold);
      const enough = !isLargeShare
        ? apart >= 30_000
        : isWitnessed
          ? apart >= 340_000
          : !anyReady && isOwnPlace && apart >= 1_800_000;
      assert.equal(made.kind === 'delete', enough);
      if (made.kind === 'hold') assert.ok(made.afterMs > 0 && made.afterMs <= 60_000 && made.endsInMs > 0);
    }),
    { numRuns: 2_000 },
  );
  assert.deepEqual([...reasons].toSorted(), ['everything', 'large-share', 'no-witness', 'unproved-place']);
});

test('a proof from another place is a first one', () => {
  let evidence = withRead(noEvidence(0), { asOf: 1, place: 'p', result: absent }, 1);
  assert.deepEqual(evidence.firstAbsence, { asOf: 1, proof: '404', place: 'p' });
  evidence = withRead(evidence, { asOf: 2, place: 'p', result: absent }, 2);
  assert.equal(evidence.firstAbsence?.asOf, 1);
  evidence = withRead(evidence, { asOf: 3, place: 'q', result: absent }, 3);
  assert.deepEqual(evidence.firstAbsence, { asOf: 3, proof: '404', place: 'q' });
});

test('taint patches are guarded: by version for what is added, by value for what is removed', () => {
  const other = { key: 'other', effect: 'NoSchedule' } as const;
  const noExecute = { key: shutdownTaintKey, effect: 'NoExecute' } as const;
  const base = nodeOf('n1', { taints: [other, shutdownTaint, noExecute] });
  const node: Node = { ...base, metadata: { ...base.metadata, resourceVersion: '7' } };
  assert.deepEqual(removeShutdownTaint(node), {
    type: 'json',
    operations: [
      { op: 'test', path: '/metadata/uid', value: 'uid-n1' },
      { op: 'test', path: '/spec/taints/1', value: shutdownTaint },
      { op: 'remove', path: '/spec/taints/1' },
    ],
  });
  const guards = [
    { op: 'test', path: '/metadata/uid', value: 'uid-n1' },
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
  ];
  assert.deepEqual(addShutdownTaint(node), {
    type: 'json',
    operations: [...guards, { op: 'add', path: '/spec/taints/3', value: shutdownTaint }],
  });
  assert.deepEqual(addShutdownTaint({ ...node, spec: {} }), {
    type: 'json',
    operations: [...guards, { op: 'add', path: '/spec/taints', value: [shutdownTaint] }],
  });
});
