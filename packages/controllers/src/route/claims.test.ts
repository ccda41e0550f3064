import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlaps, parseCidr, type Cidr, type Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import * as fc from 'fast-check';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { planRoutes } from './plan.ts';
import type { NodeRoutes, RoutePlan } from './planned-route.ts';

/** `day`: when it was made. */
function nodeOf(name: string, day: number, podCIDRs: readonly string[], machine = name): Node {
  const creationTimestamp = new Date(Date.UTC(2026, 0, day)).toISOString();
  return {
    metadata: { name, uid: `uid-${name}`, creationTimestamp },
    spec: { providerID: `fake://${machine}`, podCIDRs: [...podCIDRs] },
    status: {},
  };
}

function routeTo(machine: string, destination: string, more: Partial<Route> = {}): Route {
  const id = `${destination} ${machine}`;
  return { id, destination, targetProviderID: `fake://${machine}`, blackhole: false, ownership: 'owned', ...more };
}

const clusterCidrs = parseClusterCidrs('10.0.0.0/16,fd00::/48');

function plan(nodes: readonly Node[], routes: readonly Route[] = [], services = ''): RoutePlan {
  const serviceCidrs = parseClusterCidrs(services);
  return planRoutes({ nodes, routes, clusterCidrs, serviceCidrs, providerName: 'fake' });
}

const created = ({ creates }: RoutePlan): string[] =>
  creates.map(({ node, destination }) => `${destination} → ${node.metadata?.name}`).toSorted();

function standingOf({ nodes }: RoutePlan, name: string): Pick<NodeRoutes, 'complete' | 'disputed' | 'problems'> {
  const found = nodes.find(({ node }) => node.metadata?.name === name);
  assert.ok(found);
  return { complete: found.complete, problems: found.problems, disputed: found.disputed };
}

const victim = nodeOf('victim', 1, ['10.0.3.0/24', 'fd00:0:0:3::/64']);
const ofVictim = ['10.0.3.0/24 → victim', 'fd00:0:0:3::/64 → victim'];

for (const [range, around] of [
  ['10.0.3.0/25', '10.0.3.0/24'],
  ['10.0.3.77/32', '10.0.3.0/24'],
  ['10.0.0.0/16', '10.0.3.0/24'],
  ['fd00:0:0:3:8000::/65', 'fd00:0:0:3::/64'],
  ['fd00::/48', 'fd00:0:0:3::/64'],
] as const) {
  test(`a node gets no route of ${range}, which draws traffic of ${around} of an older one`, () => {
    const evil = nodeOf('a-evil', 2, [range]);
    const problems = [`Its pod CIDR ${range} overlaps ${around} of node victim, which is older.`];
    for (const nodes of [
      [evil, victim],
      [victim, evil],
    ]) {
      for (const routes of [[], [routeTo('victim', '10.0.3.0/24'), routeTo('victim', 'fd00:0:0:3::/64')]]) {
        const planned = plan(nodes, routes);
        assert.deepEqual([created(planned), planned.deletes], [routes.length > 0 ? [] : ofVictim, []]);
        assert.deepEqual(standingOf(planned, 'a-evil'), { complete: false, problems, disputed: [] });
        assert.deepEqual(standingOf(planned, 'victim').problems, []);
      }
    }
  });
}

test('nodes without routes of ours count: those of other providers, and those that are not initialised yet', () => {
  for (const providerID of ['another://x', undefined]) {
    const { metadata, spec } = victim;
    const other: Node = {
      metadata: { ...metadata },
      spec: { podCIDRs: spec?.podCIDRs ?? [], ...(providerID && { providerID }) },
    };
    assert.deepEqual(created(plan([nodeOf('a-evil', 2, ['10.0.3.0/25']), other])), []);
  }
});

test('what is refused is in nobody’s way: newer nodes get their routes', () => {
  const evil = nodeOf('a-evil', 2, ['10.0.0.0/16']);
  assert.deepEqual(created(plan([evil, nodeOf('new', 3, ['10.0.4.0/24']), victim])), [
    ...ofVictim.slice(0, 1),
    '10.0.4.0/24 → new',
    ...ofVictim.slice(1),
  ]);
});

test('who comes first with more than one node needs keeps nobody from a route', () => {
  for (const [range, others] of [
    ['10.0.0.0/16', ['10.0.0.0/19']],
    ['10.0.0.0/17', ['10.0.0.0/24', '10.0.1.0/24']],
  ] as const) {
    const nodes = [nodeOf('a-evil', 1, [range]), ...others.map((one, i) => nodeOf(`n${i}`, 2 + i, [one]))];
    const wanted = others.map((one, i) => `${one} → n${i}`);
    assert.deepEqual(created(plan(nodes)), wanted);
    const { problems } = standingOf(plan(nodes), 'a-evil');
    assert.deepEqual(problems, [
      `Its pod CIDR ${range} overlaps ${others[0]} of node n0, and is too wide for one node.`,
    ]);
    const before = plan(nodes, [routeTo('a-evil', range)]);
    assert.deepEqual([created(before), before.deletes], [wanted, []], 'the longer prefix counts');
  }
});

test('a node in the range of Services gets no route', () => {
  for (const range of ['10.0.96.0/24', '10.0.0.0/16', 'fd00:0:0:96::/64']) {
    const planned = plan(
      [nodeOf('a', 1, [range]), nodeOf('b', 2, ['10.0.1.0/24'])],
      [],
      '10.0.96.0/20,fd00:0:0:96::/112',
    );
    assert.deepEqual(created(planned), ['10.0.1.0/24 → b']);
    const text = /^Its pod CIDR \S+ overlaps the range of Services \S+ \(--service-cluster-ip-range\)\.$/u;
    assert.match(standingOf(planned, 'a').problems.join(), text);
  }
});

