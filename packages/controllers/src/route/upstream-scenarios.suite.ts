/**
 * For tests: the cases of upstream's unit tables about routes, as data. From kubernetes/cloud-provider v0.36.3
 * `controllers/route/route_controller_test.go`: those about one range inside of another are `TestIsResponsibleForRoute`, those
 * about the condition `TestUpdateNetworkingCondition`, the others `TestReconcile`.
 */

interface ScenarioNode {
  readonly name: string;
  readonly podCIDRs: readonly string[];
  readonly ip: string;
}

export interface ScenarioRoute {
  readonly destination: string;
  readonly node?: string;
  /** Where it leads, in a cloud that routes to addresses. */
  readonly to?: string;
  readonly blackhole?: boolean;
}

export interface Scenario {
  readonly name: string;
  readonly clusterCidr: string;
  readonly nodes: readonly ScenarioNode[];
  readonly routes: readonly ScenarioRoute[];
  /** `destination → node`, of all that is there in the end. */
  readonly expected: readonly string[];
  /** For each node: whether the network is available in the end. */
  readonly ready: readonly boolean[];
}

const single = '10.120.0.0/16';
const dual = '10.120.0.0/16,a00:100::/8';
const one: ScenarioNode = { name: 'node-1', podCIDRs: ['10.120.0.0/24'], ip: '10.0.1.1' };
const two: ScenarioNode = { name: 'node-2', podCIDRs: ['10.120.1.0/24'], ip: '10.0.2.1' };
const three: ScenarioNode = { name: 'node-3', podCIDRs: ['10.120.0.0/24', 'a00:100::/24'], ip: '10.0.3.1' };
const four: ScenarioNode = { name: 'node-4', podCIDRs: ['10.120.1.0/24', 'a00:200::/24'], ip: '10.0.4.1' };

const toOne: ScenarioRoute = { destination: '10.120.0.0/24', node: 'node-1' };
const toTwo: ScenarioRoute = { destination: '10.120.1.0/24', node: 'node-2' };
const toThree: readonly ScenarioRoute[] = [
  { destination: '10.120.0.0/24', node: 'node-3' },
  { destination: 'a00:100::/24', node: 'node-3' },
];
const toFour: readonly ScenarioRoute[] = [
  { destination: '10.120.1.0/24', node: 'node-4' },
  { destination: 'a00:200::/24', node: 'node-4' },
];
const both = ['10.120.0.0/24 → node-1', '10.120.1.0/24 → node-2'];
const all = ['10.120.0.0/24 → node-3', 'a00:100::/24 → node-3', '10.120.1.0/24 → node-4', 'a00:200::/24 → node-4'];

function pair(name: string, routes: readonly ScenarioRoute[], expected: readonly string[] = both): Scenario {
  return { name, clusterCidr: single, nodes: [one, two], routes, expected, ready: [true, true] };
}

function dualPair(name: string, routes: readonly ScenarioRoute[]): Scenario {
  return { name, clusterCidr: dual, nodes: [three, four], routes, expected: all, ready: [true, true] };
}

