/** What must never be removed as an orphan, whatever the cloud and the API say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoadBalancerPart, parseCidr, type Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import * as fc from 'fast-check';
import { inUseBy } from './owned-things.ts';
import { mayGo, planOrphans, type ObservedOrphans, type OrphanPlan } from './plan.ts';

const OURS = 'cluster-1';
const UIDS = ['', 'a', 'b', 'c', 'd', 'e', 'f'];
const NAMES = ['n1', 'n2', 'n3', 'n4'];
const CIDRS = ['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24', '10.200.1.0/24', 'nonsense'];

const part: fc.Arbitrary<LoadBalancerPart> = fc.record({
  kind: fc.constantFrom('address', 'dns', 'route'),
  id: fc.string({ minLength: 1, maxLength: 3 }),
  owner: fc.option(fc.record({ clusterId: fc.constantFrom(OURS, 'cluster-2', ''), uid: fc.constantFrom(...UIDS) }), {
    nil: undefined,
  }),
  state: fc.constantFrom('ready', 'pending', 'deleting', 'failed'),
  attributes: fc.constant({}),
});

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const route: fc.Arbitrary<Route> = fc.record({
  id: fc.string({ minLength: 1, maxLength: 3 }),
  destination: fc.constantFrom(...CIDRS),
  targetNodeName: optional(fc.constantFrom(...NAMES)),
  targetProviderID: optional(fc.constantFrom(...NAMES.map((name) => `memory://${name}`))),
  nextHops: optional(fc.constant(['192.0.2.1'])),
  blackhole: fc.boolean(),
  ownership: fc.constantFrom('owned', 'foreign'),
});

const node: fc.Arbitrary<Node> = fc.record({
  metadata: fc.record({ name: fc.constantFrom(...NAMES), uid: fc.constantFrom(...UIDS) }),
  spec: fc.record({
    providerID: fc.constantFrom('', ...NAMES.map((name) => `memory://${name}`)),
    podCIDRs: fc.subarray(CIDRS.slice(0, 4)),
  }),
  status: fc.record({
    addresses: fc.subarray([{ type: 'InternalIP' as const, address: '192.0.2.1' }]),
  }),
});

const lookedAfter = [parseCidr('10.200.0.0/16')].filter((range) => range !== undefined);

const observed: fc.Arbitrary<ObservedOrphans> = fc.record({
  parts: optional(fc.array(part, { maxLength: 12 })),
  routes: optional(fc.array(route, { maxLength: 12 })),
  live: fc.record({
    uids: fc.subarray(UIDS).map((uids) => new Set(uids)),
    left: fc.subarray(UIDS).map((uids) => new Set(uids)),
    nodes: fc.array(node, { maxLength: 2 }),
  }),
  before: fc.constant(new Map<string, number>()),
  now: fc.integer({ min: 1_000, max: 2_000 }),
  leaderSince: fc.constant(0),
  options: fc.record({
    clusterId: fc.constant(OURS),
    policy: fc.constantFrom('report', 'delete'),
    gracePeriodMs: fc.integer({ min: 0, max: 2_000 }),
    maxDeletions: fc.integer({ min: 0, max: 4 }),
    maxFraction: fc.constantFrom(0, 0.3, 0.5, 1),
    lookedAfter: fc.constantFrom([], lookedAfter),
  }),
});

/** The plan of a pass that finds the same as the one before. */
function secondPass(first: ObservedOrphans): { readonly observed: ObservedOrphans; readonly plan: OrphanPlan } {
  const again = { ...first, before: planOrphans(first).suspects, now: first.now + 1 };
  return { observed: again, plan: planOrphans(again) };
}

test('only what this cluster owns, and nothing behind which something lives, is an orphan', () => {
  let found = 0;
  fc.assert(
    fc.property(observed, (first) => {
      const { observed: seen, plan } = secondPass(first);
      const inUse = inUseBy(seen.live.nodes);
      for (const orphan of [...plan.suspected, ...plan.orphans, ...plan.removals]) {
        found += 1;
        if (orphan.kind === 'route') {
          assert.equal(orphan.route.ownership, 'owned');
          assert.ok(!inUse(orphan.route));
          const { targetNodeName, targetProviderID } = orphan.route;
          for (const { metadata, spec } of seen.live.nodes) {
            assert.notEqual(metadata?.name, targetNodeName);
            assert.notEqual(spec?.providerID, targetProviderID);
            assert.ok(!spec?.podCIDRs?.includes(orphan.route.destination));
          }
        } else {
          assert.ok(!seen.live.uids.has(orphan.uid) || seen.live.left.has(orphan.uid));
          if (plan.removals.includes(orphan)) assert.ok(!seen.live.left.has(orphan.uid));
          assert.notEqual(orphan.uid, '');
          for (const { owner } of orphan.parts) {
            assert.deepEqual([owner?.clusterId, owner?.uid], [OURS, orphan.uid]);
          }
        }
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(found > 1_000, 'there were orphans to judge');
});

test('nothing is removed that was seen once, by a reporter, in the grace period, above the fraction or beyond the cap', () => {
  let removed = 0;
  fc.assert(
    fc.property(observed, (first) => {
      assert.deepEqual(planOrphans(first).removals, []);
      const { observed: seen, plan } = secondPass(first);
      const { gracePeriodMs, maxDeletions, maxFraction, policy } = seen.options;
      removed += plan.removals.length;
      assert.ok(plan.removals.length <= maxDeletions);
      if (policy === 'report' || seen.now < gracePeriodMs) assert.deepEqual(plan.removals, []);
      for (const kind of ['load-balancer', 'route'] as const) {
        const suspected = plan.suspected.filter((one) => one.kind === kind && mayGo(one)).length;
        const owned =
          kind === 'route'
            ? (seen.routes ?? []).filter(({ ownership }) => ownership === 'owned').length
            : new Set((seen.parts ?? []).flatMap(({ owner }) => (owner?.clusterId === OURS ? [owner.uid] : []))).size;
        if (suspected > Math.max(1, maxFraction * owned)) {
          assert.ok(!plan.removals.some((one) => one.kind === kind));
          assert.ok(plan.held.some((one) => one.kind === kind) || maxFraction === 1);
        }
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(removed > 200, 'something was removed');
});

test('a list that failed in between is as if nothing had been seen', () => {
  fc.assert(
    fc.property(observed, (first) => {
      const { suspects } = planOrphans({ ...first, parts: undefined, routes: undefined });
      assert.equal(suspects.size, 0);
      assert.deepEqual(planOrphans({ ...first, before: suspects }).removals, []);
    }),
  );
});
