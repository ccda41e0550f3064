import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, parseCidr, type Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import * as fc from 'fast-check';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { leadsTo } from './leads-to.ts';
import { planRoutes } from './plan.ts';
import type { RoutePlan } from './planned-route.ts';
import { upstreamScenarios, type ScenarioRoute } from './upstream-scenarios.suite.ts';

function nodeOf(name: string, podCIDRs: readonly string[], more: Partial<Node> = {}): Node {
  return {
    metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', ...more.metadata },
    spec: { providerID: `fake://${name}`, podCIDRs: [...podCIDRs], ...more.spec },
    status: more.status ?? {},
  };
}

function routeOf(id: string, destination: string, node: string | undefined, more: Partial<Route> = {}): Route {
  const target = node === undefined ? {} : { targetNodeName: node, targetProviderID: `fake://${node}` };
  return { id, destination, ...target, blackhole: false, ownership: 'owned', ...more };
}

function plan(nodes: readonly Node[], routes: readonly Route[], clusterCidr = '10.0.0.0/16,fd00::/48'): RoutePlan {
  return planRoutes({ nodes, routes, clusterCidrs: parseClusterCidrs(clusterCidr), providerName: 'fake' });
}

const created = ({ creates }: RoutePlan): string[] =>
  creates.map(({ node, destination }) => `${destination} → ${node.metadata?.name}`);
const deleted = ({ deletes }: RoutePlan): string[] => deletes.map(({ route, reason }) => `${route.id} ${reason}`);

/** Passes until there is nothing to do, as a cloud that does what it is told. */
function settle(
  nodes: readonly Node[],
  routes: readonly ScenarioRoute[],
  clusterCidr: string,
): { readonly routes: readonly string[]; readonly complete: readonly boolean[] } {
  let there = routes.map(({ node, to, ...route }, i): Route => ({
    ownership: 'owned',
    blackhole: route.blackhole ?? false,
    id: `r${i}`,
    destination: route.destination,
    ...(node !== undefined && { targetNodeName: node }),
    ...(to !== undefined && { nextHops: [to] }),
  }));
  for (let pass = 0; pass < 5; pass++) {
    const { creates, deletes } = plan(nodes, there, clusterCidr);
    if (creates.length + deletes.length === 0) break;
    const gone = new Set(deletes.map(({ route }) => route));
    there = there.filter((route) => !gone.has(route));
    for (const { node, destination } of creates) there.push(routeOf('new', destination, node.metadata?.name));
  }
  const complete = plan(nodes, there, clusterCidr).nodes;
  return {
    routes: there.map(({ destination, targetNodeName = '' }) => `${destination} → ${targetNodeName}`).toSorted(),
    complete: nodes.map((node) => complete.some((one) => one.node === node && one.complete)),
  };
}

for (const { name, clusterCidr, nodes, routes, expected, ready } of upstreamScenarios) {
  test(`as upstream: ${name}`, () => {
    const end = settle(
      nodes.map(({ name, podCIDRs, ip }) =>
        nodeOf(name, podCIDRs, { status: { addresses: [{ type: 'InternalIP', address: ip }] } }),
      ),
      routes,
      clusterCidr,
    );
    assert.deepEqual(end.routes, expected.toSorted());
    assert.deepEqual(end.complete, ready);
  });
}

test('a node gets a route for each pod CIDR, in canonical form and once', () => {
  assert.deepEqual(created(plan([nodeOf('a', ['10.0.1.0/24', '10.0.1.7/24', 'fd00:0:0:1::/64'])], [])), [
    '10.0.1.0/24 → a',
    'fd00:0:0:1::/64 → a',
  ]);
  const old = nodeOf('b', []);
  assert.deepEqual(created(plan([{ ...old, spec: { ...old.spec, podCIDR: '10.0.2.0/24' } }], [])), ['10.0.2.0/24 → b']);
});

test('foreign routes are never touched: one that is right will do, another is in the way', () => {
  const foreign = routeOf('f', '10.0.1.0/24', 'other', { ownership: 'foreign' });
  const inTheWay = plan([nodeOf('a', ['10.0.1.0/24'])], [foreign]);
  assert.deepEqual([created(inTheWay), deleted(inTheWay)], [[], []]);
  assert.match(inTheWay.nodes[0]?.problems[0] ?? '', /used by the route f, which this cluster did not create/);
  const right = plan([nodeOf('a', ['10.0.1.0/24'])], [routeOf('f', '10.0.1.0/24', 'a', { ownership: 'foreign' })]);
  assert.deepEqual([created(right), deleted(right), right.nodes[0]?.complete], [[], [], true]);
  assert.deepEqual(
    deleted(plan([], [foreign, routeOf('g', '10.0.9.0/24', undefined, { ownership: 'foreign', blackhole: true })])),
    [],
  );
});

