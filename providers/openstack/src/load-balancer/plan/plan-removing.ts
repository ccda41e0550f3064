/** What is to be done so that nothing of a Service is left, and nothing of anybody else is touched. Pure. */
import {
  sameOwner,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import { keepsFloatingIP } from '../desired/declared.ts';
import { thingOf } from '../foreign-things.ts';
import { cpoFloatingIPText } from '../service-identity.ts';
import { floatingIPIn, loadBalancerIn, type ObservedFloatingIP, type PartKind } from '../observed-tree.ts';
import { markedDescription, ownersIn, unmarked } from '../ownership.ts';
import { actionOf, leaving, touching, type Target } from './change.ts';
import { floatingIPMove, markChange } from './neutron-requests.ts';
import { isClaimable } from '../predecessor.ts';
import { planClaims } from './claims.ts';
import { heirsOf } from '../listener-owner.ts';
import { deletion } from './plan-floating-ip.ts';
import { removeGroup } from './plan-security-group.ts';
import {
  isSharedByOthers,
  leaveLoadBalancer,
  mayServeOthers,
  removeLoadBalancer,
  type RemovingContext,
} from './remove-load-balancer.ts';
import { errorsBelow, lateWarnings } from './status.ts';

/** The group first, since members' ports are in use without it too; then the address; then the load balancer. */
export function planRemoving(parts: readonly LoadBalancerPart[], context: RemovingContext): LoadBalancerPlan {
  const { identity } = context;
  // What a predecessor made goes as well: but only once it is ours.
  const claimable = parts.filter((part) => part.kind === 'load-balancer' && isClaimable(part, identity));
  const predecessors = claimable.filter(({ state }) => state === 'ready');
  // Octavia takes no tag of them now. Their address and group stay as they are until it does.
  const waitedFor = claimable.filter(({ state }) => state !== 'ready');
  const mine = parts.filter(({ owner }) => sameOwner(owner, identity.owner));
  const ownsOne = predecessors.length > 0 || mine.some(({ kind }) => kind === 'load-balancer');
  const claimed = ownsOne ? parts : parts.filter(({ kind }) => kind !== 'floating-ip');
  const claims = waitedFor.length > 0 ? [] : planClaims({ identity, parts: claimed }, predecessors[0]);
  if (claims.length > 0) return { actions: claims, complete: false, ingress: [] };
  const shared = mine.filter(({ kind }) => kind === 'shared-load-balancer');
  const balancers = [...mine.filter(({ kind }) => kind === 'load-balancer'), ...shared];
  const actions = removeParts(mine, context);
  const warnings = [
    ...lateWarnings([...balancers, ...waitedFor]),
    ...errorWarnings([...shared, ...waitedFor]),
    ...balancers.flatMap((part) => errorsBelow(part, identity)),
  ];
  return { actions, complete: mine.length === 0 && waitedFor.length === 0, ingress: [], warnings };
}

/** Of those that the Service may not delete, which is what leads out of it. */
function errorWarnings(parts: readonly LoadBalancerPart[]): readonly LoadBalancerWarning[] {
  return parts
    .map(loadBalancerIn)
    .filter(({ status }) => status === 'ERROR')
    .map(({ id }) => ({
      reason: 'LoadBalancerInError',
      message: `Octavia says that the load balancer ${id} is in ERROR: nothing of this Service can be removed from it until an operator fails it over (openstack loadbalancer failover)`,
    }));
}

/** All of one Service's. */
export function removeParts(
  parts: readonly LoadBalancerPart[],
  context: RemovingContext,
): readonly LoadBalancerAction[] {
  const of = (kind: PartKind): readonly LoadBalancerPart[] => parts.filter((part) => part.kind === kind);
  const balancers = of('load-balancer');
  return [
    ...of('security-group').flatMap(removeGroup),
    ...of('floating-ip').flatMap((part) => removeFloatingIP(part, balancers, context)),
    ...balancers.flatMap((part) => [...detachOthers(part, context), ...removeLoadBalancer(part, context)]),
    ...of('shared-load-balancer').flatMap((part) => leaveLoadBalancer(part, context)),
  ];
}

/**
 * It goes with the load balancer where others stay on it: once that is another's, since who will own it is not known before.
 * It stays where the user wants that, or has put it to another use.
 */
function removeFloatingIP(
  part: LoadBalancerPart,
  balancers: readonly LoadBalancerPart[],
  context: RemovingContext,
): readonly LoadBalancerAction[] {
  const one = floatingIPIn(part);
  const target = { kind: 'floating-ip', id: part.id } as const;
  const under = balancers.find((balancer) => one.portId !== null && loadBalancerIn(balancer).vipPortId === one.portId);
  const isShared = under && ownersIn(loadBalancerIn(under).tags).sharers.length > 0;
  if (isShared && !goesToStrangers(under, context)) return [];
  if (under && mayServeOthers(under, context)) return [];
  const heir = one.loadBalancerOwner;
  if (heir && !sameOwner(heir, context.identity.owner)) {
    const description = markedDescription(one.description, { owner: heir, keep: one.keep });
    const change = markChange('floatingips', part.id, description, heir);
    const summary = `leave the floating IP ${one.address} to the Service ${heir.uid}`;
    return [leaving(actionOf('update', target, summary, change))];
  }
  const keep = one.keep || keepsFloatingIP(context.identity.service);
  // To those of other namespaces the address is not left: it goes with its owner.
  if (isShared) return [keep ? detachment(one, target) : deletion(one)];
  const elsewhere = one.forwards || (one.portId !== null && (!under || isSharedByOthers(under, context)));
  if (!keep && !elsewhere) return [deletion(one)];
  const change = markChange('floatingips', part.id, ofNobody(one.description), null);
  return [leaving(actionOf('update', target, `release the floating IP ${one.address}`, change))];
}

/** Whether those who share it are all of other namespaces. That its listeners say, which are not read while it changes. */
function goesToStrangers(part: LoadBalancerPart, { identity }: RemovingContext): boolean {
  const loadBalancer = loadBalancerIn(part);
  const isShared = ownersIn(loadBalancer.tags).sharers.length > 0;
  return isShared && loadBalancer.children !== undefined && heirsOf(loadBalancer, identity).length === 0;
}

/** An address that is no part of the Service's, and for its namespace, is not left to those of others, and not deleted. */
function detachOthers(part: LoadBalancerPart, context: RemovingContext): readonly LoadBalancerAction[] {
  if (!goesToStrangers(part, context)) return [];
  const its = loadBalancerIn(part).floatingIPs.filter(
    ({ id }) => thingOf(context.others, 'floating-ip', id)?.mayUse === true,
  );
  return its.map((one) => {
    const thing = { kind: 'floating-ip', id: one.id } as const;
    return touching(detachment(one, { kind: 'load-balancer', id: part.id }), [thing]);
  });
}

function detachment(one: ObservedFloatingIP, target: Target): LoadBalancerAction {
  return actionOf('update', target, `detach the floating IP ${one.address}`, floatingIPMove(one, null));
}

/** Without our mark, and without the words by which we, as CPO does, know what was made for a Service: it is the user's now. */
const ofNobody = (description: string): string =>
  unmarked(description).replace(cpoFloatingIPText, 'Floating IP kept from Kubernetes service');
