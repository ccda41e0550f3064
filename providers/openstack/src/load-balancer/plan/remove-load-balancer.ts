/** What is to be done so that a Service has no load balancer, or no part of one, any more. Pure. */
import type { LoadBalancerAction, LoadBalancerPart } from '@outrigger/cloud-provider';
import type { ServiceIdentity } from '../service-identity.ts';
import { loadBalancerIn, type ObservedListener } from '../observed-tree.ts';
import { isLeft, leftTag, ownersIn, ownerTag, sharerTag } from '../ownership.ts';
import { actionOf, leaving, type ChangeOf, type Target } from './change.ts';
import { removeListener } from './diff-listeners.ts';
import { removePool, type Step } from './diff.ts';
import { deleteRequest, tagsAfter, tagsChange } from './octavia-requests.ts';
import { cpoPrefix, heirsOf, isOwnChild } from '../listener-owner.ts';

export interface RemovingContext {
  readonly identity: ServiceIdentity;
  readonly cascadeDelete: boolean;
}

/** Deletes it, or where others share it: what of it is ours, and the first of them owns it then. */
export function removeLoadBalancer(part: LoadBalancerPart, context: RemovingContext): readonly LoadBalancerAction[] {
  const loadBalancer = loadBalancerIn(part);
  const { children, id, name, status, tags } = loadBalancer;
  if (status !== 'ACTIVE' && status !== 'ERROR') return [];
  const target = { kind: 'load-balancer', id } as const;
  if (ownersIn(tags).sharers.length > 0 || isSharedByOthers(part, context)) {
    return removeShare(part, target, (tags) => handOver(part, target, tags, context), context);
  }
  const cascade = context.cascadeDelete || status === 'ERROR';
  const request = deleteRequest('loadbalancers', id, { cascade });
  const change = { op: 'delete-load-balancer', loadBalancerId: id, request } as const;
  const action = actionOf('delete', target, `delete the load balancer ${name}`, change);
  if (cascade || !children) return [action];
  const steps = [
    ...children.listeners.flatMap(removeListener),
    ...children.loosePools.map((pool) => removePool(pool.id, pool.name)),
  ];
  return [...dropCpoTags(part, target, context), ...asActions(steps, id, target), action];
}

/** Only our listeners go, and our tags. */
export function leaveLoadBalancer(part: LoadBalancerPart, context: RemovingContext): readonly LoadBalancerAction[] {
  const { id, status } = loadBalancerIn(part);
  if (status !== 'ACTIVE') return [];
  const target = { kind: 'shared-load-balancer', id } as const;
  const { owner } = context.identity;
  const { sharers } = ownersIn(loadBalancerIn(part).tags);
  if (isLeft(loadBalancerIn(part).tags) && sharers.length === 1 && !isSharedByOthers(part, context)) {
    const request = deleteRequest('loadbalancers', id, { cascade: true });
    const deletion = { op: 'delete-load-balancer', loadBalancerId: id, request, lastSharer: owner } as const;
    const last = actionOf('delete', target, `delete the load balancer ${id}, which its owner has left`, deletion);
    return removeShare(part, target, () => last, context);
  }
  const leave = (tags: readonly string[]): LoadBalancerAction => {
    const change = tagsChange({ id, tags }, { remove: [sharerTag(owner)] });
    return leaving(actionOf('update', target, `leave the load balancer ${id} to those who share it`, change));
  };
  return removeShare(part, target, leave, context);
}

/**
 * By the tag that goes at the end alone it is known that something of ours is here: it goes once nothing of ours is seen any more.
 * `end` is given the tags that are there by then.
 */
function removeShare(
  part: LoadBalancerPart,
  target: Target,
  end: (tags: readonly string[]) => LoadBalancerAction,
  context: RemovingContext,
): readonly LoadBalancerAction[] {
  const { children, tags } = loadBalancerIn(part);
  if (!children) return [];
  const own = removeOwnChildren(part, target, context);
  const after = tagsAfter(tags, cpoTagsChange(part, context));
  return [...dropCpoTags(part, target, context), ...(own.length > 0 ? own : [end(after)])];
}

/**
 * First of all, while our listeners are there to say which they are: without them, a tag of CPO's that stayed would keep the load
 * balancer for a Service that is gone. Where CPO's tag was all that stood for a share, ours takes its place until the listeners are gone.
 */