test('only what is wholly inside of the cluster CIDR is removed', () => {
  const routes = [
    routeOf('in', '10.0.200.0/24', 'gone'),
    routeOf('out', '10.1.0.0/24', 'gone'),
    routeOf('around', '10.0.0.0/8', 'gone'),
    routeOf('default', '0.0.0.0/0', 'gone', { blackhole: true }),
    routeOf('broken', 'not a range', 'gone'),
  ];
  assert.deepEqual(deleted(plan([], routes)), ['in node-gone']);
});

test('a wrong target and a blackhole are removed first; the new route is in the plan that follows', () => {
  const node = nodeOf('a', ['10.0.1.0/24']);
  for (const [route, reason] of [
    [routeOf('r', '10.0.1.0/24', 'old'), 'wrong-target'],
    [routeOf('r', '10.0.1.0/24', 'a', { targetProviderID: 'fake://before' }), 'wrong-target'],
    [routeOf('r', '10.0.1.0/24', 'a', { blackhole: true }), 'blackhole'],
  ] as const) {
    const first = plan([node], [route]);
    assert.deepEqual([created(first), deleted(first)], [[], [`r ${reason}`]]);
  }
  assert.deepEqual(created(plan([node], [])), ['10.0.1.0/24 → a']);
});

test('a route to addresses is replaced when one is no longer the node’s, and not when nothing is known of them', () => {
  const at = (address: string): Node =>
    nodeOf('a', ['10.0.1.0/24'], { status: { addresses: [{ type: 'InternalIP', address }] } });
  const route = routeOf('r', '10.0.1.0/24', 'a', { nextHops: ['192.0.2.1'] });
  assert.deepEqual(deleted(plan([at('192.0.2.1')], [route])), []);
  assert.deepEqual(deleted(plan([at('192.0.2.9')], [route])), ['r wrong-target']);
  assert.deepEqual(deleted(plan([nodeOf('a', ['10.0.1.0/24'])], [route])), []);
});

test('where a route leads is not known: it stays, and the cloud is asked to make it', () => {
  const unknown = plan([nodeOf('a', ['10.0.1.0/24'])], [routeOf('r', '10.0.1.0/24', undefined)]);
  assert.deepEqual([created(unknown), deleted(unknown)], [['10.0.1.0/24 → a'], []]);
});

test('routes of nodes that register again, wait for a pod CIDR or are another provider’s stay', () => {
  const route = routeOf('r', '10.0.1.0/24', 'a');
  const registered = nodeOf('a', ['10.0.1.0/24']);
  delete registered.spec?.providerID;
  const others = nodeOf('a', ['10.0.1.0/24'], { spec: { providerID: 'another://a', podCIDRs: ['10.0.1.0/24'] } });
  for (const node of [
    registered,
    others,
    nodeOf('a', []),
    nodeOf('renamed', [], { spec: { providerID: 'fake://a' } }),
  ]) {
    const { creates, deletes, nodes } = plan([node], [route]);
    assert.deepEqual([creates, deletes, nodes], [[], [], []]);
  }
  assert.deepEqual(deleted(plan([nodeOf('a', ['10.0.2.0/24'])], [route])), ['r node-gone']);
});

test('a node that is being deleted keeps its route and gets no new one', () => {
  const leaving = nodeOf('a', ['10.0.1.0/24']);
  if (leaving.metadata) leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  assert.deepEqual(deleted(plan([leaving], [routeOf('r', '10.0.1.0/24', 'a')])), []);
  assert.deepEqual(created(plan([leaving], [])), []);
});

test('of two nodes with one pod CIDR the one with the route keeps it, else the older gets it; the other is told', () => {
  const [older, younger] = [nodeOf('b', ['10.0.1.0/24']), nodeOf('a', ['10.0.1.0/24'])];
  if (younger.metadata) younger.metadata.creationTimestamp = '2026-01-02T00:00:00Z';
  assert.deepEqual(created(plan([younger, older], [])), ['10.0.1.0/24 → b']);
  const kept = plan([younger, older], [routeOf('r', '10.0.1.0/24', 'a')]);
  assert.deepEqual([created(kept), deleted(kept)], [[], []]);
  const told = kept.nodes.find(({ node }) => node === older);
  assert.deepEqual([told?.complete, told?.problems], [false, ['Its pod CIDR 10.0.1.0/24 is that of node a too.']]);
});

