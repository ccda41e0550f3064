/** The paths of a text that says where Pods are: addresses and ranges of nodes, ranges of machines, routes of a cloud. */
import { canonicalIp, parseCidr, type Route } from '@outrigger/cloud-provider';
import { parseClusterCidrs, planRoutes } from '@outrigger/controllers';
import { systemClock, trimNode, type Node } from '@outrigger/kube';
import { checkAnswers } from '../../packages/cloud-runtime/src/instance-answers-check.ts';
import { CidrSet } from '../../packages/controllers/src/node-ipam/cidr-set.ts';
import { rangesIn } from '../../packages/controllers/src/node-ipam/cloud-ranges-inputs.ts';
import { firstOfEachFamily, planCloudRanges } from '../../packages/controllers/src/node-ipam/cloud-ranges-plan.ts';
import { findingOfRanges } from '../../packages/controllers/src/node-ipam/cloud-ranges-words.ts';
import { NodeRanges } from '../../packages/controllers/src/node-ipam/node-ranges.ts';
import { isWrittenByUs, OtherAllocator } from '../../packages/controllers/src/node-ipam/other-allocator.ts';
import { RangeClaims } from '../../packages/controllers/src/node-ipam/range-claims.ts';
import { refOfNode } from '../../packages/controllers/src/node-ref.ts';
import { podCidrsOf } from '../../packages/controllers/src/pod-cidrs.ts';
import { explainRoutes, listRoutes } from '../../packages/controllers/src/route/explain-routes.ts';
import { keptNote, noRouteNote } from '../../packages/controllers/src/route/failure-note.ts';
import { hopsOfNode, linesOf } from '../../packages/controllers/src/route/route-owners.ts';
import { RouteRecord } from '../../packages/controllers/src/route/route-record.ts';
import { aimRoutes } from '../../providers/openstack/src/routes/aim-routes.ts';
import { routeOf } from '../../providers/openstack/src/routes/extra-route.ts';
import { eventOf } from './log-targets.ts';
import type { Target } from './target.ts';

const PROVIDER = 'openstack';
/** In a cluster as large as Kubernetes has them. */
const MOST_NODES = 5_000;
/** Each is looked at several times; the square of so many is seen well. */
const MOST_ROUTES = 2_000;
/** Of each family one: the API server takes no more of a node. */
const RANGES_OF_NODE = 2;

const clusterCidrs = parseClusterCidrs('10.0.0.0/8,fd00::/8');
const serviceCidrs = parseClusterCidrs('10.96.0.0/12');
const NODE_BITS = 24;

interface NodeTexts {
  readonly name?: string;
  readonly podCIDRs?: readonly string[];
  readonly addresses?: readonly string[];
  readonly providerID?: string;
}

/** As the store has it. */
function nodeOf({ addresses = ['10.0.0.1'], name = 'n', podCIDRs = [], providerID }: NodeTexts): Node {
  return trimNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { providerID: providerID ?? `${PROVIDER}:///${name}`, podCIDRs: [...podCIDRs] },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  });
}

/** From the nodes and a list of the cloud to Events, pages and what is asked of the cloud, as the route controller goes. */
function route(nodes: readonly Node[], routes: readonly Route[]): void {
  const record = new RouteRecord();
  const observed = { nodes, routes, clusterCidrs, serviceCidrs, providerName: PROVIDER };
  const plan = planRoutes({ ...observed, record, nextHop: 'address' });
  for (const one of plan.owned) record.note(parseCidr(one.destination)?.text ?? '', linesOf(one), 0);
  for (const asOf of [1, 2]) record.keepOnly(routes, asOf);
  for (const { disputed, problems } of plan.nodes.slice(0, 10)) eventOf([...problems, ...disputed].join(' '));
  eventOf(keptNote(plan.kept.routes).message);
  const explained = { routes, plan, clusterCidrs, agoMs: 0, stateOf: () => ({ kind: 'now' }) as const };
  for (const key of [nodes[0]?.metadata?.name, routes[0]?.id, routes[0]?.destination])
    explainRoutes(key ?? '', explained);
  Array.from(listRoutes(explained));
  const requests = plan.creates.map(({ destination, node, replaces }) => ({
    node: refOfNode(node),
    addresses: [{ type: 'InternalIP', address: node.status?.addresses?.[0]?.address ?? '' } as const],
    destination,
    replaces,
  }));
  const extra = routes.map(({ destination, nextHops = [] }) => ({ destination, nexthop: nextHops[0] ?? '' }));
  for (const aim of aimRoutes(requests, extra).slice(0, 10)) {
    if (aim.kind === 'failed') eventOf(noRouteNote(aim.error.message).message);
  }
}

const aRoute: Route = { id: 'r', destination: '10.0.1.0/24', blackhole: false, ownership: 'unmarked' };

/** As this cluster's, as another's, and as that of nobody knows whom. */
const inAllHands = (one: Route): readonly Route[] =>
  (['owned', 'foreign', 'unmarked'] as const).map((ownership) => ({ ...one, ownership }));

