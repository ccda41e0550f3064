/** Which failures to write an Event are for good. */
import { isNotLeaderError } from '../leadership.ts';
import { isStatusError } from '../status-error.ts';

/** Answers that a later try may change: credentials are renewed, conflicts pass, servers come back. */
const TRANSIENT = new Set([401, 408, 409, 429]);

/** A name for the cause when trying again cannot help, `undefined` when it can. */
export function isPermanent(error: unknown): string | undefined {
  if (isNotLeaderError(error)) return 'not-leader';
  if (!isStatusError(error)) return undefined;
  if (error.code >= 500 || TRANSIENT.has(error.code)) return undefined;
  const terminating = error.details.causes?.some((cause) => cause.reason === 'NamespaceTerminating');
  return terminating ? 'NamespaceTerminating' : error.reason;
}

/** How long the server asks everybody to wait, in milliseconds. */
export function retryAfterOf(error: unknown): number | undefined {
  return isStatusError(error) ? error.retryAfterMs : undefined;
}