test('a pod CIDR outside of the cluster’s gets no route, unless its whole family is another network’s', () => {
  const outside = plan([nodeOf('a', ['172.16.0.0/24'])], [], '10.0.0.0/16');
  assert.deepEqual([created(outside), outside.nodes[0]?.complete], [[], false]);
  assert.match(
    outside.nodes[0]?.problems[0] ?? '',
    /172\.16\.0\.0\/24 is outside of --cluster-cidr \(10\.0\.0\.0\/16\)/,
  );
  const mixed = plan([nodeOf('a', ['10.0.1.0/24', 'fd00::/64'])], [routeOf('r', '10.0.1.0/24', 'a')], '10.0.0.0/16');
  assert.deepEqual([created(mixed), mixed.nodes[0]?.complete, mixed.nodes[0]?.problems], [[], true, []]);
  const broken = plan([nodeOf('a', ['x'])], []);
  assert.match(broken.nodes[0]?.problems[0] ?? '', /"x" is not a CIDR range/);
  assert.equal(plan([nodeOf('a', ['fd00::/64'])], [], '10.0.0.0/16').nodes[0]?.complete, false);
});

const someCidr = fc.constantFrom<string>('10.0.1.0/24', '10.0.2.0/24', 'fd00:0:0:1::/64', '10.1.0.0/24', '0.0.0.0/0');
const someName = fc.constantFrom('a', 'b', 'c');
const someNode = fc.record({
  name: someName,
  podCIDRs: fc.uniqueArray(someCidr, { maxLength: 2 }),
  providerID: fc.constantFrom('fake://a', 'fake://b', 'fake://c', 'another://x', undefined),
});
const someRoute = fc.record(
  {
    destination: someCidr,
    targetNodeName: fc.option(someName, { nil: undefined }),
    targetProviderID: fc.constantFrom('fake://a', 'fake://b', 'fake://d', undefined),
    blackhole: fc.boolean(),
    ownership: fc.constantFrom('owned' as const, 'foreign' as const),
  },
  { noNullPrototype: true },
);

const isOurs = ({ spec }: Node): boolean => spec?.providerID?.startsWith('fake://') ?? false;

test('property: no plan touches what is foreign, outside, or right for a live node; nothing is made twice', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(someNode, { maxLength: 3, selector: ({ name }) => name }),
      fc.array(someRoute, { maxLength: 6 }),
      (given, routes) => {
        const nodes = given.map(({ name, podCIDRs, providerID }) => ({
          ...nodeOf(name, podCIDRs),
          spec: { podCIDRs, ...(providerID !== undefined && { providerID }) },
        }));
        const numbered = routes.map((route, i): Route => ({ ...route, id: `r${i}` }));
        const { creates, deletes } = plan(nodes, numbered, '10.0.0.0/16,fd00::/48');
        for (const { route } of deletes) {
          assert.equal(route.ownership, 'owned');
          const cidr = parseCidr(route.destination);
          assert.ok(cidr && parseClusterCidrs('10.0.0.0/16,fd00::/48').some((range) => contains(range, cidr)));
          const claiming = nodes.filter(({ spec }) => spec.podCIDRs.includes(route.destination));
          const [only] = claiming;
          if (claiming.length === 1 && only) assert.ok(!leadsTo(route, only) && isOurs(only), 'right for a live node');
          if (claiming.length > 0) assert.ok(claiming.some(isOurs));
        }
        const destinations = creates.map(({ destination }) => destination);
        assert.equal(new Set(destinations).size, destinations.length);
        for (const { node, destination } of creates) {
          assert.ok(node.spec?.podCIDRs?.includes(destination) && isOurs(node));
          assert.ok(!numbered.some((route) => route.destination === destination && leadsTo(route, node)));
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test('with 5,000 nodes whose routes are known by their addresses alone a plan holds up nothing', () => {
  const at = (i: number): string => `${i >> 8}.${i & 255}`;
  const nodes = Array.from({ length: 5_000 }, (_, i) =>
    nodeOf(`n${i}`, [`10.${at(i)}.0/24`], {
      status: { addresses: [{ type: 'InternalIP', address: `192.168.${at(i)}` }] },
    }),
  );
  const routes = nodes.map((_, i) =>
    routeOf(`r${i}`, `10.${at(i)}.0/24`, undefined, { nextHops: [`192.168.${at(i)}`], ownership: 'unmarked' }),
  );
  const clusterCidrs = parseClusterCidrs('10.0.0.0/8');
  const cpuMs = (given: Pick<Parameters<typeof planRoutes>[0], 'nodes' | 'routes'>): number => {
    const before = process.threadCpuUsage();
    const { creates, deletes } = planRoutes({ ...given, clusterCidrs, providerName: 'fake' });
    assert.deepEqual([creates, deletes], [[], []]);
    const { system, user } = process.threadCpuUsage(before);
    return (system + user) / 1_000;
  };
  const news = Array.from({ length: 5 }, () => structuredClone({ nodes, routes }));
  const took = news.map((anew) => ({ anew: cpuMs(anew), again: cpuMs({ nodes, routes }) }));
  const least = (which: 'again' | 'anew'): number => Math.min(...took.map((one) => one[which]));
  // What the objects say is worked out once.
  assert.ok(least('again') < 0.5 * least('anew'), `${JSON.stringify(took)} ms of CPU`);
});
