/** What a failure means for the next try. Pure. */
import { isCloudError } from '@outrigger/cloud-provider';

/**
 * - `later`: not finished, and not wrong. No Event.
 * - `back-off`: tried again after 5 s, doubled up to 300 s.
 * - `longest`: a person has to do something that cannot be seen from here; looked at again after 300 s.
 * - `never`: not until the Service changes.
 * - `elsewhere`: somebody else's.
 */
export type Retry =
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'back-off' | 'longest' | 'never' | 'elsewhere' };

export function retryOf(error: Error): Retry {
  if (!isCloudError(error)) return { kind: 'back-off' };
  switch (error.code) {
    case 'retry-after':
      return { kind: 'later', afterMs: error.retryAfterMs ?? 5_000 };
    case 'implemented-elsewhere':
      return { kind: 'elsewhere' };
    case 'invalid':
    case 'unsupported':
      return { kind: 'never' };
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
  return !isCloudError(error) || ['timeout', 'unavailable'].includes(error.code);
}