export const upstreamScenarios: readonly Scenario[] = [
  pair('both routes are there', [toOne, toTwo]),
  pair('the addresses of the nodes changed', [
    { ...toOne, to: '10.0.1.2' },
    { ...toTwo, to: '10.0.2.2' },
  ]),
  pair('one route is there', [toOne]),
  pair('no route is there', []),
  pair('there are routes of nodes that are gone', [
    toOne,
    toTwo,
    { destination: '10.120.2.0/24', node: 'node-3' },
    { destination: '10.120.3.0/24', node: 'node-4' },
  ]),
  pair('one route is there and another leads to a node that is gone', [
    toOne,
    { destination: '10.120.2.0/24', node: 'node-3' },
  ]),
  pair('a blackhole inside of the cluster CIDR', [toOne, toTwo, { destination: '10.120.2.0/24', blackhole: true }]),
  pair(
    'a blackhole outside of the cluster CIDR',
    [toOne, toTwo, { destination: '10.1.2.0/24', blackhole: true }],
    [...both, '10.1.2.0/24 → '],
  ),
  {
    name: 'a node without pod CIDR',
    clusterCidr: single,
    nodes: [one, { name: 'node-2', podCIDRs: [], ip: '10.0.2.1' }],
    routes: [],
    expected: ['10.120.0.0/24 → node-1'],
    ready: [true, false],
  },
  dualPair('dual stack: no route is there', []),
  dualPair('dual stack: all routes are there', [...toThree, ...toFour]),
  dualPair('dual stack: some routes are there', [...toThree.slice(0, 1), ...toFour.slice(1)]),
  dualPair('dual stack: routes lead to the wrong node', [
    { destination: '10.120.1.0/24', node: 'node-3' },
    { destination: '10.120.0.0/24', node: 'node-4' },
    { destination: 'a00:200::/24', node: 'node-3' },
    { destination: 'a00:100::/24', node: 'node-4' },
  ]),
  dualPair('dual stack: there are routes of nodes that are gone', [
    ...toThree,
    ...toFour,
    { destination: '10.120.2.0/24', node: 'node-x' },
    { destination: 'a00:300::/24', node: 'node-y' },
  ]),
  dualPair('dual stack: the addresses of the nodes changed', [
    ...toThree.map((route) => ({ ...route, to: '10.0.13.1' })),
    ...toFour.map((route) => ({ ...route, to: '10.0.14.1' })),
  ]),
  ...[
    ['10.244.0.0/16', '10.244.0.0/24', true],
    ['10.244.0.0/16', '10.244.10.0/24', true],
    ['10.244.0.0/16', '10.244.255.0/24', true],
    ['10.244.0.0/14', '10.244.0.0/24', true],
    ['10.244.0.0/14', '10.247.255.0/24', true],
    ['a00:100::/10', 'a00:100::/24', true],
    ['10.244.0.0/16', '10.224.0.0/24', false],
    ['10.244.0.0/16', '10.0.10.0/24', false],
    ['10.244.0.0/16', '10.255.255.0/24', false],
    ['10.244.0.0/14', '10.248.0.0/24', false],
    ['10.244.0.0/14', '10.243.255.0/24', false],
    ['a00:100::/10', 'b00:100::/24', false],
  ].map(([clusterCidr, destination, responsible]): Scenario => ({
    name: `${String(destination)} is ${responsible === true ? '' : 'not '}in ${String(clusterCidr)}`,
    clusterCidr: String(clusterCidr),
    nodes: [],
    routes: [{ destination: String(destination), node: 'gone' }],
    expected: responsible === true ? [] : [`${String(destination)} → gone`],
    ready: [],
  })),
];

export interface ConditionScenario {
  readonly name: string;
  /** `NetworkUnavailable` as it is. */
  readonly before?: { readonly status: 'True' | 'False'; readonly reason: string };
  /** Whether the node has its routes. */
  readonly routed: boolean;
  /** Whether the condition is written. It then says `routed`, with the reason of the route controller. */
  readonly written: boolean;
  /** Here another writer's reason stays where its status is the same; upstream writes its own. */
  readonly accepted?: true;
}

const routed = { status: 'False', reason: 'RouteCreated' } as const;
const unrouted = { status: 'True', reason: 'NoRouteCreated' } as const;

export const conditionScenarios: readonly ConditionScenario[] = [
  { name: 'no condition, and routes', routed: true, written: true },
  { name: 'no condition, and no routes', routed: false, written: true },
  { name: 'ours says that there are routes, and there are', before: routed, routed: true, written: false },
  {
    name: "Calico's says so",
    before: { status: 'False', reason: 'CalicoIsUp' },
    routed: true,
    written: true,
    accepted: true,
  },
  {
    name: "another network's says so",
    before: { status: 'False', reason: 'ExternalCNI' },
    routed: true,
    written: true,
    accepted: true,
  },
  {
    name: "somebody's says that there are none, and there are none",
    before: { status: 'True', reason: 'SomeOtherReason' },
    routed: false,
    written: true,
    accepted: true,
  },
  { name: 'ours says that there are routes, and there are none', before: routed, routed: false, written: true },
  { name: 'ours says that there are none, and there are none', before: unrouted, routed: false, written: false },
];
