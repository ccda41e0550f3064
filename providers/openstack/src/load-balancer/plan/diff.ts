/** What the parts of a diff share: steps, and what state a child is in. Pure. */
import { createHash } from 'node:crypto';
import type { LoadBalancerAction } from '@outrigger/cloud-provider';
import type { DesiredTree } from '../desired/desired-tree.ts';
import type { ObservedChild, ObservedChildren, ObservedLoadBalancer, PartKind } from '../observed-tree.ts';
import { placeOf, type Mending } from '../places-of-children.ts';
import { actionOf, type PlannedRequest } from './change.ts';
import { deleteRequest } from './octavia-requests.ts';

export interface Step {
  readonly summary: string;
  readonly request: PlannedRequest;
  /** It sets members without all that are there, or sources without all that are let in. */
  readonly leavesOut?: boolean;
  /** By which it is known how often this was tried. */
  readonly mends?: Mending;
  /** It, or what it waits for, was refused the last time. */
  readonly isDoubtful?: true;
}

/** What is refused ends a plan: what Octavia may refuse once more comes last. */
export const doubtfulLast = (steps: readonly Step[]): readonly Step[] => [
  ...steps.filter((one) => !one.isDoubtful),
  ...steps.filter((one) => one.isDoubtful),
];

/** These depend on each other. */
export const together = (steps: readonly Step[]): readonly Step[] =>
  steps.some((one) => one.isDoubtful) ? steps.map((one) => ({ ...one, isDoubtful: true })) : steps;

/** Of a load balancer of the Service's own, or one that it shares. */
export function actionsOf(
  steps: readonly Step[],
  loadBalancerId: string,
  kind: PartKind,
): readonly LoadBalancerAction[] {
  return steps.map(({ leavesOut, mends, request, summary }) => ({
    ...actionOf('update', { kind, id: loadBalancerId }, summary, {
      op: 'octavia',
      loadBalancerId,
      request,
      ...(mends && { mends }),
    }),
    ...(leavesOut && { mayCutTraffic: true }),
  }));
}

export interface Diff {
  readonly steps: readonly Step[];
  /** Something is on its way; Octavia answers a change of it with 409. */
  readonly waiting: boolean;
  /** Something is in ERROR, and was tried to be mended a short while ago. All else goes on. */
  readonly isHeld?: boolean | undefined;
}

export const NOTHING: Diff = { steps: [], waiting: false };
export const WAITING: Diff = { steps: [], waiting: true };
export const HELD: Diff = { steps: [], waiting: false, isHeld: true };

export interface TreeContext {
  readonly loadBalancer: ObservedLoadBalancer;
  readonly children: ObservedChildren;
  readonly tree: DesiredTree;
  /** On all that we make, in this order. */
  readonly tags: readonly string[];
  /** Whether a listener or pool with these tags is this Service's. */
  readonly isOurs: (part: { readonly name: string; readonly tags: readonly string[] }) => boolean;
}

/** What a child needs before its settings are compared. */
export type Health = 'ready' | 'waiting' | 'finish' | 'rebuild' | 'held';

type Judged = Omit<ObservedChild, 'id' | 'name'>;

/** `wish`: what it should be, as JSON. What failed for another wish than this is neither held nor made anew. */
export function healthOf({ late, status, tried }: Judged, wish: unknown): Health {
  if (status === 'ACTIVE') return 'ready';
  if (status === 'ERROR' && tried !== undefined && tried !== wishOf(wish)) return 'finish';
  if (late !== 'no') return late;
  return status === 'ERROR' ? 'held' : 'waiting';
}

/** OVN says ACTIVE to a change of a listener that it has never made. One that this process has seen ACTIVE it has made. */
export const mayBeUnmade = ({ status, wasActive }: Judged, { provider }: ObservedLoadBalancer): boolean =>
  status === 'ERROR' && provider === 'ovn' && !wasActive;

/** Octavia will perhaps never end its removal, and takes no other of it. */
export const isNeverGone = ({ late, status }: Judged): boolean => status === 'PENDING_DELETE' && late === 'rebuild';

/** The first of them is what mends it: where it fails, the others are not as they should be either. */
export function mending(child: Judged, place: string, wish: unknown, steps: readonly Step[]): readonly Step[] {
  const [first, ...others] = steps;
  if (!first || child.status !== 'ERROR') return steps;
  const mends = { place, wish: wishOf(wish) };
  const isDoubtful = child.wasRefused && child.tried === mends.wish;
  return together([{ ...first, mends, ...(isDoubtful && { isDoubtful }) }, ...others]);
}

/** By it two wishes are known as one: those of a pool may be a thousand members. */
const wishOf = (wish: unknown): string => createHash('sha256').update(JSON.stringify(wish)).digest('base64url');

/** To remove it; `undefined`: that was tried a short while ago. */
export function removing(child: ObservedChild, step: Step): Step | undefined {
  if (child.isRemovalHeld) return undefined;
  const mends = { place: placeOf.removal(child), wish: '' };
  return { ...step, mends, ...(child.wasRemovalRefused && { isDoubtful: true }) };
}

export function removePool(id: string, name: string): Step {
  return { summary: `delete the pool ${name}`, request: deleteRequest('pools', id) };
}

/** Ours in addition; nothing where they are all there. */
export function missingTags(
  { tags }: { readonly tags: readonly string[] },
  ours: readonly string[],
): { readonly tags?: readonly string[] } {
  const missing = ours.filter((tag) => !tags.includes(tag));
  return missing.length === 0 ? {} : { tags: [...tags, ...missing] };
}