/** From the answer of a cloud about a machine to the Event and the page, as the allocator goes that takes its ranges. */
function allocate(node: Node, ranges: readonly string[]): void {
  const instance = { providerID: 'x', name: 'n', state: 'running', addresses: [], podCidrs: ranges };
  const [answer] = checkAnswers([refOfNode(node)], [{ result: { kind: 'found', instance } }], 0, 0);
  if (!answer) return;
  if (answer.result.kind === 'failed') eventOf(answer.result.error.message);
  const found = rangesIn(answer);
  const cloud = found && firstOfEachFamily(found);
  const has = podCidrsOf(node);
  const { uid = '' } = node.metadata ?? {};
  const claims = new RangeClaims({ store: { get: () => node }, clock: systemClock, isOurs: () => true });
  for (const one of ['other', uid]) claims.ranges.hold(one, one, has);
  claims.hear(uid, answer);
  for (const clashes of [claims.clashes(uid, cloud ?? []), claims.clashes(uid, has)]) {
    for (const direction of ['from-cloud', 'to-cloud'] as const) {
      for (const podCidrs of [[], has]) {
        const plan = planCloudRanges({ direction, node: podCidrs, cloud, ...clashes, waitsForNetwork: true });
        findingOfRanges({ node, found, answered: undefined, plan, refusesMs: 0 });
        if (plan.problem) eventOf(plan.problem.message);
      }
    }
  }
}

/** Nodes that say that they have these, each one, as the allocator of the cluster goes. */
function hold(cidrs: readonly string[]): void {
  const sets = clusterCidrs.map((range) => new CidrSet(range, NODE_BITS));
  const ranges = new NodeRanges(sets, serviceCidrs);
  for (const [n, cidr] of cidrs.entries()) {
    ranges.isTooWide(cidr);
    ranges.hold(`n${n}`, `u${n}`, [cidr]);
  }
  for (const n of cidrs.keys()) ranges.release(`u${n}`);
}

/** What a kubelet says of itself: the API server keeps the name of the program that wrote it. */
function inspect(words: readonly string[]): void {
  const managedFields = words.map((word) => ({
    manager: word,
    time: word,
    fieldsV1: { 'f:spec': { 'f:podCIDRs': {}, [word]: {} } },
  }));
  const node: Node = { metadata: { name: 'n', uid: 'u', managedFields }, spec: { podCIDRs: ['10.0.1.0/24'] } };
  new OtherAllocator(systemClock).inspect(node);
  isWrittenByUs(node);
}

export const networkTargets: readonly Target[] = [
  { name: 'address', run: canonicalIp },
  { name: 'range', run: parseCidr },
  {
    name: 'pod CIDRs of a node',
    run: (text) => {
      const words = text.split(',', RANGES_OF_NODE);
      for (const podCIDRs of [[text], words, words.map((word) => `10.${word}`)]) {
        route([nodeOf({ podCIDRs })], [aRoute]);
        allocate(nodeOf({ podCIDRs }), ['10.0.1.0/24']);
      }
    },
  },
  {
    name: 'pod CIDRs of many nodes',
    run: (text) => {
      const words = text.split(',', MOST_NODES);
      route(
        words.map((word, n) => nodeOf({ name: `n${n}`, podCIDRs: [word] })),
        [aRoute],
      );
      hold(words);
    },
  },
  {
    name: 'names and addresses of nodes with one pod CIDR',
    run: (text) => {
      const podCIDRs = ['10.0.1.0/24'];
      route(
        text.split(',', MOST_NODES).map((name) => nodeOf({ name, podCIDRs, addresses: [name] })),
        [aRoute],
      );
    },
  },
  {
    name: 'next hops of a node',
    run: (text) => {
      const nextHops = text.split(',');
      for (const node of [nodeOf({ addresses: nextHops, podCIDRs: ['10.0.1.0/24'] }), nodeOf({ providerID: text })]) {
        for (const kind of ['address', 'instance'] as const) hopsOfNode(node, kind);
        route([node], [...inAllHands({ ...aRoute, nextHops }), ...inAllHands({ ...aRoute, targetProviderID: text })]);
      }
    },
  },
  {
    name: 'route of a cloud',
    run: (text) => {
      const one = { ...aRoute, id: text, destination: text, targetNodeName: text, targetProviderID: text };
      route([nodeOf({ podCIDRs: ['10.0.1.0/24'] })], inAllHands(one));
      route([nodeOf({})], inAllHands({ ...one, destination: '10.0.1.0/24' }));
    },
  },
  {
    name: 'routes of a cloud',
    run: (text) => {
      const routes = text.split(',', MOST_ROUTES).map((word) => routeOf({ destination: word, nexthop: word }));
      route([nodeOf({ podCIDRs: ['10.0.1.0/24'] })], routes.flatMap(inAllHands));
    },
  },
  {
    name: 'routes of a cloud with one destination',
    run: (text) => {
      const hops = text.split(',', MOST_ROUTES);
      const routes = hops.flatMap((nexthop) => inAllHands(routeOf({ destination: '10.0.1.0/24', nexthop })));
      for (const podCIDRs of [['10.0.1.0/24'], []]) route([nodeOf({ podCIDRs })], routes);
    },
  },
  {
    name: 'record of routes',
    run: (text) => {
      const record = new RouteRecord();
      record.read(text, 0);
      for (const asOf of [1, 2]) record.keepOnly([aRoute], asOf);
      record.read(text, 3);
      return record.text;
    },
  },
  {
    name: 'ranges of a machine',
    run: (text) => {
      for (const podCIDRs of [[], ['10.0.1.0/24']]) {
        for (const ranges of [[text], text.split(',')]) allocate(nodeOf({ podCIDRs }), ranges);
      }
    },
  },
  { name: 'writers of pod CIDRs', run: (text) => inspect([text, ...text.split(',')]) },
];
