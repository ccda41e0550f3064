/** A call of the contract that must end in time, even where the provider does not look at its signal. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import { withDeadline, type Clock } from '@outrigger/kube';

/** A call whose requests go out one after the other, each when the call budget has a place for it, goes on for so long at most. */
const LONGEST_CALL_MS = 300_000;
/** What has waited so long for its turn waits for it again soon. */
const ITS_TURN_MS = 1_000;

export interface CallDeadline {
  readonly clock: Clock;
  /** Milliseconds from now, or from the last request that was sent: a wait for the call budget is not the cloud's. */
  readonly timeoutMs: number;
  /** Milliseconds from now, however many requests are sent. Default: five minutes. */
  readonly mostMs?: number;
  /** What did not end in time, for the error. */
  readonly what: string;
  /** Ends the call too, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** What the `timeout` error says. Default: that `what` had no answer within `timeoutMs`. */
  readonly late?: string;
}

/**
 * Settles as the call does, or rejects with the reason of `signal`, or with a `CloudError`: `timeout`, or `retry-after` where
 * none of its requests got a turn in the call budget, which is no failure of the cloud. `open` makes the context of the call from the signal
 * that ends it.
 */
export function callInTime<T>(
  { clock, late, mostMs = LONGEST_CALL_MS, signal, timeoutMs, what }: CallDeadline,
  open: (signal: AbortSignal) => CallContext,
  send: (call: CallContext) => T | PromiseLike<T>,
): Promise<T> {
  const requests = { asked: 0, sent: 0 };
  const error = (cause: Error): CloudError => {
    if (requests.asked > 0 && requests.sent === 0) {
      const text = `${what}: no request was sent within ${timeoutMs} ms, because others take the call budget`;
      return new CloudError('retry-after', text, { cause, effect: 'none', retryAfterMs: ITS_TURN_MS });
    }
    return new CloudError('timeout', late ?? `${what}: no answer within ${timeoutMs} ms`, { cause });
  };
  return withDeadline({ clock, timeoutMs, mostMs, what, signal, late: error }, (either, getsOn) => {
    const context = open(either);
    const { logger, priority } = context;
    return send({
      signal: context.signal,
      priority,
      logger,
      call: (operation, request) => {
        requests.asked += 1;
        return context.call(operation, (sending) => {
          requests.sent += 1;
          getsOn();
          return request(sending);
        });
      },
    });
  });
}
