/** What is to be done so that a Service has no load balancer, or no part of one, any more. Pure. */
import type { DesiredLoadBalancer, LoadBalancerAction, LoadBalancerPart, Owner } from '@outrigger/cloud-provider';
import type { ServiceIdentity } from '../service-identity.ts';
import { loadBalancerIn, type ObservedListener, type PartKind } from '../observed-tree.ts';
import { isLeft, leftTag, ownersIn, ownerTag, sharerTag } from '../ownership.ts';
import { actionOf, leaving, type ChangeOf, type PlannedRequest, type Target } from './change.ts';
import { diffRemovals } from './diff-listeners.ts';
import { actionsOf, type Diff } from './diff.ts';
import { deleteRequest, tagsAfter, tagsChange } from './octavia-requests.ts';
import { cpoTagsIn, heirsOf, isOwnChild } from '../listener-owner.ts';

export interface RemovingContext extends Pick<DesiredLoadBalancer, 'others'> {
  readonly identity: ServiceIdentity;
  readonly cascadeDelete: boolean;
}

/** Deletes it, or where others share it: what of it is ours, and the first of them owns it then. */
export function removeLoadBalancer(part: LoadBalancerPart, context: RemovingContext): readonly LoadBalancerAction[] {
  const { children, id, name, status } = loadBalancerIn(part);
  if (status !== 'ACTIVE' && status !== 'ERROR') return [];
  if (stays(part, context)) {
    return removeShare(part, (left) => handOver(part, left, context), context);
  }
  const cascade = context.cascadeDelete || status === 'ERROR';
  const deletion = deletionOf(part, `delete the load balancer ${name}`, { cascade });
  if (cascade || !children) return [deletion];
  const { isHeld, steps } = removalsOf(part, context);
  const last = steps.length > 0 || isHeld ? [] : [deletion];
  return [...dropCpoTags(part, context), ...actionsOf(steps, id, 'load-balancer'), ...last];
}

/** Of a load balancer of the Service's own: others share it. */
function stays(part: LoadBalancerPart, context: RemovingContext): boolean {
  return ownersIn(loadBalancerIn(part).tags).sharers.length > 0 || isSharedByOthers(part, context);
}

/** Only our listeners go, and our tags. */
export function leaveLoadBalancer(part: LoadBalancerPart, context: RemovingContext): readonly LoadBalancerAction[] {
  const { id, status, tags } = loadBalancerIn(part);
  if (status !== 'ACTIVE') return [];
  const lastSharer = context.identity.owner;
  const { sharers } = ownersIn(tags);
  if (isLeft(tags) && sharers.length === 1 && !isSharedByOthers(part, context)) {
    const summary = `delete the load balancer ${id}, which its owner has left`;
    return removeShare(part, () => deletionOf(part, summary, { cascade: true, lastSharer }), context);
  }
  return removeShare(part, (left) => leave(part, left, { remove: [sharerTag(lastSharer)] }), context);
}

const CASCADE = [['cascade', 'true']] as const;

function deletionOf(
  part: LoadBalancerPart,
  summary: string,
  { cascade, lastSharer }: { readonly cascade: boolean; readonly lastSharer?: Owner },
): LoadBalancerAction {
  const { id } = part;
  const { children, tags } = loadBalancerIn(part);
  const request: PlannedRequest = { ...deleteRequest('loadbalancers', id), ...(cascade && { query: CASCADE }) };
  const change = {
    op: 'delete-load-balancer',
    loadBalancerId: id,
    request,
    cpoTags: cpoTagsIn(tags),
    ...(children && { listenerIds: children.listeners.map((one) => one.id) }),
    ...(lastSharer && { lastSharer }),
  } as const;
  return actionOf('delete', targetOf(part), summary, change);
}

/**
 * By the tag that goes at the end alone it is known that something of ours is here: it goes once nothing of ours is seen any more.
 * `end` is given the tags that are there by then.
 */
function removeShare(
  part: LoadBalancerPart,
  end: (tags: readonly string[]) => LoadBalancerAction,
  context: RemovingContext,
): readonly LoadBalancerAction[] {
  const { children, id, tags } = loadBalancerIn(part);
  if (!children) return [];
  const { isHeld, steps } = removalsOf(part, context);
  const last = steps.length > 0 || isHeld ? [] : [end(tagsAfter(tags, cpoTagsChange(part, context)))];
  return [...dropCpoTags(part, context), ...actionsOf(steps, id, kindOf(part)), ...last];
}

/** Whether Octavia could not remove something of it a short while ago: the rest waits for that. */
export function isRemovalHeld(part: LoadBalancerPart, context: RemovingContext): boolean {
  return removalsOf(part, context).isHeld === true;
}

