import type { Logger } from './clock.ts';

/** Who waits for the answer. `critical`: a person or a deletion decision; `normal`: new objects; `background`: refreshes and garbage. */
export type CallPriority = 'critical' | 'normal' | 'background';

/** One request to the cloud, for the budget, the metrics and the trace. */
export interface CloudOperation {
  /** The cloud's own name of the call: `GET /servers`, `DescribeInstances`. Never with IDs in it: it is a metric label. */
  readonly name: string;
  /** May it be sent again when its answer was lost? Default: false. */
  readonly idempotent?: boolean;
  /** Which of the provider's rate limits it counts against. Default: the provider's only one. */
  readonly bucket?: string;
}

/** What every call of the contract gets. */
export interface CallContext {
  /**
   * Carries the deadline (60 s where nothing else is said), the caller's abort, the loss of leadership and the end of the program. Pass it on to
   * every request. Requests of a call that only reads are cut off by it; a write that has been sent is given 8 s at a stop.
   */
  readonly signal: AbortSignal;
  readonly priority: CallPriority;
  readonly logger: Logger;
  /**
   * Every request to the cloud goes through here, and none goes past it: it is refused once this process does not lead, and it waits for the budget, is counted, traced and, where `idempotent`,
   * repeated on `throttled` and `unavailable`. `send` may be called more than once; it throws a `CloudError` (`throttled`
   * with `retryAfterMs` for a 429) or returns a `fetch` Response, whose status 429 and `Retry-After` the host reads itself.
   */
  call<T>(operation: CloudOperation, send: (signal: AbortSignal) => Promise<T>): Promise<T>;
}