function dropCpoTags(part: LoadBalancerPart, target: Target, context: RemovingContext): readonly LoadBalancerAction[] {
  const loadBalancer = loadBalancerIn(part);
  const { add, remove } = cpoTagsChange(part, context);
  if (remove.length === 0 && add.length === 0) return [];
  const summary = `remove the tag of this Service from the load balancer ${loadBalancer.id}`;
  return [actionOf('update', target, summary, tagsChange(loadBalancer, { add, remove }))];
}

function cpoTagsChange(part: LoadBalancerPart, context: RemovingContext): Pick<ChangeOf<'tags'>, 'add' | 'remove'> {
  const { tags } = loadBalancerIn(part);
  const stays = part.kind === 'shared-load-balancer' ? [sharerTag(context.identity.owner)] : [];
  return {
    add: stays.filter((tag) => !tags.includes(tag)),
    remove: ourCpoTags(part, context).filter((tag) => tags.includes(tag)),
  };
}

function handOver(
  part: LoadBalancerPart,
  target: Target,
  tags: readonly string[],
  { identity }: RemovingContext,
): LoadBalancerAction {
  const { id } = part;
  const [heir] = heirsOf(loadBalancerIn(part), identity);
  const sharers = ownersIn(tags).sharers.map(sharerTag);
  const own = ownerTag(identity.owner);
  // To Services of a CPO alone it is left without an owner; to those of other namespaces too, and the last of them deletes it.
  const change = heir
    ? tagsChange({ id, tags }, { add: [ownerTag(heir)], remove: [own, sharerTag(heir)], needs: [sharerTag(heir)] })
    : sharers.length > 0
      ? tagsChange({ id, tags }, { add: [leftTag(identity.owner)], remove: [own], needs: sharers })
      : tagsChange({ id, tags }, { remove: [own] });
  return leaving(actionOf('update', target, `leave the load balancer ${id} to those who share it`, change));
}

/**
 * Services of a CPO that is still at work. Their listeners say so: CPO puts its tag on the load balancer after it has made them, and
 * a tag of which there is no listener is what somebody left behind.
 */
export function isSharedByOthers(part: LoadBalancerPart, context: RemovingContext): boolean {
  const ours = ourCpoTags(part, context);
  const listeners = loadBalancerIn(part).children?.listeners ?? [];
  return listeners.some(
    (one) => !isOurs(one, part, context) && one.tags.some((tag) => tag.startsWith(cpoPrefix) && !ours.includes(tag)),
  );
}

function removeOwnChildren(
  part: LoadBalancerPart,
  target: Target,
  context: RemovingContext,
): readonly LoadBalancerAction[] {
  const { children, id } = loadBalancerIn(part);
  if (!children) return [];
  const steps = [
    ...ownListeners(part, context).flatMap(removeListener),
    ...children.loosePools.filter((pool) => isOurs(pool, part, context)).map((pool) => removePool(pool.id, pool.name)),
  ];
  return asActions(steps, id, target);
}

/** CPO's tags of this Service: of one that is gone only its listeners still say them, and the name of what was made for it. */
function ourCpoTags(part: LoadBalancerPart, context: RemovingContext): readonly string[] {
  const tagged = ownListeners(part, context).flatMap(({ tags }) => tags.filter((tag) => tag.startsWith(cpoPrefix)));
  const own = part.kind === 'load-balancer' ? [loadBalancerIn(part).name] : [];
  return [
    ...new Set([...context.identity.names.map(({ loadBalancer }) => loadBalancer), ...tagged, ...own]),
  ].toSorted();
}

function ownListeners(part: LoadBalancerPart, context: RemovingContext): readonly ObservedListener[] {
  return (loadBalancerIn(part).children?.listeners ?? []).filter((one) => isOurs(one, part, context));
}

function isOurs(
  child: { readonly name: string; readonly tags: readonly string[] },
  part: LoadBalancerPart,
  { identity: { names, owner } }: RemovingContext,
): boolean {
  const ownsLoadBalancer = part.kind === 'load-balancer';
  return isOwnChild(child, { owner, names: names.map(({ loadBalancer }) => loadBalancer), ownsLoadBalancer });
}

function asActions(steps: readonly Step[], loadBalancerId: string, target: Target): readonly LoadBalancerAction[] {
  return steps.map(({ request, summary }) =>
    actionOf('update', target, summary, { op: 'octavia', loadBalancerId, request }),
  );
}
