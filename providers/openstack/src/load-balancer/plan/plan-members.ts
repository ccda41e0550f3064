/** Which members the listeners that are there should have, whatever the Service asks for by now. Pure. */
import {
  canonicalIp,
  sameOwner,
  type BackEnd,
  type DesiredLoadBalancer,
  type IPFamily,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
} from '@outrigger/cloud-provider';
import { familyIn } from '../desired/address-families.ts';
import type { DesiredMember } from '../desired/desired-tree.ts';
import { memberNodes, membersOf, type MemberNode } from '../desired/members.ts';
import { carriesPackets } from '../desired/octavia-features.ts';
import { MOST_MEMBERS } from '../desired/sizes.ts';
import type { ServiceIdentity } from '../service-identity.ts';
import {
  loadBalancerIn,
  securityGroupIn,
  type ObservedListener,
  type ObservedLoadBalancer,
  type ObservedPool,
} from '../observed-tree.ts';
import { transportOf } from './diff-listeners.ts';
import { diffMembers, endPointOf } from './diff-pool.ts';
import {
  actionsOf,
  doubtfulLast,
  HELD,
  healthOf,
  mayBeUnmade,
  mending,
  NOTHING,
  WAITING,
  type Diff,
  type Step,
} from './diff.ts';
import { isOwnChild } from '../listener-owner.ts';
import { placeOf } from '../places-of-children.ts';
import { putRequest } from './octavia-requests.ts';
import { errorsBelow } from './status.ts';
import { diffPorts } from './plan-security-group.ts';

export interface MembersContext {
  readonly desired: DesiredLoadBalancer;
  readonly identity: ServiceIdentity;
  readonly parts: readonly LoadBalancerPart[];
  /** `lb-provider`: of a load balancer that does not say its own. */
  readonly provider: string;
  /** `provider-requires-serial-api-calls`. */
  readonly serial: boolean;
  /** Nothing but this is planned: what is in ERROR is mended here. Else that is for the whole plan. */
  readonly isRefused: boolean;
}

interface PlannedContext extends MembersContext {
  /** Nodes of each listener. */
  readonly room: number;
  readonly nodesOf: (families: readonly IPFamily[]) => Nodes;
}

interface Members {
  readonly actions: readonly LoadBalancerAction[];
  readonly addresses: readonly string[];
  /** Whether these are the addresses of all its members: a listener whose members are not seen may have any. */
  readonly areAll: boolean;
  readonly waiting: boolean;
  readonly isHeld: boolean;
}

export function planMembers(given: MembersContext): LoadBalancerPlan {
  const { desired, parts } = given;
  const ours = parts.filter(
    ({ kind, owner, state }) =>
      state !== 'deleting' &&
      (kind === 'shared-load-balancer' || (kind === 'load-balancer' && sameOwner(owner, desired.owner))),
  );
  const listeners = ours.reduce((count, part) => count + ownListeners(part, given).length, 0);
  const context = { ...given, room: Math.floor(MOST_MEMBERS / listeners), nodesOf: nodesByFamilies(desired.backEnds) };
  const members = ours.map((part) => membersOfPart(part, context));
  const actions = members.flatMap((one) => one.actions);
  const waiting = members.some((one) => one.waiting);
  const isHeld = members.some((one) => one.isHeld);
  const addresses = new Set(members.flatMap((one) => one.addresses));
  const warnings = ours.flatMap((part) => errorsBelow(part, given.identity));
  const areAll = members.length > 0 && members.every((one) => one.areAll);
  // After the members, as where all of it is planned. Without the group on its port a node gets no traffic, also one that is still a member.
  const ports =
    actions.length > 0 || waiting || !areAll
      ? []
      : parts
          .filter(({ kind, owner }) => kind === 'security-group' && sameOwner(owner, desired.owner))
          .flatMap((part) => diffPorts(securityGroupIn(part), addresses, desired))
          .filter(({ mayCutTraffic }) => !isHeld || !mayCutTraffic);
  return {
    actions: [...actions, ...ports],
    complete: actions.length + ports.length === 0 && !waiting && !isHeld,
    ingress: [],
    ...(warnings.length > 0 && { warnings }),
  };
}

