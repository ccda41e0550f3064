/** Takes one orphaned load balancer away, by the provider's own plan and under its lock, as the service controller does. */
import type {
  CallContext,
  LoadBalancerPart,
  LoadBalancers,
  LoadBalancerService,
  Owner,
} from '@outrigger/cloud-provider';
import type { Clock, Counter, Logger } from '@outrigger/kube';
import type { ControllerJournal, NotedAction, Subject } from '../journal.ts';
import { applyActions } from '../load-balancer/apply-actions.ts';
import { planRemoval } from '../load-balancer/bring-to.ts';
import { readParts, type ReadOptions } from '../load-balancer/read-parts.ts';
import type { Locks } from '../load-balancer/locks.ts';
import { observeOnce } from '../load-balancer/observe-once.ts';
import { notedOf } from '../load-balancer/load-balancer-words.ts';
import type { OrphanedLoadBalancer } from './orphan.ts';

export interface RemoveLoadBalancerOptions {
  readonly provider: LoadBalancers;
  readonly clusterId: string;
  /** `reads`: nothing is changed by its calls, so that no stop waits for them. */
  readonly callContext: (options: { readonly signal: AbortSignal; readonly reads: boolean }) => CallContext;
  readonly locks: Locks;
  /** Asked right before the first action. Throws when it cannot be found out. */
  readonly isStillOrphan: () => Promise<boolean>;
  readonly clock: Clock;
  readonly counter: Counter;
  readonly logger: Logger;
  readonly journal: ControllerJournal;
  readonly subject: Subject;
  readonly signal: AbortSignal;
}

/**
 * - `done`: all that can be done now; whether all is gone shows in the next pass.
 * - `kept`: its Service is there after all, somebody is at work on it, a part of it is not shown and not proved to be gone, or nothing is to be done.
 * - `planned`: a dry run.
 */
export type Removed =
  | { readonly kind: 'done'; readonly actions: readonly NotedAction[] }
  | { readonly kind: 'kept' | 'planned' }
  | { readonly kind: 'failed'; readonly error: Error };

export async function removeLoadBalancer(
  { parts, uid }: Pick<OrphanedLoadBalancer, 'parts' | 'uid'>,
  options: RemoveLoadBalancerOptions,
): Promise<Removed> {
  const { clock, locks, provider } = options;
  const service = goneService(uid);
  const lock = provider.lockKey?.(service, parts) ?? uid;
  // In the next pass again.
  if (!locks.tryAcquire(lock, `orphan ${uid}`, () => {})) return { kind: 'kept' };
  try {
    return await removeLocked(service, parts, options);
  } finally {
    if (lock === uid) locks.forget(lock);
    else locks.noteApplied(lock, clock.monotonic());
    locks.release(lock);
  }
}

async function removeLocked(
  service: LoadBalancerService,
  listed: readonly LoadBalancerPart[],
  options: RemoveLoadBalancerOptions,
): Promise<Removed> {
  const { callContext, clusterId, isStillOrphan, journal, provider, subject } = options;
  const owner = { clusterId, uid: service.uid };
  const reading = (signal: AbortSignal): CallContext => callContext({ signal, reads: true });
  const [observation] = await observeOnce([service], { ...options, callContext: reading });
  if (!observation) return { kind: 'kept' };
  if (observation.kind === 'parts') {
    // What was listed a moment ago and is not shown now may be hidden: what goes without it would be taken for another's.
    const hidden = listed.filter(({ id }) => !observation.parts.some((one) => one.id === id));
    if (!(await areGone(hidden, owner, { ...options, callContext: reading }))) return { kind: 'kept' };
  }
  const plan = planRemoval({ provider, service, owner, observation });
  if (plan.kind === 'failed') return plan;
  if (plan.kind !== 'bring' || plan.plan.actions.length === 0) return { kind: 'kept' };
  const noted = notedOf(plan);
  if (!(await isStillOrphan())) return { kind: 'kept' };
  if (journal.dryRun) {
    journal.plan(subject, noted);
    return { kind: 'planned' };
  }
  const done: NotedAction[] = [];
  const { error } = await applyActions(plan.plan.actions, plan.desired, {
    ...options,
    callContext: (signal) => callContext({ signal, reads: false }),
    isCurrent: () => true,
    onResult: (action, result) => {
      const words = noted[plan.plan.actions.indexOf(action)];
      if (!words) return;
      if (result.kind !== 'failed') done.push(words);
      const pending = result.kind === 'pending' ? { pending: result.handle } : undefined;
      journal.note(subject, [words], result.kind === 'failed' ? result : pending);
    },
  });
  return error ? { kind: 'failed', error } : { kind: 'done', actions: done };
}

/** Whether the cloud, asked directly, says so of each. */
async function areGone(
  parts: readonly LoadBalancerPart[],
  owner: Owner,
  { callContext, clock, provider, signal }: ReadOptions,
): Promise<boolean> {
  if (parts.length === 0) return true;
  if (!provider.read) return false;
  const questions = parts.map(({ id, kind }) => ({ id, kind, owner }));
  const answers = await readParts(questions, { provider, callContext, clock, signal });
  return answers.every(({ kind }) => kind === 'absent');
}

/** All that is known of a Service that is gone. */
function goneService(uid: string): LoadBalancerService {
  return {
    uid,
    namespace: '',
    name: '',
    labels: {},
    annotations: {},
    ports: [],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
  };
}
