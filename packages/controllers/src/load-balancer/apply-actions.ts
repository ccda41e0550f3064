/** Carries out the actions of one plan, in its order. Idempotent: what took effect is not in the next plan. */
import {
  CloudError,
  isCloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { withDeadline, type Clock, type Counter, type Logger } from '@outrigger/kube';
import { asError } from './failure.ts';
import { LONGEST_CALL_MS, watchedCalls } from './watched-calls.ts';

/** One action, from its last request on; a cloud that takes longer answers `pending`. */
const DEADLINE_MS = 60_000;
/** What has waited so long for its turn waits for it again soon. */
const ITS_TURN_MS = 1_000;

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

export interface Applied {
  /** What was planned was still wanted when its first action came: at least that one was begun. */
  readonly isBegun: boolean;
  /** Set where an action goes on in the cloud: when to look again. */
  readonly pollAfterMs: number | undefined;
  /** The first failure; nothing after it was begun. */
  readonly error: Error | undefined;
}

export async function applyActions(
  actions: readonly LoadBalancerAction[],
  desired: DesiredLoadBalancer,
  options: ApplyOptions,
): Promise<Applied> {
  const { counter, isCurrent, logger, park = (wait) => wait(), signal } = options;
  let isBegun = false;
  let pollAfterMs: number | undefined;
  for (const action of actions) {
    signal.throwIfAborted();
    if (!isCurrent()) break;
    const begin = (): Promise<LoadBalancerActionResult> => applyOne(action, desired, options);
    // A cloud that is busy with one change has the next wait.
    const applying = pollAfterMs === undefined ? begin() : park(begin);
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
      return { isBegun, pollAfterMs, error };
    }
    logger.verbose(2, 'An action on a load balancer', { ...fields, result: result.kind });
    if (result.kind === 'pending') pollAfterMs = Math.max(pollAfterMs ?? 0, result.pollAfterMs);
  }
  return { isBegun, pollAfterMs, error: undefined };
}

async function applyOne(
  action: LoadBalancerAction,
  desired: DesiredLoadBalancer,
  { provider, callContext, clock, signal }: ApplyOptions,
): Promise<LoadBalancerActionResult> {
  const what = `${action.kind} ${action.part}`;
  const calls = { asked: 0, sent: 0 };
  const late = (cause: unknown): CloudError => {
    // Many Services at once take the call budget of minutes: that is no failure, and the cloud's least of all.
    if (calls.asked > 0 && calls.sent === 0) {
      const text = `${what}: no request was sent within ${DEADLINE_MS} ms, because others take the call budget`;
      return new CloudError('retry-after', text, { cause, effect: 'none', retryAfterMs: ITS_TURN_MS });
    }
    return new CloudError('timeout', `${what}: the cloud has not answered within ${DEADLINE_MS} ms`, { cause });
  };
  const deadline = { clock, timeoutMs: DEADLINE_MS, mostMs: LONGEST_CALL_MS, what, signal, late };
  try {
    return await withDeadline(deadline, (either, getsOn) => {
      const onAsked = (): void => void (calls.asked += 1);
      const onSent = (): void => {
        calls.sent += 1;
        getsOn();
      };
      return provider.apply(action, desired, watchedCalls(callContext(either), { onAsked, onSent }));
    });
  } catch (thrown) {
    signal.throwIfAborted();
    return { kind: 'failed', error: asError(thrown) };
  }
}
