/** How long a provider's error asks to wait before the next try. */
import { isCloudError } from '@outrigger/cloud-provider';

/** A longer Retry-After is cut to this: one wrong header must not stop a program for days. The cloud can say it again. */
export const LONGEST_RETRY_AFTER_MS = 300_000;

/**
 * `retryAfterMs` of an error of the contract, in milliseconds, 300,000 at most. `undefined` where it does not say, or says what is no
 * time (negative, or not finite), and of any other error.
 */
export function retryAfterMsOf(error: unknown): number | undefined {
  const said: unknown = isCloudError(error) ? error.retryAfterMs : undefined;
  if (typeof said !== 'number' || !Number.isFinite(said) || said < 0) return undefined;
  return Math.min(said, LONGEST_RETRY_AFTER_MS);
}