/** Of all that is on it where it goes, and else of what is ours. */
function removalsOf(part: LoadBalancerPart, context: RemovingContext): Diff {
  const { listeners = [], loosePools = [] } = loadBalancerIn(part).children ?? {};
  if (part.kind === 'load-balancer' && !stays(part, context)) return diffRemovals(listeners, loosePools);
  const loose = loosePools.filter((pool) => isOurs(pool, part, context));
  return diffRemovals(ownListeners(part, context), loose);
}

/**
 * First of all, while our listeners are there to say which they are: without them, a tag of CPO's that stayed would keep the load
 * balancer for a Service that is gone. Where CPO's tag was all that stood for a share, ours takes its place until the listeners are gone.
 */
function dropCpoTags(part: LoadBalancerPart, context: RemovingContext): readonly LoadBalancerAction[] {
  const loadBalancer = loadBalancerIn(part);
  const { add, remove } = cpoTagsChange(part, context);
  if (remove.length === 0 && add.length === 0) return [];
  const summary = `remove the tag of this Service from the load balancer ${loadBalancer.id}`;
  return [actionOf('update', targetOf(part), summary, tagsChange(loadBalancer, { add, remove }))];
}

function cpoTagsChange(part: LoadBalancerPart, context: RemovingContext): Pick<ChangeOf<'tags'>, 'add' | 'remove'> {
  const { tags } = loadBalancerIn(part);
  const stays = part.kind === 'shared-load-balancer' ? [sharerTag(context.identity.owner)] : [];
  return {
    add: stays.filter((tag) => !tags.includes(tag)),
    remove: ourCpoTags(part, context).filter((tag) => tags.includes(tag)),
  };
}

/** To the first of its heirs. To Services of a CPO alone without an owner; to those of other namespaces too, and the last of them deletes it. */
function handOver(part: LoadBalancerPart, tags: readonly string[], { identity }: RemovingContext): LoadBalancerAction {
  const [heir] = heirsOf(loadBalancerIn(part), identity);
  const sharers = ownersIn(tags).sharers.map(sharerTag);
  const own = ownerTag(identity.owner);
  if (heir) {
    const was = sharerTag(heir);
    return leave(part, tags, { add: [ownerTag(heir)], remove: [own, was], needs: [was] });
  }
  if (sharers.length === 0) return leave(part, tags, { remove: [own] });
  return leave(part, tags, { add: [leftTag(identity.owner)], remove: [own], needs: sharers });
}

function leave(
  part: LoadBalancerPart,
  tags: readonly string[],
  change: Parameters<typeof tagsChange>[1],
): LoadBalancerAction {
  const { id } = part;
  const summary = `leave the load balancer ${id} to those who share it`;
  return leaving(actionOf('update', targetOf(part), summary, tagsChange({ id, tags }, change)));
}

/**
 * Services of a CPO that is still at work. Their listeners say so: CPO puts its tag on the load balancer after it has made them, and
 * a tag of which there is no listener is what somebody left behind.
 */
export function isSharedByOthers(part: LoadBalancerPart, context: RemovingContext): boolean {
  const ours = ourCpoTags(part, context);
  const listeners = loadBalancerIn(part).children?.listeners ?? [];
  return listeners.some((one) => !isOurs(one, part, context) && cpoTagsIn(one.tags).some((tag) => !ours.includes(tag)));
}

/** While it changes its listeners are not read: until they are, a tag of CPO's is another Service's that is served. */
export function mayServeOthers(part: LoadBalancerPart, context: RemovingContext): boolean {
  const { children, tags } = loadBalancerIn(part);
  const ours = ourCpoTags(part, context);
  return !children && cpoTagsIn(tags).some((tag) => !ours.includes(tag));
}

/** CPO's tags of this Service: of one that is gone only its listeners still say them, and the name of what was made for it. */
function ourCpoTags(part: LoadBalancerPart, context: RemovingContext): readonly string[] {
  const tagged = ownListeners(part, context).flatMap(({ tags }) => cpoTagsIn(tags));
  const own = part.kind === 'load-balancer' ? [loadBalancerIn(part).name] : [];
  return [
    ...new Set([...context.identity.names.map(({ loadBalancer }) => loadBalancer), ...tagged, ...own]),
  ].toSorted();
}

function ownListeners(part: LoadBalancerPart, context: RemovingContext): readonly ObservedListener[] {
  return (loadBalancerIn(part).children?.listeners ?? []).filter((one) => isOurs(one, part, context));
}

function isOurs(
  child: Parameters<typeof isOwnChild>[0],
  part: LoadBalancerPart,
  { identity }: RemovingContext,
): boolean {
  return isOwnChild(child, identity, part.kind === 'load-balancer');
}

const kindOf = ({ kind }: LoadBalancerPart): PartKind =>
  kind === 'load-balancer' ? 'load-balancer' : 'shared-load-balancer';

const targetOf = (part: LoadBalancerPart): Target => ({ kind: kindOf(part), id: part.id });
