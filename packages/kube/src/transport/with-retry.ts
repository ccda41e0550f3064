/**
 * Sends again what the server asked to send again, and what cannot have reached it. Watches and leases are left
 * alone: the reflector and the elector know better when to come back.
 */
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { retryAfterMs } from '../retry-after.ts';
import type { TransportLayer, TransportRequest, TransportResponse } from '../transport.ts';
import { isTransportError, type TransportErrorCode } from './transport-error.ts';
import { discardAnswer, layerOver } from './transport-layer.ts';

export interface RetryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  /** Times that a request is sent again. Default: 10, as client-go. */
  readonly maxRetries?: number;
  /** From the first sending to the last, in milliseconds, waits included. Default: 60,000. */
  readonly maxTotalMs?: number;
}

/** Errors of the network are retried this often: enough for a connection that went stale, not for a server that is down. */
const MAX_NETWORK_RETRIES = 3;
const NETWORK_BACKOFF_MS = 100;
/** A 429 without Retry-After (a proxy's) waits this long. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** Methods whose second execution changes nothing more (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<TransportRequest['method']> = new Set<TransportRequest['method']>([
  'GET',
  'PUT',
  'DELETE',
]);

/** Of the network's troubles those that pass within moments. */
const PASSING: ReadonlySet<TransportErrorCode> = new Set<TransportErrorCode>([
  'connection-refused',
  'connection-reset',
  'request-refused',
]);

/**
 * Honours Retry-After on 429 of any method (the server has not begun) and on 5xx of idempotent ones. When time or
 * count run out, the last answer is the caller's.
 */
export function withRetry(options: RetryOptions): TransportLayer {
  const { clock, logger, random } = options;
  const maxRetries = options.maxRetries ?? 10;
  const maxTotalMs = options.maxTotalMs ?? 60_000;
  return (inner) =>
    layerOver(inner, async (request) => {
      if (request.traffic === 'watch' || request.traffic === 'lease') return inner.send(request);
      const start = clock.monotonic();
      const affords = (waitMs: number): boolean => clock.monotonic() - start + waitMs <= maxTotalMs;
      for (let retry = 0; ; retry++) {
        const outcome = await inner.send(request).then(
          (answer) => ({ answer, waitMs: waitAfterAnswer(request, answer) }),
          (error: unknown) => ({ error, waitMs: waitAfterError(request, error, retry, random) }),
        );
        const { waitMs } = outcome;
        if (waitMs === undefined || retry >= maxRetries || !affords(waitMs)) {
          if ('error' in outcome) throw outcome.error;
          return outcome.answer;
        }
        logger.verbose(4, 'Request is sent again', {
          method: request.method,
          path: request.path,
          retryIn: `${Math.round(waitMs)}ms`,
          ...('error' in outcome ? { error: outcome.error } : { status: outcome.answer.status }),
        });
        if ('answer' in outcome) await discardAnswer(outcome.answer);
        await clock.sleep(waitMs, request.signal);
      }
    });
}

function waitAfterAnswer(request: TransportRequest, answer: TransportResponse): number | undefined {
  const after = retryAfterMs(answer.headers);
  if (answer.status === 429) return after ?? DEFAULT_RETRY_AFTER_MS;
  // Without Retry-After a 5xx may mean anything: the caller decides.
  if (answer.status < 500 || !IDEMPOTENT.has(request.method)) return undefined;
  // "Too large resource version": the server has waited 3 s for it to come, and would again each time. After a restore
  // from a backup it never comes; the caller has to list anew.
  return answer.status === 504 && namesVersion(request) ? undefined : after;
}

/** Whether a read asks for what is at least, or exactly, of a certain resourceVersion. */
function namesVersion({ method, path }: TransportRequest): boolean {
  return method === 'GET' && /[?&]resourceVersion=(?!0?(?:&|$))/.test(path);
}

function waitAfterError(
  request: TransportRequest,
  error: unknown,
  retry: number,
  random: () => number,
): number | undefined {
  if (!isTransportError(error) || !PASSING.has(error.code) || retry >= MAX_NETWORK_RETRIES) return undefined;
  // A GET may be repeated; anything else only if the server cannot have acted on it.
  if (error.sent && request.method !== 'GET') return undefined;
  return NETWORK_BACKOFF_MS * 2 ** retry * (0.5 + random());
}
