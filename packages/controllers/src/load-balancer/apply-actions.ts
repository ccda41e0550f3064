/** Carries out the actions of one plan, in its order. Idempotent: what took effect is not in the next plan. */
import {
  isCloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { callInTime } from '@outrigger/cloud-runtime';
import type { Clock, Counter, Logger } from '@outrigger/kube';
import { asError } from './failure.ts';

/** One action, from its last request on; a cloud that takes longer answers `pending`. */
const DEADLINE_MS = 60_000;

export interface ApplyOptions {
  readonly provider: Pick<LoadBalancers, 'apply'>;
  readonly callContext: (signal: AbortSignal) => CallContext;
  readonly clock: Clock;
  /** Counts the actions: `createActionCounter`. */
  readonly counter: Counter;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Asked before each action: whether the plan is still what is wanted. */
  readonly isCurrent: () => boolean;
  /**
   * Carries out an action that has to wait until the cloud is done with the one before: `ReconcileContext.park`, so that it has no worker
   * meanwhile. Where it gives `undefined`, the rest is left to a later pass. Default: at once.
   */
  readonly park?: <T>(wait: () => Promise<T>) => Promise<T> | undefined;
  /** Hears of each action and what came of it. */
  readonly onResult?: (action: LoadBalancerAction, result: LoadBalancerActionResult) => void;
}

/** When to look again. */
interface Pending {
  /** The provider's own measure. */
  readonly pollAfterMs: number;
  /** What came after that action has taken some of that time; monotonic. */
  readonly dueAt: number;
}

export interface Applied {
  /** What was planned was still wanted when its first action came: at least that one was begun. */
  readonly isBegun: boolean;
  /** Set where an action goes on in the cloud. */
  readonly pending: Pending | undefined;
  /** The first failure; nothing after it was begun. */
  readonly error: Error | undefined;
}

export async function applyActions(
  actions: readonly LoadBalancerAction[],
  desired: DesiredLoadBalancer,
  options: ApplyOptions,
): Promise<Applied> {
  const { clock, counter, isCurrent, logger, park = (wait) => wait(), signal } = options;
  let isBegun = false;
  let pending: Pending | undefined;
  for (const action of actions) {
    signal.throwIfAborted();
    if (!isCurrent()) break;
    const begin = (): Promise<LoadBalancerActionResult> => applyOne(action, desired, options);
    // A cloud that is busy with one change has the next wait.
    const applying = pending === undefined ? begin() : park(begin);
    if (!applying) break;
    isBegun = true;
    const result = await applying;
    options.onResult?.(action, result);
    counter.inc({ action: action.kind, part: action.part, result: result.kind });
    const fields = { action: action.kind, part: action.part, id: action.id, summary: action.summary };
    if (result.kind === 'failed') {
      const { error } = result;
      if (isCloudError(error, 'retry-after'))
        logger.verbose(2, 'An action on a load balancer waits', { ...fields, error });
      else logger.warn('An action on a load balancer failed', { ...fields, error });
      return { isBegun, pending, error };
    }
    logger.verbose(2, 'An action on a load balancer', { ...fields, result: result.kind });
    if (result.kind === 'pending') pending = later(pending, result.pollAfterMs, clock.monotonic());
  }
  return { isBegun, pending, error: undefined };
}

const later = (before: Pending | undefined, pollAfterMs: number, now: number): Pending => ({
  pollAfterMs: Math.max(before?.pollAfterMs ?? 0, pollAfterMs),
  dueAt: Math.max(before?.dueAt ?? -Infinity, now + pollAfterMs),
});

async function applyOne(
  action: LoadBalancerAction,
  desired: DesiredLoadBalancer,
  { provider, callContext, clock, signal }: ApplyOptions,
): Promise<LoadBalancerActionResult> {
  const what = `${action.kind} ${action.part}`;
  const late = `${what}: the cloud has not answered within ${DEADLINE_MS} ms`;
  try {
    return await callInTime({ clock, timeoutMs: DEADLINE_MS, what, signal, late }, callContext, (call) =>
      provider.apply(action, desired, call),
    );
  } catch (thrown) {
    signal.throwIfAborted();
    return { kind: 'failed', error: asError(thrown) };
  }
}
