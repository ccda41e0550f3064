/** Why a route, or the routes of a node, are as they are. Pure. */
import { parseCidr, type Cidr, type Route } from '@outrigger/cloud-provider';
import type { Fact, Finding, Standing } from '../finding.ts';
import { factOfAction, type ActionState } from '../planned-action.ts';
import { podCidrsOf } from '../pod-cidrs.ts';
import type { CreateRoute, DeleteRoute, NodeRoutes, RoutePlan } from './planned-route.ts';
import { factOfKept, factOfRoute, notedCreate, notedDelete, targetOf } from './route-words.ts';

const controller = 'node-route-controller';

export interface ExplainedRoutes {
  /** All that are known. */
  readonly routes: Iterable<Route>;
  readonly plan: RoutePlan;
  readonly clusterCidrs: readonly Cidr[];
  /** How long ago they were listed. */
  readonly agoMs: number;
  /** How an action that is planned stands. */
  readonly stateOf: (action: CreateRoute | DeleteRoute) => ActionState;
}

export function explainUnlisted(): Finding {
  const observed = [{ text: 'The routes have not been listed yet.' }];
  return { controller, about: [], observed, planned: [{ text: 'Nothing until they are.' }] };
}

/** `key`: a destination, the ID of a route, or the name of a node. `undefined`: nothing is known of it. */
export function explainRoutes(
  key: string,
  { agoMs, clusterCidrs, plan, routes: all, stateOf }: ExplainedRoutes,
): Finding | undefined {
  const about = plan.nodes.find(({ node }) => node.metadata?.name === key);
  const wanted = new Set(
    about ? podCidrsOf(about.node).map((cidr) => parseCidr(cidr)?.text ?? cidr) : [parseCidr(key)?.text ?? key],
  );
  const routes = [...all].filter(({ destination, id }) => wanted.has(destination) || id === key);
  for (const { destination } of routes) wanted.add(destination);
  const there = new Set(routes);
  const creates = plan.creates.filter(({ destination }) => wanted.has(destination));
  const deletes = plan.deletes.filter(({ route }) => there.has(route));
  if (!about && routes.length === 0 && creates.length === 0) return undefined;
  const ranges = clusterCidrs.map(({ text }) => text).join(', ');
  const planned: readonly Fact[] = [
    ...creates.map((one) => factOfAction(notedCreate(one).summary, stateOf(one))),
    ...deletes.map((one) => factOfAction(notedDelete(one).summary, stateOf(one))),
    ...(plan.kept.routes.some((route) => there.has(route)) ? [factOfKept(plan.kept)] : []),
    ...(about ? obstaclesOf(about) : []),
  ];
  return {
    controller,
    about: [...Array.from(wanted, (destination) => `Route ${destination}`), about?.node.metadata?.uid ?? []].flat(),
    observed: [
      ...routes.map((route) => factOfRoute(route, plan.owned.has(route), agoMs)),
      ...(routes.length === 0 ? [{ text: `The cloud has no route for it.`, agoMs }] : []),
    ],
    planned: planned.length > 0 ? planned : [{ text: `Nothing: its routes in ${ranges} are up to date.` }],
  };
}

/** The routes of the cloud, those that are to be made, and the nodes to which none can be made. */
export function* listRoutes({ plan, routes, stateOf }: ExplainedRoutes): Iterable<Standing> {
  const deletes = new Map(plan.deletes.map((one) => [one.route, one]));
  const kept = new Set(plan.kept.routes);
  for (const route of routes) {
    const removal = deletes.get(route);
    yield {
      name: route.destination,
      controller,
      state: plan.owned.has(route) ? 'owned' : 'foreign',
      to: targetOf(route),
      planned: removal
        ? [factOfAction(notedDelete(removal).summary, stateOf(removal))]
        : kept.has(route)
          ? [factOfKept(plan.kept)]
          : [],
    };
  }
  for (const one of plan.creates) {
    const { destination: name, node } = one;
    const planned = [factOfAction(notedCreate(one).summary, stateOf(one))];
    yield { name, controller, state: 'missing', to: node.metadata?.name ?? '', planned };
  }
  for (const one of plan.nodes) {
    const planned = obstaclesOf(one);
    if (planned.length > 0) yield { name: one.node.metadata?.name ?? '', controller, state: 'waits', planned };
  }
}

function obstaclesOf({ disputed, problems, waits }: NodeRoutes): readonly Fact[] {
  return [
    ...(waits ? [{ text: 'No route can be created until the node has an IP address.' }] : []),
    ...problems.map((text) => ({ text: `No route can be created: ${text}` })),
    ...disputed.map((text) => ({ text: `Its route is kept, but not created again: ${text}` })),
  ];
}