interface Nodes {
  readonly inOrder: readonly MemberNode[];
  readonly byAddress: ReadonlyMap<string, MemberNode>;
}

/** Worked out once: there may be a thousand listeners. */
function nodesByFamilies(backEnds: readonly BackEnd[]): (families: readonly IPFamily[]) => Nodes {
  const known = new Map<string, Nodes>();
  return (families) => {
    const key = families.join();
    const there = known.get(key);
    if (there) return there;
    // One without an address of them takes no traffic, and no room.
    const inOrder = memberNodes(backEnds, families).filter(({ addresses }) => families.some((one) => addresses[one]));
    const byAddress = new Map<string, MemberNode>();
    for (const one of inOrder) {
      for (const address of Object.values(one.addresses)) {
        if (address !== undefined && !byAddress.has(address)) byAddress.set(address, one);
      }
    }
    const nodes = { inOrder, byAddress };
    known.set(key, nodes);
    return nodes;
  };
}

/**
 * So many that nodes times listeners stay within the bound, whatever is asked for by now. Those that are members of the pool stay, however
 * many they are; others come while there is room.
 */
function thoseWithRoom({ byAddress, inOrder }: Nodes, pool: ObservedPool, room: number): readonly MemberNode[] {
  if (inOrder.length <= room) return inOrder;
  const chosen = new Set<MemberNode>();
  for (const { address } of pool.members) {
    const node = byAddress.get(canonicalIp(address) ?? address);
    if (node) chosen.add(node);
  }
  for (const node of inOrder) {
    if (chosen.size >= room) break;
    chosen.add(node);
  }
  return [...chosen].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function ownListeners(part: LoadBalancerPart, { identity }: MembersContext): readonly ObservedListener[] {
  const listeners = loadBalancerIn(part).children?.listeners ?? [];
  return listeners.filter((one) => isOwnChild(one, identity, part.kind === 'load-balancer'));
}

function membersOfPart(part: LoadBalancerPart, context: PlannedContext): Members {
  const { isRefused, serial } = context;
  const loadBalancer = loadBalancerIn(part);
  const { children, id, status } = loadBalancer;
  if (status !== 'ACTIVE' || !children) {
    return { actions: [], addresses: [], areAll: false, waiting: status !== 'ERROR', isHeld: false };
  }
  const owns = part.kind === 'load-balancer';
  const addresses: string[] = [];
  let waiting = false;
  let isHeld = false;
  const listeners = ownListeners(part, context);
  let areAll = listeners.length > 0;
  const steps = listeners.flatMap((listener): readonly Step[] => {
    const { pool } = listener;
    const wanted = pool && wantedMembers(listener, pool, loadBalancer, context);
    if (!wanted) areAll = false;
    if (!pool) return [];
    addresses.push(...(wanted ?? pool.members).map(({ address }) => address));
    if (!wanted) return [];
    // What was never made is for the whole plan.
    if (isStuck(listener) || isStuck(pool)) {
      isHeld = true;
      return [];
    }
    const diffs = isRefused ? [mendListener(listener, loadBalancer), mendPool(pool, listener)] : [];
    // Octavia takes no change of members while their pool is in ERROR.
    const takesNone = pool.status === 'ERROR' || mayBeUnmade(listener, loadBalancer);
    diffs.push(takesNone ? HELD : diffMembers(wanted, pool, { loadBalancer, serial }));
    isHeld ||= diffs.some((diff) => diff.isHeld);
    if (diffs.some((diff) => diff.waiting)) {
      waiting = true;
      return [];
    }
    return diffs.flatMap((diff) => diff.steps);
  });
  const actions = actionsOf(doubtfulLast(steps), id, owns ? 'load-balancer' : 'shared-load-balancer');
  return { actions, addresses, areAll, waiting, isHeld };
}

const isStuck = ({ late, status }: ObservedListener | ObservedPool): boolean =>
  status !== 'ERROR' && status !== 'ACTIVE' && late === 'rebuild';

/** A change to what it is already: nothing says what else it should be, and it is not made anew by a wish that is refused. */
function mendListener(listener: ObservedListener, loadBalancer: ObservedLoadBalancer): Diff {
  const { connectionLimit, id, port, protocol } = listener;
  if (mayBeUnmade(listener, loadBalancer)) return HELD;
  const request = putRequest('listeners', id, { connection_limit: connectionLimit });
  const step = { summary: `update the listener ${protocol} ${port}: it is in ERROR`, request };
  return mendAsItIs(listener, placeOf.listener(loadBalancer.id, listener), step);
}

function mendPool(pool: ObservedPool, listener: ObservedListener): Diff {
  const request = putRequest('pools', pool.id, { lb_algorithm: pool.lbMethod });
  const step = { summary: `update the pool ${pool.name}: it is in ERROR`, request };
  return mendAsItIs(pool, placeOf.pool(listener), step);
}

const AS_IT_IS = 'as it is';

function mendAsItIs(one: ObservedListener | ObservedPool, place: string, step: Step): Diff {
  if (one.status === 'ACTIVE') return NOTHING;
  if (one.status !== 'ERROR') return WAITING;
  if (healthOf(one, AS_IT_IS) === 'held') return HELD;
  return { steps: mending(one, place, AS_IT_IS, [step]), waiting: false };
}

/** As those that are there, but for the nodes; `undefined` where nothing says on which port nodes take this traffic. */
function wantedMembers(
  { port, protocol }: ObservedListener,
  pool: ObservedPool,
  loadBalancer: ObservedLoadBalancer,
  { desired: { service }, nodesOf, provider, room }: PlannedContext,
): readonly DesiredMember[] | undefined {
  const { members, monitor } = pool;
  const [one] = members;
  const transport = transportOf(protocol);
  // A node port that was changed is served under its new number alone.
  const same = service.ports.find((wish) => wish.port === port && wish.protocol === transport);
  const nodePort = same?.nodePort ?? one?.port;
  if (nodePort === undefined) return undefined;
  const each = carriesPackets(loadBalancer.provider ?? provider, transport);
  const vips = familiesOf(loadBalancer);
  // A proxy reaches a node by either family.
  const others = each ? [] : service.ipFamilies.filter((family) => !vips.includes(family));
  const families = [...vips, ...others];
  const subnetId = members.find(({ address }) => familyIn(address) === families[0])?.subnetId ?? undefined;
  const asksKubeProxy = monitor?.type === 'HTTP' ? service.healthCheckNodePort : undefined;
  const monitorPort = one ? (one.monitorPort ?? undefined) : asksKubeProxy;
  const nodes = thoseWithRoom(nodesOf(families), pool, room);
  const wanted = membersOf({ nodePort }, nodes, { families, each, subnetId, monitorPort });
  // Where members are changed one by one, some are ahead of the others: each is checked as it is now.
  const there = new Map(members.map((member) => [endPointOf(member), member.monitorPort]));
  return wanted.map((member) => {
    const checkedAt = there.get(endPointOf(member));
    if (checkedAt === undefined) return member;
    const { monitorPort: _, ...rest } = member;
    return { ...rest, ...(checkedAt !== null && { monitorPort: checkedAt }) };
  });
}

function familiesOf({ additionalVips, vipAddress }: ObservedLoadBalancer): readonly IPFamily[] {
  const all = [...(vipAddress ? [vipAddress] : []), ...additionalVips.map(({ address }) => address)];
  return [...new Set(all.map(familyIn))];
}
