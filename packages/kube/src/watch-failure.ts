/** What a reflector does about an error: the one place that judges them. */
import { isResponseError } from './response-body.ts';
import {
  isBadRequest,
  isExpired,
  isInvalid,
  isResourceVersionTooLarge,
  isStatusError,
  isTooManyRequests,
} from './status-error.ts';

/** Which part of its work the reflector was at. */
export type WatchPhase = 'initial-stream' | 'pages' | 'watching';

/**
 * - `resume`: go on from the last resourceVersion; nothing is lost.
 * - `relist`: the resourceVersion is of no more use; begin anew.
 * - `relist-by-pages`: begin anew, but not by an initial stream this time.
 * - `no-initial-stream`: the same, and remember that this server has none.
 */
export type Remedy = 'resume' | 'relist' | 'relist-by-pages' | 'no-initial-stream';

/** An initial stream that is not one: the server took the parameter for granted and ignored it, or broke off. */
export class InitialStreamError extends Error {
  override readonly name = 'InitialStreamError';
  /** `watch-list-ignored`: the server does not know sendInitialEvents. `watch-list-incomplete`: it closed the stream before the end, or did not begin it in time. */
  readonly code: 'watch-list-ignored' | 'watch-list-incomplete';

  constructor(code: InitialStreamError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A list that is older than what was already seen: a lagging server, or one restored from a backup. */
export class StaleListError extends Error {
  override readonly name = 'StaleListError';
  readonly code = 'stale-list';
}

/** A list or bookmark without a resourceVersion: nothing can be watched from there. */
export class NoResourceVersionError extends Error {
  override readonly name = 'NoResourceVersionError';
  readonly code = 'no-resource-version';
}

/** A watch so silent for so long, with not one bookmark, that the server may be waiting for a version it will not soon reach. */
export class SilentWatchError extends Error {
  override readonly name = 'SilentWatchError';
  readonly code = 'silent-watch';
}

/** A stream that fails so often before its initial events have ended is given up for pages: a proxy may not let it live. */
const STREAM_FAILURES = 3;
/** A watch that fails so often at one resourceVersion, in a way that does not pass by itself, begins anew. */
const WATCH_FAILURES = 3;

/** Codes that say nothing of the request: credentials, load, a server that starts or stops. */
const PASSING = new Set([401, 403, 429, 502, 503, 504]);

/** `failures`: how many of this phase in a row, this one included. */
export function remedyFor(error: unknown, phase: WatchPhase, failures: number): Remedy {
  if (phase === 'pages') return 'relist';
  return phase === 'initial-stream' ? remedyForStream(error, failures) : remedyForWatch(error, failures);
}

function remedyForStream(error: unknown, failures: number): Remedy {
  if (error instanceof InitialStreamError) {
    return error.code === 'watch-list-ignored' ? 'no-initial-stream' : 'relist-by-pages';
  }
  // 422 where the feature is off, 400 where the query is decoded strictly.
  if (isInvalid(error) || isBadRequest(error)) return 'no-initial-stream';
  if (error instanceof NoResourceVersionError || isResponseError(error)) return 'relist-by-pages';
  if (isStatusError(error) && PASSING.has(error.code)) return 'relist';
  if (isResourceVersionTooLarge(error)) return 'relist';
  return isStatusError(error) || failures >= STREAM_FAILURES ? 'relist-by-pages' : 'relist';
}

function remedyForWatch(error: unknown, failures: number): Remedy {
  if (isTooManyRequests(error)) return 'resume';
  if (isExpired(error) || isResourceVersionTooLarge(error) || error instanceof SilentWatchError) return 'relist';
  if (isResponseError(error)) return failures >= WATCH_FAILURES ? 'relist' : 'resume';
  if (!isStatusError(error)) return 'resume';
  // Within a stream the server itself gave up on it, perhaps at an event that it will fail on again from the same version.
  if (error.origin === 'watch-event') return 'relist';
  if (PASSING.has(error.code)) return 'resume';
  // 400, 404 and 422 say that this very request will never do; so may a 500 (a resourceVersion that does not parse).
  return error.code < 500 || failures >= WATCH_FAILURES ? 'relist' : 'resume';
}
