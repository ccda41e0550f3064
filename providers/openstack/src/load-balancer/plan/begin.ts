/** What is to be done while a Service has no load balancer: take one over, join one, or make one. Pure. */
import {
  CloudError,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type Owner,
  sameOwner,
} from '@outrigger/cloud-provider';
import { loadBalancerIn } from '../observed-tree.ts';
import { notForThis, thingOf } from '../foreign-things.ts';
import { ownerTag, sharerTag } from '../ownership.ts';
import { actionOf, touching } from './change.ts';
import { hasPredecessorsShare, isClaimable, isNamesakes } from '../predecessor.ts';
import { planClaims } from './claims.ts';
import { sharesIn } from '../listener-owner.ts';
import { placeRefusal } from './place-refusal.ts';
import type { ServingContext } from './serving-context.ts';
import { placeSecondVip } from './second-vip.ts';
import { sharingRefusal } from './sharing.ts';
import { loadBalancerCreation } from './create-load-balancer.ts';
import { addressRefusal, floatingIPOfNew } from './plan-floating-ip.ts';
import { tagsChange } from './octavia-requests.ts';
import { addressAnnotation } from './status.ts';

/** The load balancer that the Service names; else its own, the oldest where a lost answer has made two; else what else was seen. */
export function choosePart(
  parts: readonly LoadBalancerPart[],
  owner: Owner,
  named: string | undefined,
): LoadBalancerPart | undefined {
  const all = parts.filter(({ kind }) => kind === 'load-balancer' || kind === 'shared-load-balancer');
  const ofName = all.find(({ id }) => id === named);
  if (ofName) return ofName;
  const own = all
    .filter((part) => part.kind === 'load-balancer' && sameOwner(part.owner, owner))
    .toSorted((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1));
  // One that is going away makes no difference once there is another.
  return own.find(({ state }) => state !== 'deleting') ?? own[0] ?? all.find(({ kind }) => kind === 'load-balancer');
}

const ageKey = (part: LoadBalancerPart): string => `${loadBalancerIn(part).createdAt} ${part.id}`;

type Begin = Omit<LoadBalancerPlan, 'warnings'>;

const refuse = (error: CloudError): Begin => ({ actions: [], complete: false, ingress: [], refused: error });
const act = (...actions: readonly LoadBalancerAction[]): Begin => ({ actions, complete: false, ingress: [] });
const wait: Begin = { actions: [], complete: false, ingress: [] };

export function beginLoadBalancer(part: LoadBalancerPart | undefined, context: ServingContext): Begin {
  const { desired, identity, tree } = context;
  const { existing, names } = tree.loadBalancer;
  if (!part) {
    if (tree.loadBalancer.refusedAnew) return refuse(tree.loadBalancer.refusedAnew);
    // What the program wrote itself, and Octavia says is gone: another is made. What a person wrote is a mistake, as is another project's.
    const isWritten = desired.service.annotations[addressAnnotation] !== undefined;
    if (existing && (!isWritten || thingOf(desired.others, 'load-balancer', existing.id))) {
      return refuse(namedNotForThis(existing.id, desired));
    }
    const address = addressRefusal(tree.floatingIP, context);
    if (address) return refuse(address);
    const { family, networkId, portId, subnetFamily, subnetId, subnetOf } = tree.loadBalancer.vip;
    // Without a back end it is not known where: one will come.
    if (!networkId && !portId && !subnetId && !subnetOf) return wait;
    const denied = placeRefusal(undefined, context, [portId, networkId, subnetId]);
    if (denied) return refuse(denied);
    // Of a subnet that it may not use, nothing is said.
    if (subnetFamily && subnetFamily !== family) {
      const text = `the subnet that subnet-id names has ${subnetFamily} addresses, and the Service needs an ${family} address; set subnet-id to another, or ask for the other family`;
      return refuse(new CloudError('invalid', text));
    }
    const placed = placeSecondVip(context);
    if (placed.refused) return refuse(placed.refused);
    const change = loadBalancerCreation(placed.tree, [ownerTag(desired.owner), names.loadBalancer]);
    const ports = tree.listeners.map(({ port, protocol }) => `${protocol} ${port}`).join(', ');
    const summary = `create the load balancer ${names.loadBalancer}: ${ports}`;
    const creation = actionOf('create', { kind: 'load-balancer' }, summary, change);
    return act(touching(creation, placed.used), ...floatingIPOfNew(placed.tree, context));
  }
  if (isClaimable(part, identity)) {
    return part.state === 'ready' ? act(...planClaims(context, part)) : waitOrFail(part);
  }
  if (existing?.id === part.id) return join(part, context);
  const { id, name } = loadBalancerIn(part);
  const text = `the load balancer ${id} has the name of this Service's, ${name}, but no owner; set the annotation loadbalancer.openstack.org/load-balancer-id to its ID to take it over, or delete it`;
  return refuse(new CloudError('not-owned', text));
}

function join(part: LoadBalancerPart, context: ServingContext): Begin {
  const { desired, identity, tree } = context;
  const { existing } = tree.loadBalancer;
  const loadBalancer = loadBalancerIn(part);
  const { children, id, name, tags } = loadBalancer;
  // What a predecessor has joined already stays so.
  const joined = hasPredecessorsShare(part, identity);
  const isTheirs = isNamesakes(part, identity);
  if (!joined && tree.loadBalancer.refusedAnew) return refuse(tree.loadBalancer.refusedAnew);
  if (!joined && !isTheirs && thingOf(desired.others, 'load-balancer', id)?.mayUse === false) {
    return refuse(namedNotForThis(id, desired));
  }
  if (part.state !== 'ready' || !children || !existing) return waitOrFail(part);
  if (isTheirs) {
    const text = `the load balancer ${id} has the name of this Service's, ${name}, but another owner; remove the annotation load-balancer-id to get a new one, or remove the owner's tag if the owner is permanently gone`;
    return refuse(new CloudError('not-owned', text));
  }
  const refused =
    placeRefusal(part, context) ?? sharingRefusal({ loadBalancer, children, owns: false, tree, identity });
  if (refused) return refuse(refused);
  const shares = sharesIn(tags);
  const counted = identity.names.some((one) => tags.includes(one.loadBalancer));
  if (!counted && shares + 1 > existing.maxShared) {
    const text = `the load balancer ${id} is used by ${shares} Services already (max-shared-lb ${existing.maxShared}); name another, or none`;
    return refuse(new CloudError('quota', text));
  }
  const change = tagsChange(loadBalancer, {
    add: [sharerTag(desired.owner)],
    // CPO has counted it already.
    ...(!counted && { maxShared: existing.maxShared }),
  });
  const summary = `share the load balancer ${id} with its owner`;
  const action = actionOf('create', { kind: 'shared-load-balancer' }, summary, change);
  return act(touching(action, joined ? [] : [{ kind: 'load-balancer', id }]));
}

const namedNotForThis = (id: string, { service }: ServingContext['desired']): CloudError =>
  notForThis(`the load balancer ${id}, which the annotation load-balancer-id names,`, service.namespace);

function waitOrFail({ id, state }: LoadBalancerPart): Begin {
  if (state !== 'failed') return wait;
  return refuse(
    new CloudError('unavailable', `Octavia says that the load balancer ${id} is in ERROR; fail it over first`),
  );
}
