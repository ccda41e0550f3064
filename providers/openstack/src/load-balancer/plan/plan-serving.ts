/** What is to be done so that a Service has the load balancer that it asks for. Pure. */
import {
  sameOwner,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import {
  floatingIPIn,
  isLoadBalancer,
  loadBalancerIn,
  type ObservedChildren,
  type ObservedLoadBalancer,
} from '../observed-tree.ts';
import { isLeft, ownerTag, sharerTag } from '../ownership.ts';
import { beginLoadBalancer, choosePart } from './begin.ts';
import { actionOf, type Target } from './change.ts';
import { planClaims } from './claims.ts';
import { diffListeners } from './diff-listeners.ts';
import { tagsChange } from './octavia-requests.ts';
import { actionsOf } from './diff.ts';
import { isOwnChild } from '../listener-owner.ts';
import { placeRefusal, touchingPlaces } from './place-refusal.ts';
import { planFloatingIP, type FloatingIPPlan } from './plan-floating-ip.ts';
import { removeParts } from './plan-removing.ts';
import { isRemovalHeld, removeLoadBalancer, type RemovingContext } from './remove-load-balancer.ts';
import { planNeutronTags } from './plan-neutron-tags.ts';
import { planSecurityGroup, securityGroupWarnings } from './plan-security-group.ts';
import type { ServingContext } from './serving-context.ts';
import { sharingRefusal } from './sharing.ts';
import { secondVipRefusal, secondVipWarnings, treeOnVips } from './second-vip.ts';
import { errorsBelow, ingressOf, lateWarnings, servedAnnotations } from './status.ts';

/** A server may be named as its node, or be read, by then; each time costs a read of every Service that has such a node. */
const CLOSED_AGAIN_MS = 1_800_000;
const IDLE = { actions: [], complete: false, ingress: [] };

export function planServing(context: ServingContext): LoadBalancerPlan {
  const { desired, parts, tree } = context;
  const part = choosePart(parts, desired.owner, tree.loadBalancer.existing?.id);
  return touchingPlaces(part, context, planOf(part, context));
}

function planOf(part: LoadBalancerPart | undefined, context: ServingContext): LoadBalancerPlan {
  const { parts, tree, warnings } = context;
  const joined = part !== undefined && part.owner !== undefined && isOurs(part, context);
  if (!joined) return { warnings, ...beginLoadBalancer(part, context) };
  // What is on the VIP of another's load balancer is its owner's.
  const mine = part.kind === 'load-balancer' ? parts : parts.filter(({ kind }) => kind !== 'floating-ip');
  const claims = planClaims({ ...context, parts: mine }, undefined);
  if (claims.length > 0) return { ...IDLE, actions: claims, warnings };
  if (tree.refused) return { ...IDLE, warnings, refused: tree.refused };
  return planChosen(part, { ...context, tree: treeOnVips(tree, loadBalancerIn(part)) });
}

/** By its owner's tag, or by that of one who shares it. */
function isOurs(part: LoadBalancerPart, { desired }: ServingContext): boolean {
  return part.kind === 'shared-load-balancer' || sameOwner(part.owner, desired.owner);
}

function planChosen(part: LoadBalancerPart, context: ServingContext): LoadBalancerPlan {
  const { desired, tree } = context;
  const loadBalancer = loadBalancerIn(part);
  const { children, status, tags } = loadBalancer;
  const owns = part.kind === 'load-balancer';
  if (!owns && isLeft(tags)) return planLeft(part, context);
  const target: Target = { kind: owns ? 'load-balancer' : 'shared-load-balancer', id: part.id };
  const floating = owns
    ? planFloatingIP(tree.floatingIP, {
        desired,
        loadBalancer,
        target,
        parts: context.parts.filter(({ kind }) => kind === 'floating-ip'),
      })
    : sharedFloatingIP(loadBalancer);
  const closed = securityGroupWarnings(context);
  const told = [...secondVipWarnings(tree, loadBalancer), ...closed];
  const warnings = [...context.warnings, ...floating.warnings, ...told];
  const ingress = ingressOf(tree.status, floating.address, loadBalancer);
  // A load balancer that is being made is no promise yet; one that serves keeps its address through every change.
  const promised = desired.service.ingress.length > 0 ? ingress : [];
  if (status === 'ERROR') return { ...planFailed(part, context, warnings), ingress: promised };
  if (status !== 'ACTIVE' || !children) {
    return { ...IDLE, ingress: promised, warnings: [...warnings, ...lateWarnings([part])] };
  }
  if (floating.refused && floating.actions.length > 0) return { ...IDLE, actions: floating.actions, warnings };
  const refused =
    sharingRefusal({ loadBalancer, children, owns, tree, identity: context.identity }) ??
    secondVipRefusal(tree, loadBalancer) ??
    floating.refused ??
    placeRefusal(part, context);
  if (refused) return { ...IDLE, warnings, refused };
  const failed = errorsBelow(part, context.identity);
  const { isHeld, steps, waiting } = diffTree(loadBalancer, children, target, context);
  const settled = steps.length === 0 && !waiting;
  const actions = settled ? planRest(part, children, { floating, isHeld }, context) : steps;
  const serves = settled && !isHeld && actions.length === 0;
  // Octavia takes no removal from these now; the Service is served meanwhile.
  const removing = removingContext(context);
  const waitedFor = replacedBy(part, context).filter((one) => one.state === 'pending' || isRemovalHeld(one, removing));
  const below = waitedFor.flatMap((one) => errorsBelow(one, context.identity));
  return {
    actions,
    complete: serves && waitedFor.length === 0,
    ingress: serves ? ingress : promised,
    ...(serves && closed.length > 0 && { againAfterMs: CLOSED_AGAIN_MS }),
    ...(serves && floating.address !== undefined && { annotations: servedAnnotations(part.id, floating.address) }),
    warnings: [...warnings, ...failed, ...lateWarnings(waitedFor), ...below],
  };
}

/** Load balancers that were the Service's, or that it shared, before this one. */
function replacedBy(part: LoadBalancerPart, context: ServingContext): readonly LoadBalancerPart[] {
  return context.parts.filter((one) => one !== part && isLoadBalancer(one) && one.owner && isOurs(one, context));
}

/**
 * Its owner was of another namespace, and has gone with the address: neither passes on. What was said of the address is taken back, so
 * that no node sends its traffic to a Service that is not reached there.
 */
function planLeft({ id }: LoadBalancerPart, { warnings }: ServingContext): LoadBalancerPlan {
  const message = `The owner of the load balancer ${id} is gone, and its address with it; what belonged to another namespace is not inherited. Remove the annotation load-balancer-id to get a load balancer for this Service`;
  const left = { reason: 'LoadBalancerLeft', message };
  return { actions: [], complete: true, ingress: [], warnings: [...warnings, left] };
}

/** Octavia's part: its tags, then what hangs below it. */
function diffTree(
  loadBalancer: ObservedLoadBalancer,
  children: ObservedChildren,
  target: Target,
  { desired, identity, tree }: ServingContext,
): { readonly steps: readonly LoadBalancerAction[]; readonly waiting: boolean; readonly isHeld: boolean } {
  const { owner } = desired;
  const name = tree.loadBalancer.names.loadBalancer;
  const owns = target.kind === 'load-balancer';
  const {
    isHeld = false,
    steps,
    waiting,
  } = diffListeners({
    loadBalancer,
    children,
    tree,
    tags: [ownerTag(owner), name],
    isOurs: (child) => isOwnChild(child, identity, owns),
  });
  const tags = [owns ? ownerTag(owner) : sharerTag(owner), name].filter((tag) => !loadBalancer.tags.includes(tag));
  const change = tagsChange(loadBalancer, { add: tags });
  const tagging = tags.length === 0 ? [] : [actionOf('update', target, 'write the tags of the load balancer', change)];
  // CPO's tag says that there are listeners: it comes after them.
  const isRest = steps.length === 0 && !waiting;
  const actions = isRest ? tagging : actionsOf(steps, loadBalancer.id, target.kind);
  return { steps: actions, waiting, isHeld };
}

/**
 * What comes once traffic could flow: Neutron's part, and what this load balancer has replaced. While something is in ERROR nodes are
 * opened to what serves, and nothing moves here from elsewhere.
 */
function planRest(
  part: LoadBalancerPart,
  children: ObservedChildren,
  { floating, isHeld }: { readonly floating: FloatingIPPlan; readonly isHeld: boolean },
  context: ServingContext,
): readonly LoadBalancerAction[] {
  const { desired, parts, tree } = context;
  const group = planSecurityGroup(tree.securityGroup, {
    ...context,
    loadBalancer: loadBalancerIn(part),
    listeners: children.listeners.filter((one) => isOwnChild(one, context.identity, part.kind === 'load-balancer')),
    subnetCidrs: children.subnetCidrs,
    parts: parts.filter(({ kind }) => kind === 'security-group'),
  });
  if (isHeld) return group.filter(({ kind, mayCutTraffic }) => kind !== 'delete' && !mayCutTraffic);
  const actions = [...floating.actions, ...group];
  if (actions.length > 0) return actions;
  const addresses = parts.filter((one) => one.kind === 'floating-ip' && isUnused(one, part));
  const removed = removeParts([...addresses, ...replacedBy(part, context)], removingContext(context));
  return removed.length > 0 ? removed : planNeutronTags(parts, desired.owner);
}

const removingContext = ({ desired, identity, tree }: ServingContext): RemovingContext => ({
  identity,
  others: desired.others,
  cascadeDelete: tree.loadBalancer.cascadeDelete,
});

/**
 * Whether a floating IP of ours is of no use to us. On the VIP of another's load balancer it is its owner's; beside a load balancer of
 * our own, one that is free or on its VIP has been looked at, and one that is on no load balancer was put there by the user.
 */
function isUnused(floatingIP: LoadBalancerPart, chosen: LoadBalancerPart): boolean {
  const { loadBalancerOwner, portId } = floatingIPIn(floatingIP);
  return (
    chosen.kind === 'shared-load-balancer' ||
    (loadBalancerOwner !== null && portId !== loadBalancerIn(chosen).vipPortId)
  );
}

/** An operator can fail it over; by our own rights there is only another one, which has another address. */
function planFailed(
  part: LoadBalancerPart,
  { desired, identity, tree }: ServingContext,
  warnings: readonly LoadBalancerWarning[],
): Omit<LoadBalancerPlan, 'ingress'> {
  const { late } = loadBalancerIn(part);
  const served = desired.service.ingress.length > 0;
  if (part.kind === 'load-balancer' && !served && late !== 'no') {
    return {
      actions: removeLoadBalancer(part, { identity, cascadeDelete: tree.loadBalancer.cascadeDelete }),
      complete: false,
      warnings,
    };
  }
  const message =
    served || part.kind !== 'load-balancer'
      ? `Octavia says that the load balancer ${part.id} is in ERROR: it takes no change until an operator fails it over (openstack loadbalancer failover)`
      : `Octavia could not create the load balancer ${part.id} (ERROR): it is deleted and created again`;
  return { actions: [], complete: false, warnings: [...warnings, { reason: 'LoadBalancerInError', message }] };
}

/** Attached by the owner alone, so that nobody exposes what is another's. */
function sharedFloatingIP({ floatingIPs, vipAddress }: ObservedLoadBalancer): FloatingIPPlan {
  return { actions: [], address: floatingIPs[0]?.address ?? vipAddress ?? undefined, warnings: [] };
}
