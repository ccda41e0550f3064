/**
 * A client-side limit on requests, as client-go's `QPS` and `Burst`. Off unless asked for: the server's priority and
 * fairness, and its 429s, know better what it can bear.
 */
import { onAbort } from '../abort.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Histogram, Metrics } from '../metrics.ts';
import type { TransportLayer } from '../transport.ts';
import { REQUEST_BUCKETS } from './request-buckets.ts';
import { layerOver } from './transport-layer.ts';

export interface RateLimitOptions {
  /** Requests a second, over time. Greater than 0. */
  readonly qps: number;
  /** Requests at once after a pause. At least 1. */
  readonly burst: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** `host:port`, for the metric. */
  readonly host: string;
}

/** Lets requests pass in the order in which they came. Leases are exempt: a busy program must not lose its lease. */
export function withRateLimit(options: RateLimitOptions): TransportLayer {
  const bucket = new TokenBucket(options);
  const waited: Histogram = options.metrics.histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    labels: ['verb', 'host'],
    buckets: REQUEST_BUCKETS,
  });
  return (inner) =>
    layerOver(inner, async (request) => {
      if (request.traffic === 'lease') return inner.send(request);
      const start = options.clock.monotonic();
      await bucket.take(request.signal);
      waited.observe((options.clock.monotonic() - start) / 1000, { verb: request.method, host: options.host });
      return inner.send(request);
    });
}

/** A token bucket with a queue: who comes first gets the next token. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #tokens: number;
  #filledAt: number;
  #timer: Timer | undefined;

  /** Throws a `RangeError` for a rate or burst that would let nothing pass. */
  constructor(options: Pick<RateLimitOptions, 'qps' | 'burst' | 'clock'>) {
    if (!(options.qps > 0)) throw new RangeError(`qps: ${options.qps} is not greater than 0`);
    if (!(options.burst >= 1)) throw new RangeError(`burst: ${options.burst} is not at least 1`);
    this.#perMs = options.qps / 1000;
    this.#burst = options.burst;
    this.#clock = options.clock;
    this.#tokens = options.burst;
    this.#filledAt = options.clock.monotonic();
  }

  /** Resolves when a token was taken; rejects with the signal's reason, taking none, when it aborts before. */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#fill();
    if (this.#waiting.size === 0 && this.#tokens >= 1) {
      this.#tokens -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const pass = (): void => {
        forget?.();
        resolve();
      };
      const forget =
        signal &&
        onAbort(signal, () => {
          this.#waiting.delete(pass);
          if (this.#waiting.size === 0) this.#stopTimer();
          reject(signal.reason as Error);
        });
      this.#waiting.add(pass);
      this.#schedule();
    });
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
  }

  #schedule(): void {
    this.#timer ??= this.#clock.setTimer(Math.ceil((1 - this.#tokens) / this.#perMs), () => {
      this.#timer = undefined;
      this.#fill();
      for (const pass of this.#waiting) {
        if (this.#tokens < 1) break;
        this.#tokens -= 1;
        this.#waiting.delete(pass);
        pass();
      }
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
