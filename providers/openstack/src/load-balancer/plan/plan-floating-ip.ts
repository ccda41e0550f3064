/** What is to be done about the floating IP of a load balancer that the Service owns. Pure. */
import {
  CloudError,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import type { DesiredTree, FloatingIPWish } from '../desired/desired-tree.ts';
import { matchFloatingSubnets } from '../desired/floating-subnets.ts';
import { notForThis, thingOf, type ThingKind } from '../foreign-things.ts';
import {
  floatingIPIn,
  type FloatingNetwork,
  type ObservedFloatingIP,
  type ObservedLoadBalancer,
  type PartKind,
} from '../observed-tree.ts';
import { markedDescription, ownerTag } from '../ownership.ts';
import { actionOf, touching, type PlannedRequest, type Target } from './change.ts';
import { floatingIPDeletion, floatingIPMove, markChange, postNeutron } from './neutron-requests.ts';
import type { Reference } from './references.ts';
import type { ServingContext } from './serving-context.ts';
import { addressAnnotation } from './status.ts';

/** `parts`: the Service's own floating IPs. Those that it asks for or has on its VIP besides are among the `others` of `desired`. */
export interface FloatingIPContext extends Pick<ServingContext, 'desired' | 'parts'> {
  readonly loadBalancer: ObservedLoadBalancer;
  readonly target: Target;
}

export interface FloatingIPPlan {
  readonly actions: readonly LoadBalancerAction[];
  /** Where the Service is reached: of a floating IP, else of the VIP. `undefined`: not known yet. */
  readonly address: string | undefined;
  readonly warnings: readonly LoadBalancerWarning[];
  /** With actions: they come first, and wait for nothing. */
  readonly refused?: CloudError;
}

export function planFloatingIP(wish: FloatingIPWish, context: FloatingIPContext): FloatingIPPlan {
  const { floatingIPs, vipAddress, vipPortId } = context.loadBalancer;
  const [attached] = floatingIPs;
  const vip = { actions: [], address: vipAddress ?? undefined, warnings: [] };
  // One that a person has attached to something else, or whose ports are forwarded, is in use there.
  const own = context.parts
    .map(floatingIPIn)
    .filter(({ forwards, portId }) => !forwards && (portId === null || portId === vipPortId));
  if (wish.kind === 'none') return { ...vip, ...planNone(wish, own, context) };
  if (vipPortId === null) return { ...vip, address: undefined };
  if (wish.kind === 'any' && wish.isThereOnly && !attached) return vip;
  const chosen = choose(wish, own, context);
  const around = { ...context, attached, own, vipPortId };
  if (chosen instanceof CloudError) return planRefused(chosen, around);
  if (chosen !== 'make' && chosen.portId === vipPortId) return planServed(wish, chosen, around);
  if (attached && !mayTouch(attached, context)) return refuse(new CloudError('conflict', NOT_OWN), around);
  return chosen === 'make' ? planToMake(wish, around) : planToAttach(chosen, around);
}

interface Around extends FloatingIPContext {
  readonly attached: ObservedFloatingIP | undefined;
  /** Free, or on the VIP. */
  readonly own: readonly ReturnType<typeof floatingIPIn>[];
  readonly vipPortId: string;
}

function planNone(
  wish: Extract<FloatingIPWish, { kind: 'none' }>,
  own: readonly ReturnType<typeof floatingIPIn>[],
  context: FloatingIPContext,
): Pick<FloatingIPPlan, 'actions' | 'warnings'> {
  // One that was kept earlier stays.
  const ours = own.filter(({ keep, portId }) => portId !== null || !keep);
  const others = context.loadBalancer.floatingIPs.filter(({ id }) => !own.some((one) => one.id === id));
  const all = [...ours, ...others];
  const going = all.filter((one) => mayTouch(one, context));
  return {
    actions: going.flatMap((one) => dismissal(one, wish.keep, context)),
    warnings: going.length < all.length ? [{ reason: 'FloatingIPNotOwn', message: NOT_OWN }] : [],
  };
}

/** Reached where it is reached now. */
const serving = (
  { attached }: Pick<Around, 'attached'>,
  ...actions: readonly LoadBalancerAction[]
): Omit<FloatingIPPlan, 'refused'> => ({ actions, address: attached?.address, warnings: [] });

const refuse = (refused: CloudError, around: Around): FloatingIPPlan => ({ ...serving(around), refused });

/** The address that was detached for the requested one is attached again. The refusal is told in a warning: Neutron may not attach it. */
function planRefused(refused: CloudError, around: Around): FloatingIPPlan {
  const { attached, vipPortId } = around;
  const back = attached ? undefined : reachedLast(around);
  if (!back) return refuse(refused, around);
  const message = `The request for a floating IP is refused: ${refused.message}`;
  const warnings = [{ reason: 'FloatingIPRefused', message }];
  return { ...serving(around, moving(back, vipPortId, around)), warnings, refused };
}

/** Where the Service is reached, else where it was, by its status. */
const reachedLast = (around: Around): ObservedFloatingIP | undefined =>
  around.attached ?? around.own.find((one) => isInStatus(one, around));

/** Whether Neutron may refuse for good to have it where the last one was, when that is off the port. */
function isOtherNetwork(networkId: string, around: Around): boolean {
  const last = reachedLast(around);
  return last !== undefined && last.networkId !== networkId;
}

function planServed(wish: Wish, chosen: ObservedFloatingIP, around: Around): FloatingIPPlan {
  const removed = around.own
    .filter(({ id }) => id !== chosen.id)
    .flatMap((one) => dismissal(one, wish.keep || one.keep, around));
  return serving({ attached: chosen }, ...removed, ...remark(chosen, wish.keep, around));
}

function planToAttach(chosen: ObservedFloatingIP, around: Around): FloatingIPPlan {
  const { attached, vipPortId } = around;
  if (isOtherNetwork(chosen.networkId, around)) return planRefused(new CloudError('invalid', OTHER_NETWORK), around);
  // A port's address has one floating IP.
  const makeRoom = attached ? [moving(attached, null, around)] : [];
  return serving({ attached: undefined }, ...makeRoom, moving(chosen, vipPortId, around));
}

function planToMake(wish: Wish, around: Around): FloatingIPPlan {
  const { attached, desired, loadBalancer, own, vipPortId } = around;
  const { floatingNetwork, vipAddress } = loadBalancer;
  if (!floatingNetwork) {
    // Not looked at: it is not ACTIVE yet, or the cloud config has changed since the look.
    const text = 'the network of the floating IP is not known yet; it is read again';
    return refuse(new CloudError('retry-after', text, { effect: 'none' }), around);
  }
  const { networkId, subnets } = floatingNetwork;
  if (networkId !== null && isOtherNetwork(networkId, around)) {
    return planRefused(new CloudError('invalid', OTHER_NETWORK), around);
  }
  const free = own.filter(({ portId }) => portId === null);
  if (!attached) {
    // One that had made room for what has gone since: what is asked for may never come.
    const fitting = free.filter((one) => (networkId === null ? isInStatus(one, around) : one.networkId === networkId));
    const back = preferred(fitting, around);
    if (back) return serving(around, moving(back, vipPortId, around));
  }
  if (networkId === null) {
    const warning = { reason: 'NoFloatingNetwork', message: NO_NETWORK };
    return { actions: [], address: attached?.address ?? vipAddress ?? undefined, warnings: [warning] };
  }
  const choice = choiceOf(wish, { networkId, subnets });
  if (choice instanceof CloudError) return refuse(choice, around);
  // Beside the one that serves: Neutron gives an address that is chosen to administrators alone.
  const place = attached ? { networkId } : { vipPortId, networkId, fixedIP: fixedIPOf(loadBalancer) };
  // Those of earlier wishes.
  const removed = attached ? free.flatMap((one) => dismissal(one, wish.keep || one.keep, around)) : [];
  return serving(around, ...removed, actionToMake(wish, place, choice, desired));
}

/** Only where nothing that a look at the load balancer shows first could choose another: a port of the user's own may have one already. */
function wishWithNew({
  floatingIP: wish,
  loadBalancer: { additionalVips, vip },
}: DesiredTree): Extract<Wish, { kind: 'any' }> | undefined {
  if (wish.kind !== 'any' || wish.isThereOnly || additionalVips.length > 0 || vip.portId !== undefined)
    return undefined;
  const { subnets } = wish;
  return subnets === undefined || subnets.subnetId !== undefined ? wish : undefined;
}

/** Whether the floating IP of a new load balancer is to be made in the project's first external network, which has to be known for that. */
export function needsNetwork(tree: DesiredTree): boolean {
  const wish = wishWithNew(tree);
  return wish !== undefined && wish.networkId === undefined;
}

/** Of a load balancer that the same plan makes: it takes its port as soon as there is one, and nothing of it has to wait for Octavia. */
export function floatingIPOfNew(
  tree: DesiredTree,
  { desired, externalNetwork, parts }: Pick<ServingContext, 'desired' | 'externalNetwork' | 'parts'>,
): readonly LoadBalancerAction[] {
  const wish = wishWithNew(tree);
  const networkId = wish?.networkId ?? externalNetwork;
  if (!wish || networkId === undefined || parts.some(({ kind }) => kind === 'floating-ip')) return [];
  const vipPortId: Reference = { lookUp: { vipPortOf: ownerTag(desired.owner) } };
  return [actionToMake(wish, { vipPortId, networkId }, { subnetIds: [wish.subnets?.subnetId] }, desired)];
}

const NOT_OWN =
  "The load balancer has a floating IP that is not proved to be this Service's; it stays attached until whoever attached it detaches it";

const NO_NETWORK =
  'The project sees no external network with a subnet: no floating IP can be created for the Service. Set floating-network-id';

const OTHER_NETWORK =
  'the floating IP that loadBalancerIP asks for is in another external network than the one that the load balancer has, and may not lead to it; ask for one in the same network, or recreate the Service';

const isOwn = ({ id }: ObservedFloatingIP, { parts }: FloatingIPContext): boolean =>
  parts.some((part) => part.id === id);

/** Its own, or set aside for its namespace. */
function mayTouch(one: ObservedFloatingIP, context: FloatingIPContext): boolean {
  return isOwn(one, context) || thingOf(context.desired.others, 'floating-ip', one.id)?.mayUse === true;
}

type Wish = Exclude<FloatingIPWish, { kind: 'none' }>;

/** Which floating IP it is to be, of those that there are. */
function choose(
  wish: Wish,
  own: readonly ObservedFloatingIP[],
  context: FloatingIPContext,
): ObservedFloatingIP | 'make' | CloudError {
  const { floatingIPs, requestedFloatingIP, vipPortId } = context.loadBalancer;
  if (wish.kind === 'any') {
    // The one that is attached stays, whichever: as CPO does.
    return floatingIPs[0] ?? preferred(own, context) ?? 'make';
  }
  const there = requestedFloatingIP ?? own.find((one) => one.address === wish.address);
  if (!there) return 'make';
  if (there.portId === vipPortId) return there;
  if (!mayTouch(there, context)) return addressNotForThis(wish.address, context);
  if (there.portId === null && !there.forwards) return there;
  const text = `the floating IP ${wish.address}, which loadBalancerIP asks for, is attached elsewhere or has port forwardings; detach it and delete these, or ask for another`;
  return new CloudError('conflict', text);
}

/** The one where the Service was reached last. */
function preferred(ones: readonly ObservedFloatingIP[], context: FloatingIPContext): ObservedFloatingIP | undefined {
  return ones.find((one) => isInStatus(one, context)) ?? ones.toSorted((a, b) => (a.id < b.id ? -1 : 1))[0];
}

/** The annotation is for a status that says no address: one with a hostname, or from which it was removed. Its author may only choose among the Service's own. */
function isInStatus({ address }: ObservedFloatingIP, { desired }: FloatingIPContext): boolean {
  const { annotations, ingress } = desired.service;
  const addresses = ingress.flatMap(({ ip }) => (ip ? [ip] : []));
  return addresses.length > 0 ? addresses.includes(address) : annotations[addressAnnotation] === address;
}

function addressNotForThis(address: string, { desired }: Pick<FloatingIPContext, 'desired'>): CloudError {
  return notForThis(`the floating IP ${address}, which loadBalancerIP asks for,`, desired.service.namespace);
}

/**
 * While there is no load balancer, for which one would be made in vain. Until then the floating IP that it asks for is the only one that was seen of
 * those that are not its own.
 */
export function addressRefusal(
  wish: FloatingIPWish,
  context: Pick<FloatingIPContext, 'desired' | 'parts'>,
): CloudError | undefined {
  if (wish.kind !== 'address') return undefined;
  const { desired, parts } = context;
  const denied = desired.others?.find(({ kind, mayUse }) => kind === 'floating-ip' && !mayUse);
  if (!denied || parts.some((part) => part.kind === 'floating-ip' && part.id === denied.id)) return undefined;
  return addressNotForThis(wish.address, context);
}

interface Place {
  /** Absent: it is attached later. */
  readonly vipPortId?: string | Reference;
  readonly networkId: string;
  /** Of the VIP, where its port has several. */
  readonly fixedIP?: string | undefined;
}

function actionToMake(
  wish: Wish,
  { fixedIP, networkId, vipPortId }: Place,
  { among, subnetIds }: Choice,
  { owner }: Pick<DesiredLoadBalancer, 'owner'>,
): LoadBalancerAction {
  const summary = wish.kind === 'address' ? `create the floating IP ${wish.address}` : 'create a floating IP';
  const body = {
    floating_network_id: networkId,
    ...(vipPortId !== undefined && { port_id: vipPortId }),
    ...(fixedIP !== undefined && { fixed_ip_address: fixedIP }),
    description: markedDescription(wish.description, { owner, keep: wish.keep }),
    ...(wish.kind === 'address' && { floating_ip_address: wish.address }),
  };
  const requestIn = (id: string | undefined): PlannedRequest =>
    postNeutron('floatingips', { ...body, ...(id !== undefined && { subnet_id: id }) });
  const [first, ...others] = subnetIds;
  const change = {
    op: 'create-marked',
    collection: 'floatingips',
    request: requestIn(first),
    otherwise: others.map(requestIn),
    ...(among !== undefined && { among }),
    owner,
  } as const;
  return actionOf('create', { kind: 'floating-ip' }, summary, change);
}

interface Choice {
  readonly subnetIds: readonly (string | undefined)[];
  readonly among?: string;
}

/** Which subnets may give the address; `undefined`: whichever Neutron takes. */
function choiceOf(
  wish: Wish,
  { networkId, subnets }: { readonly networkId: string; readonly subnets: FloatingNetwork['subnets'] },
): CloudError | Choice {
  if (wish.kind === 'address') return { subnetIds: [wish.subnetId] };
  if (!wish.subnets || wish.subnets.subnetId !== undefined) return { subnetIds: [wish.subnets?.subnetId] };
  const matching = matchFloatingSubnets(wish.subnets, subnets);
  const which = JSON.stringify(wish.subnets);
  if (matching.length > 0) {
    const among = `the ${matching.length} subnets of the network ${networkId} that match ${which}`;
    return { subnetIds: matching.map(({ id }) => id), among };
  }
  // It is looked for again: nothing of the Service need change for it.
  const text = `the network ${networkId} has no subnet that matches ${which}, or shows this project none because it is not shared; correct floating-subnet or -tags, or name floating-subnet-id`;
  return new CloudError('not-found', text);
}

/** Of a port with one address Neutron knows it. */
function fixedIPOf({ additionalVips, vipAddress }: ObservedLoadBalancer): string | undefined {
  if (additionalVips.length === 0) return undefined;
  return [vipAddress ?? '', ...additionalVips.map(({ address }) => address)].find((one) => one && !one.includes(':'));
}

/** One of the user's own is moved as a change of the load balancer, whose it becomes by that. */
function moving(one: ObservedFloatingIP, portId: string | null, context: FloatingIPContext): LoadBalancerAction {
  const { address, id } = one;
  const { loadBalancer, target } = context;
  const summary = `${portId === null ? 'detach' : 'attach'} the floating IP ${address}`;
  const change = floatingIPMove(one, portId, portId === null ? undefined : fixedIPOf(loadBalancer));
  const kind: ThingKind & PartKind = 'floating-ip';
  if (isOwn(one, context)) return actionOf('update', { kind, id }, summary, change);
  return touching(actionOf('update', target, summary, change), [{ kind, id }]);
}

/** Ours is deleted, unless it is to be kept; another's is only detached. */
function dismissal(one: ObservedFloatingIP, keep: boolean, context: FloatingIPContext): readonly LoadBalancerAction[] {
  if (isOwn(one, context) && !keep) return [deletion(one)];
  return one.portId === null ? [] : [moving(one, null, context)];
}

export function deletion(one: ObservedFloatingIP): LoadBalancerAction {
  const { address, id } = one;
  return actionOf('delete', { kind: 'floating-ip', id }, `delete the floating IP ${address}`, floatingIPDeletion(one));
}

/** Whether it is to be kept stands on the floating IP too: its Service may be gone when that is asked. */
function remark(
  chosen: ObservedFloatingIP,
  keep: boolean,
  { desired: { owner }, parts }: FloatingIPContext,
): readonly LoadBalancerAction[] {
  const part = parts.find(({ id }) => id === chosen.id);
  if (!part) return [];
  const { description, keep: marked } = floatingIPIn(part);
  if (marked === keep) return [];
  const marking = markedDescription(description, { owner, keep });
  const summary = `mark the floating IP ${chosen.address} as ${keep ? 'kept' : 'deleted with its Service'}`;
  const change = markChange('floatingips', chosen.id, marking, owner);
  return [actionOf('update', { kind: 'floating-ip', id: chosen.id }, summary, change)];
}
