/** What a failure means for the next try. Pure. */
import { effectOf, isCloudError } from '@outrigger/cloud-provider';
import { retryAfterMsOf } from '@outrigger/cloud-runtime';

export { asError } from '@outrigger/cloud-provider';

/**
 * - `later`: not finished, and not wrong. No Event.
 * - `back-off`: tried again after 5 s, doubled up to 300 s.
 * - `longest`: a person has to do something that cannot be seen from here; looked at again after 300 s.
 * - `seldom`: refused as it is. What it was refused for may be mended in the cloud: tried again after 5 minutes, doubled up to 30,
 *   and at once when the Service, its nodes or the cloud config change.
 * - `never`: refused by a plan, which depends on nothing else: not until one of these changes.
 * - `elsewhere`: somebody else's.
 */
export type Retry =
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'back-off' | 'longest' | 'seldom' | 'never' | 'elsewhere' };

/** `isPlans`: a plan refuses, without having asked the cloud. */
export function retryOf(error: Error, isPlans = false): Retry {
  if (!isCloudError(error)) return { kind: 'back-off' };
  switch (error.code) {
    case 'retry-after':
      return { kind: 'later', afterMs: retryAfterMsOf(error) ?? 5_000 };
    case 'implemented-elsewhere':
      return { kind: 'elsewhere' };
    case 'invalid':
    case 'unsupported':
      return { kind: isPlans ? 'never' : 'seldom' };
    case 'quota':
    case 'forbidden':
    case 'unauthenticated':
    case 'not-owned':
      return { kind: 'longest' };
    default:
      return { kind: 'back-off' };
  }
}

/** For an Event. The message of an error that is not a provider's may hold what no Event should: that goes to the log only. */
export function reasonOf(error: Error): string {
  return isCloudError(error) ? `${error.message} (${error.code})` : 'an unexpected error; the log has it';
}

/** Whether the cloud may have done, or still do, what the call asked for. */
export function isUncertain(error: Error): boolean {
  return effectOf(error) === 'unknown';
}

/** After so many failures in a row, what is refused is tried again; milliseconds. */
export function seldomMs(failures: number): number {
  return Math.min(1_800_000, 300_000 * 2 ** Math.max(0, failures - 1));
}
