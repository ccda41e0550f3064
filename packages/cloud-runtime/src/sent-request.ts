/** One request that is on its way to the cloud: when it is cut off, and when it is over. */
import { onAbort, raceAbort, type Clock, type Timer } from '@outrigger/kube';

/**
 * So long a write may go on after its caller has given up, in milliseconds. The cloud goes on with it in any case; who waits for its
 * answer knows what came of it. Part of what a clean stop takes: well under a lease duration.
 */
export const FINISH_MS = 8_000;
/** Who has not ended so long after it was cut off does not look at its signal, and may never end. */
const DEAF_MS = 60_000;

export interface SentRequestOptions {
  readonly clock: Clock;
  /** The caller's. */
  readonly signal: AbortSignal;
  /** Aborts when nothing may be done any more: the leadership is lost. */
  readonly ended: AbortSignal;
  /** It changes nothing in the cloud: whether it took place is of no interest to anybody. */
  readonly reads: boolean;
}

export interface SentRequest<T> {
  /** What the caller gets: the answer, or at once the reason of its signal, or of `ended`. */
  readonly answer: Promise<T>;
  /** Resolves when it has ended or was cut off; then to `unknown` for a write, which may still take effect. Never rejects. */
  readonly over: Promise<'ended' | 'cut-off' | 'unknown'>;
  /** Resolves when `send` itself has ended, a minute after it was cut off at the latest. Never rejects. */
  readonly settled: Promise<void>;
}

/**
 * Sends now, in this very turn. A read is cut off when its caller gives up. A write is not, for the cloud would carry it out all the
 * same: it has `FINISH_MS` to end, unless the caller's own time is up (`TimeoutError`) or `ended` aborts.
 */
export function sendRequest<T>(
  send: (signal: AbortSignal) => Promise<T>,
  { clock, signal, ended, reads }: SentRequestOptions,
): SentRequest<T> {
  const cut = new AbortController();
  const over = Promise.withResolvers<'ended' | 'cut-off' | 'unknown'>();
  const settled = Promise.withResolvers<void>();
  let timer: Timer | undefined;
  const cutOff = (reason: unknown): void => {
    if (cut.signal.aborted) return;
    timer?.cancel();
    timer = clock.setTimer(DEAF_MS, settled.resolve, { unref: true });
    over.resolve(reads ? 'cut-off' : 'unknown');
    cut.abort(reason);
  };
  const leave = (): void => {
    if (cut.signal.aborted) return;
    const { reason } = signal;
    if (reads || isTimeout(reason)) cutOff(reason);
    else timer = clock.setTimer(FINISH_MS, () => cutOff(reason));
  };
  const forget = [onAbort(ended, () => cutOff(ended.reason)), onAbort(signal, leave)];
  const end = (): void => {
    for (const each of forget) each();
    timer?.cancel();
    over.resolve('ended');
    settled.resolve();
  };
  const sent = attempt(send, cut.signal);
  sent.then(end, end);
  return { answer: raceAbort(raceAbort(sent, ended), signal), over: over.promise, settled: settled.promise };
}

/** A provider in JavaScript may throw where it should reject, and forget `async`. */
async function attempt<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return send(signal);
}

export function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