test('a route that is there stays with its node, which is told; once it is gone it is not made again', () => {
  const [older, younger] = [nodeOf('older', 1, ['10.0.1.0/24']), nodeOf('younger', 2, ['10.0.1.0/25'])];
  const there = [routeTo('older', '10.0.1.0/24'), routeTo('younger', '10.0.1.0/25')];
  const kept = plan([younger, older], there);
  assert.deepEqual([created(kept), kept.deletes], [[], []]);
  const why = ['Its pod CIDR 10.0.1.0/25 overlaps 10.0.1.0/24 of node older, which is older.'];
  assert.deepEqual(standingOf(kept, 'younger'), { complete: true, problems: [], disputed: why });
  assert.deepEqual(standingOf(kept, 'older'), { complete: true, problems: [], disputed: [] });
  const hole = routeTo('younger', '10.0.1.0/25', { blackhole: true });
  assert.deepEqual(
    plan([younger, older], [hole]).deletes.map(({ reason }) => reason),
    ['blackhole'],
  );
  assert.deepEqual(created(plan([younger, older], [])), ['10.0.1.0/24 → older']);
});

test('of nodes with one pod CIDR and one machine the oldest keeps the route, whatever the order of the store', () => {
  const twin = nodeOf('a-evil', 2, ['10.0.3.0/24'], 'victim');
  for (const nodes of [
    [twin, victim],
    [victim, twin],
  ]) {
    const planned = plan(nodes, [routeTo('victim', '10.0.3.0/24'), routeTo('victim', 'fd00:0:0:3::/64')]);
    assert.deepEqual([created(planned), planned.deletes], [[], []]);
    assert.deepEqual(standingOf(planned, 'victim'), { complete: true, problems: [], disputed: [] });
    assert.deepEqual(standingOf(planned, 'a-evil').problems, ['Its pod CIDR 10.0.3.0/24 is that of node victim too.']);
  }
});

const someRange = fc.oneof(
  fc
    .record({ third: fc.nat({ max: 7 }), half: fc.nat({ max: 1 }), bits: fc.integer({ min: 21, max: 25 }) })
    .map(({ bits, half, third }) => `10.0.${third}.${half * 128}/${bits}`),
  fc
    .record({ group: fc.nat({ max: 3 }), bits: fc.integer({ min: 61, max: 65 }) })
    .map(({ bits, group }) => `fd00:0:0:${group}::/${bits}`),
);
const someNode = fc.record({
  day: fc.integer({ min: 1, max: 5 }),
  podCIDRs: fc.uniqueArray(someRange, { maxLength: 2 }),
});

test('property: routes of two nodes never overlap, the older one has its own, and the order of the store does not matter', () => {
  const someNodes = fc
    .array(someNode, { maxLength: 8 })
    .map((all) => all.map(({ day, podCIDRs }, i) => nodeOf(`n${i}`, day, podCIDRs)))
    .chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
  const cidr = (text: string): Cidr => {
    const found = parseCidr(text);
    assert.ok(found);
    return found;
  };
  fc.assert(
    fc.property(someNodes, ([nodes, shuffled]) => {
      const planned = plan(nodes);
      assert.deepEqual(created(planned), created(plan(shuffled)));
      const routes = planned.creates.map(({ node, destination }) => ({ node, range: cidr(destination) }));
      for (const [i, a] of routes.entries()) {
        for (const b of routes.slice(i + 1)) assert.ok(a.node === b.node || !overlaps(a.range, b.range));
      }
      const isOlder = (a: Node, b: Node): boolean =>
        `${a.metadata?.creationTimestamp} ${a.metadata?.name}` < `${b.metadata?.creationTimestamp} ${b.metadata?.name}`;
      for (const node of nodes) {
        for (const range of (node.spec?.podCIDRs ?? []).map(cidr)) {
          const has = routes.some((one) => one.node === node && one.range.text === range.text);
          const older = routes.find((one) => isOlder(one.node, node) && overlaps(one.range, range));
          assert.equal(has, !older, `${range.text} of ${node.metadata?.name}`);
        }
      }
      // Once they are there, nothing is left to do.
      const there = planned.creates.map(({ node, destination }) => routeTo(node.metadata?.name ?? '', destination));
      const after = plan(shuffled, there);
      assert.deepEqual([after.creates, after.deletes], [[], []]);
      assert.ok(after.nodes.every(({ disputed }) => disputed.length === 0));
    }),
    { numRuns: 1_000 },
  );
});

test('with 5,000 nodes and one that has the range of all, a plan holds up nothing', () => {
  const range = (i: number): string => `10.${i >> 8}.${i & 255}.0/24`;
  const nodes = Array.from({ length: 5_000 }, (_, i) => nodeOf(`n${i}`, 1 + (i % 300), [range(i)]));
  const routes = nodes.map((_, i) => routeTo(`n${i}`, range(i)));
  const given = { routes, clusterCidrs: parseClusterCidrs('10.0.0.0/8'), providerName: 'fake' };
  const evil = nodeOf('evil', 400, ['10.0.0.0/8']);
  const took = Array.from({ length: 7 }, () => {
    const before = process.threadCpuUsage();
    const { creates, deletes } = planRoutes({ ...given, nodes: [evil, ...nodes] });
    assert.deepEqual([creates, deletes], [[], []]);
    const { system, user } = process.threadCpuUsage(before);
    return (system + user) / 1_000;
  });
  assert.ok(Math.min(...took) < 50, `${took.join(', ')} ms of CPU`);
});
