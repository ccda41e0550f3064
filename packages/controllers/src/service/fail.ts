/** What becomes of a pass that failed. Pure. */
import { retryOf, seldomMs } from '../load-balancer/failure.ts';
import { spent } from './polling.ts';
import { failedReadiness } from './readiness.ts';
import { failureNote, type Episode } from './service-events.ts';
import type { ServiceState } from './service-state.ts';
import { REST, wake, type Step, type Surroundings } from './step-types.ts';
import { wakingText } from './waking-text.ts';

/** Upstream's. */
const BACKOFF = { baseMs: 5_000, maxMs: 300_000 };
/** The part of each delay that is left to chance. */
const JITTER = 0.1;

export interface FailOptions {
  /** It is to have a load balancer. */
  readonly isWanted: boolean;
  /** A plan refuses. Default: false. */
  readonly isPlans?: boolean;
  /** Members went before the rest. Default: false. */
  readonly ofMembers?: boolean;
}

export function fail(before: ServiceState, error: Error, at: Surroundings, options: FailOptions): Step {
  const { isPlans, isWanted, ofMembers = false } = options;
  const retry = retryOf(error, isPlans);
  const plan = { kind: 'plan', actions: at.before } as const;
  const state = { ...spent(before), lastFailure: { error, at: at.now, retryAfterMs: undefined, ofMembers } };
  if (retry.kind === 'later') {
    const lastFailure = { ...state.lastFailure, retryAfterMs: retry.afterMs };
    return { state: { ...state, lastFailure }, effects: [plan], next: wake(retry.afterMs) };
  }
  if (retry.kind === 'elsewhere')
    return { state: { ...state, readiness: failedReadiness(error) }, effects: [plan], next: REST };
  const episode = episodeOf(state, at, isWanted);
  const failures = state.failures + 1;
  // Nothing may stand in the way of a deletion for ever.
  const longest = retry.kind === 'longest' || !isWanted ? BACKOFF.maxMs : undefined;
  const seldom = retry.kind === 'seldom' && isWanted ? seldomMs(failures) : longest;
  // Members that failed before are next, and wait for nothing that only the rest is refused for.
  const isSoon = retry.kind === 'back-off' || before.lastFailure?.ofMembers;
  const retryAfterMs = isSoon ? backoffMs(failures, at.random) : seldom;
  const message = 'Failed to reconcile load balancer';
  return {
    state: {
      ...state,
      readiness: failedReadiness(error),
      failures,
      lastFailure: { ...state.lastFailure, retryAfterMs },
      nodes: state.nodes && { ...state.nodes, isDue: false },
    },
    effects: [
      plan,
      ...(episode === 'update' ? [{ kind: 'count', what: 'node-sync-error' } as const] : []),
      { kind: 'log', level: 'error', message, fields: { error, retry: retry.kind } },
      { kind: 'tell', note: failureNote(episode, error) },
    ],
    next: retryAfterMs === undefined ? REST : wake(retryAfterMs),
  };
}

/** Only the back ends of a load balancer that was served before have changed: an update. */
export function episodeOf({ settled, work }: ServiceState, { service }: Surroundings, isWanted: boolean): Episode {
  if (!isWanted) return 'delete';
  if (work?.episode === 'ensure') return 'ensure';
  return settled?.text === wakingText(service) ? 'update' : 'ensure';
}

/** Until the next try after so many failures in a row; milliseconds. */
export function backoffMs(failures: number, random: number): number {
  return Math.min(BACKOFF.maxMs, BACKOFF.baseMs * 2 ** (failures - 1)) * (1 - JITTER * random);
}
