/** How long a failed key waits before it is tried again. `createWorkQueue` takes one; `defaultRateLimiter` is client-go's. */
import type { Clock } from './clock.ts';

/** Says how long to wait, by key. Not a limit on calls: the queue asks once for each retry. */
export interface RateLimiter<K> {
  /** Milliseconds until this key may be tried again. Each call counts as one more failure. */
  delayMs(key: K): number;
  /** The key has succeeded, or is given up: its failures are forgotten. */
  forget(key: K): void;
  /** How often `delayMs` was asked for this key since `forget`. */
  requeues(key: K): number;
}

export interface ExponentialBackoffOptions {
  /** After the first failure, in milliseconds. Default: 5. */
  readonly baseMs?: number;
  /** At most, in milliseconds. Default: 1,000,000. */
  readonly maxMs?: number;
  /**
   * The part of each delay that is left to chance, from 0 to 1: keys that failed together do not come back together.
   * It shortens delays, so that `maxMs` holds and keys at `maxMs` are spread too. Default: 0.1; needs `random`.
   */
  readonly jitter?: number;
  /** From 0 to 1. Without it there is no jitter. */
  readonly random?: () => number;
}

/** Doubles the delay with each failure of a key. */
export function exponentialBackoff<K>(options: ExponentialBackoffOptions = {}): RateLimiter<K> {
  const { baseMs = 5, maxMs = 1_000_000, jitter = 0.1, random } = options;
  if (!(baseMs > 0) || !(maxMs >= baseMs)) {
    throw new RangeError(`exponentialBackoff: 0 < baseMs <= maxMs must hold, got baseMs ${baseMs} and maxMs ${maxMs}`);
  }
  const failures = new Map<K, number>();
  return {
    delayMs: (key) => {
      const failed = failures.get(key) ?? 0;
      failures.set(key, failed + 1);
      const delay = Math.min(maxMs, baseMs * 2 ** failed);
      return random ? delay * (1 - jitter * random()) : delay;
    },
    forget: (key) => void failures.delete(key),
    requeues: (key) => failures.get(key) ?? 0,
  };
}

/**
 * A token bucket over all keys: `burst` retries at once, then `qps` a second. Each one books its place in the line; with
 * `queueing: false` it does not, so that an answer other than 0 means no.
 */
export function tokenBucket<K>(options: {
  readonly qps: number;
  readonly burst: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Default: true. */
  readonly queueing?: boolean;
}): RateLimiter<K> {
  const { qps, burst, clock, queueing = true } = options;
  if (!(qps > 0) || !(burst >= 1)) {
    throw new RangeError(`tokenBucket: qps must be above 0 and burst at least 1, got qps ${qps} and burst ${burst}`);
  }
  let tokens = burst;
  let filledAt = clock.monotonic();
  return {
    delayMs: () => {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - filledAt) * qps) / 1000);
      filledAt = now;
      const missing = Math.max(0, 1 - tokens);
      if (missing === 0 || queueing) tokens -= 1;
      return (missing / qps) * 1000;
    },
    forget: () => {},
    requeues: () => 0,
  };
}

/** The longest delay that any of the limiters asks for. All of them are asked each time. */
export function slowestOf<K>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    delayMs: (key) => Math.max(0, ...limiters.map((limiter) => limiter.delayMs(key))),
    forget: (key) => {
      for (const limiter of limiters) limiter.forget(key);
    },
    requeues: (key) => Math.max(0, ...limiters.map((limiter) => limiter.requeues(key))),
  };
}

/** client-go's `DefaultTypedControllerRateLimiter`: 5 ms doubled up to 1,000 s for each key, and 10 a second (burst 100) over all. */
export function defaultRateLimiter<K>(options: {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random?: (() => number) | undefined;
}): RateLimiter<K> {
  const { clock, random } = options;
  return slowestOf(exponentialBackoff(random ? { random } : {}), tokenBucket({ qps: 10, burst: 100, clock }));
}
