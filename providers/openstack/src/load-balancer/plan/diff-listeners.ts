/** From the listeners that are there to those that should be: the smallest requests, in their order. Pure. */
import type { DesiredListener } from '../desired/desired-tree.ts';
import type { ObservedListener, ObservedPool } from '../observed-tree.ts';
import { placeOf } from '../places-of-children.ts';
import {
  HELD,
  healthOf,
  isNeverGone,
  mayBeUnmade,
  mending,
  missingTags,
  NOTHING,
  removePool,
  removing,
  together,
  doubtfulLast,
  type Diff,
  type Step,
  type TreeContext,
} from './diff.ts';
import { diffPool } from './diff-pool.ts';
import { forwardedFor, listenerBody, listenerSettings } from './octavia-bodies.ts';
import { deleteRequest, postRequest, putRequest } from './octavia-requests.ts';
import { EVERYWHERE } from './second-vip.ts';

/** Of one port number, a protocol each: HTTP and TERMINATED_HTTPS are TCP on the wire. */
export const transportOf = (protocol: string): string => (protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP');

export function diffListeners(context: TreeContext): Diff {
  const { children, isOurs, tree } = context;
  const ours = children.listeners.filter((one) => isOurs(one));
  const matched = tree.listeners.map((wanted) =>
    ours.find((one) => one.port === wanted.port && one.protocol === wanted.protocol),
  );
  const obsolete = ours.filter((one) => !matched.includes(one));
  const loose = children.loosePools.filter((one) => isOurs(one));
  // What goes first makes room: another protocol on the same port.
  const removals = obsolete.map((one) => ({ key: portKey(one), diff: isNeverGone(one) ? HELD : diffRemoval(one) }));
  const taken = new Set(removals.flatMap(({ diff, key }) => (diff.isHeld ? [key] : [])));
  const doubted = new Set(removals.flatMap(({ diff, key }) => (diff.steps.some(isDoubtful) ? [key] : [])));
  const diffs = [
    ...removals.map(({ diff }) => diff),
    ...loose.map((one) => (isNeverGone(one) ? HELD : diffPoolRemoval(one))),
    ...tree.listeners.map((wanted, at) => {
      const there = matched[at];
      if (!there && taken.has(portKey(wanted))) return HELD;
      const diff = diffListener(wanted, there, context);
      return doubted.has(portKey(wanted)) ? { ...diff, steps: diff.steps.map(asDoubtful) } : diff;
    }),
  ];
  const waiting = diffs.some((diff) => diff.waiting) || [...obsolete, ...loose].some(isGoing);
  const isHeld = diffs.some((diff) => diff.isHeld);
  return { steps: waiting ? [] : doubtfulLast(diffs.flatMap(({ steps }) => steps)), waiting, isHeld };
}

const isDoubtful = (step: Step): boolean => step.isDoubtful === true;
const asDoubtful = (step: Step): Step => ({ ...step, isDoubtful: true });

const isGoing = (one: ObservedListener | ObservedPool): boolean => one.status === 'PENDING_DELETE' && !isNeverGone(one);

/** One of two listeners of it has to go before the other comes. */
const portKey = ({ port, protocol }: DesiredListener | ObservedListener): string => `${transportOf(protocol)} ${port}`;

/** From listeners, and pools without one, to none of them. */
export function diffRemovals(listeners: readonly ObservedListener[], loosePools: readonly ObservedPool[]): Diff {
  const diffs = [...listeners.map(diffRemoval), ...loosePools.map(diffPoolRemoval)];
  const steps = doubtfulLast(diffs.flatMap((diff) => diff.steps));
  return { steps, waiting: false, isHeld: diffs.some(({ isHeld }) => isHeld) };
}

function diffRemoval(listener: ObservedListener): Diff {
  const { pool } = listener;
  const pools = pool ? diffPoolRemoval(pool) : NOTHING;
  const removal = removing(listener, removalOf(listener));
  return pools.isHeld || !removal ? HELD : { steps: together([...pools.steps, removal]), waiting: false };
}

function diffPoolRemoval(pool: ObservedPool): Diff {
  const removal = removing(pool, removePool(pool.id, pool.name));
  return removal ? { steps: [removal], waiting: false } : HELD;
}

/** The pool first: what dies between the two leaves a listener, which is found by its tag and port. */
function removeListener(listener: ObservedListener): readonly Step[] {
  const { pool } = listener;
  return [...(pool ? [removePool(pool.id, pool.name)] : []), removalOf(listener)];
}

const removalOf = ({ id, port, protocol }: ObservedListener): Step => ({
  summary: `delete the listener ${protocol} ${port}`,
  request: deleteRequest('listeners', id),
});

function diffListener(wanted: DesiredListener, there: ObservedListener | undefined, context: TreeContext): Diff {
  const { loadBalancer, tags } = context;
  const what = `${wanted.protocol} ${wanted.port}`;
  const body = listenerBody(wanted, tags);
  const creation: Step = {
    summary: `create the listener ${what}`,
    request: postRequest('listeners', { ...body, loadbalancer_id: loadBalancer.id }),
  };
  if (!there) return { steps: [creation], waiting: false };
  const health = healthOf(there, body);
  if (health === 'waiting') return { steps: [], waiting: true };
  const mend = (steps: readonly Step[]): readonly Step[] =>
    mending(there, placeOf.listener(loadBalancer.id, there), body, steps);
  const isToBeMade = health === 'finish' && mayBeUnmade(there, loadBalancer);
  if (health === 'rebuild' || isToBeMade) return { steps: mend([...removeListener(there), creation]), waiting: false };
  const isHeld = health === 'held';
  const pool = diffPool(wanted.pool, there, context);
  const changes =
    health === 'finish' ? { ...listenerSettings(wanted), ...missingTags(there, tags) } : changesOf(wanted, there, tags);
  const request = putRequest('listeners', there.id, changes);
  const leavesOut = 'allowed_cidrs' in changes && shutsOut(wanted.allowedCidrs ?? [], there.allowedCidrs);
  const update: readonly Step[] =
    Object.keys(changes).length === 0 ? [] : [{ summary: `update the listener ${what}`, request, leavesOut }];
  return {
    steps: [...(isHeld ? [] : mend(update)), ...pool.steps],
    waiting: pool.waiting,
    isHeld: isHeld || pool.isHeld,
  };
}

/** An empty list lets everybody in. */
function shutsOut(wanted: readonly string[], there: readonly string[]): boolean {
  if (wanted.length === 0 || wanted.some((cidr) => EVERYWHERE.includes(cidr))) return false;
  const letIn = new Set(wanted);
  return there.length === 0 || there.some((cidr) => !letIn.has(cidr));
}

function changesOf(
  wanted: DesiredListener,
  there: ObservedListener,
  tags: readonly string[],
): Readonly<Record<string, unknown>> {
  const { tlsContainerRef } = wanted;
  const has = there.insertHeaders[forwardedFor] === 'true';
  const { [forwardedFor]: _, ...others } = there.insertHeaders;
  const headers = wanted.insertHeaders.xForwardedFor ? { ...others, [forwardedFor]: 'true' } : others;
  const current = listenerSettings(there);
  const settings = listenerSettings(wanted);
  const changed = Object.entries(settings).filter(
    ([key, value]) => JSON.stringify(current[key]) !== JSON.stringify(value),
  );
  return {
    ...Object.fromEntries(changed),
    ...(tlsContainerRef === undefined && there.tlsContainerRef && { default_tls_container_ref: null }),
    ...(has !== wanted.insertHeaders.xForwardedFor && { insert_headers: headers }),
    ...missingTags(there, tags),
  };
}
