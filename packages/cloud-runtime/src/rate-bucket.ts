/**
 * A token bucket that learns: it slows down when the cloud says 429, and speeds up again while it does not (additive
 * increase, multiplicative decrease, as TCP). Without a configured limit it is open until the first 429.
 */
import type { Clock } from '@outrigger/kube';
import { LONGEST_RETRY_AFTER_MS } from './retry-after.ts';

export interface BucketLimits {
  /** Requests a second in the long run. Default: unlimited until the cloud answers 429. */
  readonly qps?: number;
  /** Requests at once after a pause. Default: `qps`, at least 1. */
  readonly burst?: number;
}

const SECOND_MS = 1000;
const UNLIMITED = Number.POSITIVE_INFINITY;
/** Never slower than this, however often the cloud complains. */
const SLOWEST_QPS = 0.2;
/**
 * What a cloud is taken to bear until it says otherwise. A 429 to a bucket that sends less than this says little about the
 * rate (others share the account's limit, or it counts by the minute): the rate is cut from here, not from next to nothing.
 */
const QUIET_QPS = 10;
/** The way back, each second: from the slowest to `QUIET_QPS` in ten seconds. */
const LEAST_STEP_QPS = 1;

export class RateBucket {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limits: () => BucketLimits;
  #tokens: number;
  #refilledAt: number;
  /** What the cloud seems to bear; infinite while it has not complained. */
  #learnedQps = UNLIMITED;
  /** The rate at which it last complained: the way back is measured by it. */
  #complainedAtQps = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #closedUntil = Number.NEGATIVE_INFINITY;
  /** Sends in the second that began at `#windowAt`, and in the one before. */
  #windowAt: number;
  #sentInWindow = 0;
  #sentBefore = 0;

  /** `limits`: where they may change, asked each time. Throws a `RangeError` for those that are none now. */
  constructor(clock: Pick<Clock, 'monotonic'>, limits: BucketLimits | (() => BucketLimits) = {}) {
    this.#clock = clock;
    this.#limits = typeof limits === 'function' ? limits : () => limits;
    const { qps = UNLIMITED, burst } = this.#limits();
    if (!(qps > 0)) throw new RangeError(`call budget: qps must be above 0, got ${qps}`);
    if (burst !== undefined && !(burst >= 1))
      throw new RangeError(`call budget: burst must be at least 1, got ${burst}`);
    this.#tokens = this.#burst;
    this.#refilledAt = clock.monotonic();
    this.#windowAt = this.#refilledAt;
  }

  get #qps(): number {
    return this.#limits().qps ?? UNLIMITED;
  }

  get #burst(): number {
    return this.#limits().burst ?? Math.max(1, this.#qps);
  }

  get #rate(): number {
    return Math.min(this.#qps, this.#learnedQps);
  }

  /** Requests a second that are allowed now; infinite while there is no limit. */
  get qps(): number {
    this.#refill();
    return this.#rate;
  }

  /** Milliseconds until there is a token; 0 when there is one. */
  get waitMs(): number {
    this.#refill();
    const now = this.#clock.monotonic();
    if (now < this.#closedUntil) return this.#closedUntil - now;
    const rate = this.#rate;
    // The tolerance keeps a rounding error from setting a timer of 10⁻¹³ ms, which would never move a clock on.
    if (rate === UNLIMITED || this.#tokens >= 1 - 1e-9) return 0;
    return Math.max(0.01, ((1 - this.#tokens) / rate) * SECOND_MS);
  }

  /** Takes a token: 0 when the request may be sent now; else nothing is taken, and it is the milliseconds to wait. */
  take(): number {
    const { waitMs } = this;
    if (waitMs > 0) return waitMs;
    // Without a limit, tokens are not what is counted; they are full when a limit comes back.
    if (this.#rate !== UNLIMITED) {
      this.#tokens = Math.max(0, this.#tokens - 1);
    }
    this.#sentInWindow++;
    return 0;
  }

  /** The cloud answered 429 to a request that was sent at `sentAt`. */
  slowDown(sentAt: number, retryAfterMs: number | undefined): void {
    this.#refill();
    const now = this.#clock.monotonic();
    if (retryAfterMs !== undefined) {
      this.#closedUntil = Math.max(this.#closedUntil, now + Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
    }
    // Requests that were under way together complain together: that is one complaint.
    if (sentAt <= this.#slowedAt) return;
    this.#slowedAt = now;
    const measured = Math.max(this.#sentInWindow, this.#sentBefore, QUIET_QPS);
    this.#complainedAtQps = Math.min(this.#rate, measured);
    this.#learnedQps = Math.max(SLOWEST_QPS, this.#complainedAtQps / 2);
    this.#tokens = Math.min(this.#tokens, 1);
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const seconds = (now - this.#refilledAt) / SECOND_MS;
    this.#refilledAt = now;
    const elapsed = now - this.#windowAt;
    if (elapsed >= SECOND_MS) {
      this.#sentBefore = elapsed < 2 * SECOND_MS ? this.#sentInWindow : 0;
      this.#sentInWindow = 0;
      this.#windowAt = now;
    }
    const rate = this.#rate;
    if (rate === UNLIMITED) {
      this.#tokens = this.#burst;
      return;
    }
    const burst = this.#learnedQps < this.#qps ? Math.max(1, Math.min(this.#burst, this.#learnedQps)) : this.#burst;
    this.#tokens = Math.min(burst, this.#tokens + seconds * rate);
    if (this.#learnedQps === UNLIMITED) return;
    // Time for which the bucket was closed says nothing about what the cloud bears.
    const openSeconds = Math.max(0, Math.min(seconds, (now - this.#closedUntil) / SECOND_MS));
    this.#learnedQps += openSeconds * Math.max(LEAST_STEP_QPS, this.#complainedAtQps / 20);
    const enough = 2 * Math.max(this.#complainedAtQps, QUIET_QPS);
    if (this.#learnedQps >= Math.min(this.#qps, enough)) this.#learnedQps = UNLIMITED;
  }
}
