/** When the cloud is looked at again, where it goes on by itself. Pure. */
import type { ServiceState } from './service-state.ts';
import { wake, type Step } from './step-types.ts';

export const FIRST_POLL_MS = 1_000;
export const LONGEST_POLL_MS = 30_000;

/** Ever later, from the provider's own measure on. */
export function nextPollMs({ pollMs = FIRST_POLL_MS, polls }: ServiceState): number {
  return Math.min(LONGEST_POLL_MS, pollMs * 1.5 ** polls);
}

/**
 * A wait ends at a multiple of these, so that Services that wait are looked at together: a look at many costs the cloud little more than one
 * at a single Service, and who is due a moment later waits for the look of who was first. No wait is longer by more than a fifth, or by half from ten
 * seconds on.
 */
const GRID_MS = 100;
const LONG_GRID_MS = 5_000;

/** `now`: monotonic. */
export function onGrid(afterMs: number, now: number): number {
  if (afterMs < 5 * GRID_MS) return afterMs;
  const gridMs = afterMs < 2 * LONG_GRID_MS ? GRID_MS : LONG_GRID_MS;
  return Math.ceil((now + afterMs) / gridMs) * gridMs - now;
}

/** Looks again then. */
export function poll(state: ServiceState, mostMs: number = Infinity): Step {
  const afterMs = Math.min(nextPollMs(state), mostMs);
  return { state: { ...spent(state), polls: state.polls + 1 }, effects: [], next: wake(afterMs) };
}

/** Until what was put off is due, at the latest: the next try after a failure, or the next look. */
export function untilDueMs(state: ServiceState, now: number): number {
  const { lastFailure, polls } = state;
  const retryMs = lastFailure?.retryAfterMs === undefined ? 0 : lastFailure.at + lastFailure.retryAfterMs - now;
  return Math.max(0, retryMs, polls > 0 ? nextPollMs({ ...state, polls: polls - 1 }) : 0);
}

/** What the cloud has shown is acted on, or too old: the next pass asks anew. */
export function spent(state: ServiceState): ServiceState {
  return state.look && !state.look.isSpent ? { ...state, look: { ...state.look, isSpent: true } } : state;
}
