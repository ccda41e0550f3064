/**
 * The call budget: how fast, how many and in which order one provider's requests are sent. It sits around requests, not
 * around calls of the contract, because one of those may be many pages, joins and polls.
 */
import type { CallPriority, CloudOperation } from '@outrigger/cloud-provider';
import { onAbort, type Clock, type Timer } from '@outrigger/kube';
import { TurnsOfCalls } from './internal/turns-of-calls.ts';
import { RateBucket, type BucketLimits } from './rate-bucket.ts';

export interface CallBudgetOptions {
  /**
   * Limits of buckets by name: `api.write` counts against `api` too. `default` is the bucket of operations that name none. Where they may change, a function that is asked
   * each time: requests that wait already hear of it within a second.
   */
  readonly buckets?: Readonly<Record<string, BucketLimits>> | ((bucket: string) => BucketLimits);
  /** Requests in flight at most. Default: 32. */
  readonly concurrency?: number;
  /** How often an idempotent request is sent at most, the first included. Default: 5. */
  readonly maxAttempts?: number;
}

/** In the order in which they are served. */
const PRIORITIES: readonly CallPriority[] = ['critical', 'normal', 'background'];
/** A class that was passed over this often in a row is served next: background work is slow under load, never stopped. */
const PASSED_OVER_AT_MOST = 9;
const DEFAULT_CONCURRENCY = 32;
/** So often those who wait look whether limits that may change have changed. */
const LOOK_MS = 1_000;
/** Of operations that name none. */
export const DEFAULT_BUCKET = 'default';

interface Waiter {
  /** Of the call of the contract that it belongs to. */
  readonly call: AbortSignal;
  readonly priority: CallPriority;
  /** In the order of asking. */
  readonly order: number;
  admit(): void;
}

interface Line {
  readonly bucket: RateBucket;
  /** Of the API that the bucket is a part of: a request takes from both. */
  readonly whole: RateBucket | undefined;
  readonly waiting: Record<CallPriority, TurnsOfCalls<Waiter>>;
  readonly passedOver: Record<CallPriority, number>;
  timer: Timer | undefined;
}

/** Who would be next in one line. */
interface Candidate {
  readonly line: Line;
  readonly waiter: Waiter;
  readonly starved: boolean;
}

/** A place in flight. Give it back exactly once. */
export interface Admission {
  readonly bucket: RateBucket;
  readonly sentAt: number;
  release(): void;
}

/** Lets requests through, one by one. */
export class CallBudget {
  readonly #clock: Clock;
  readonly #limitsOf: (bucket: string) => BucketLimits | (() => BucketLimits) | undefined;
  readonly #longestWaitMs: number;
  readonly #concurrency: number;
  readonly #lines = new Map<string, Line>();
  #asked = 0;
  readonly #inFlight: Record<CallPriority, number> = { critical: 0, normal: 0, background: 0 };

  constructor(clock: Clock, { buckets = {}, concurrency = DEFAULT_CONCURRENCY }: CallBudgetOptions = {}) {
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new RangeError(`call budget: concurrency must be a whole number above 0, got ${concurrency}`);
    }
    this.#clock = clock;
    this.#limitsOf = typeof buckets === 'function' ? (name) => () => buckets(name) : (name) => buckets[name];
    this.#longestWaitMs = typeof buckets === 'function' ? LOOK_MS : Number.POSITIVE_INFINITY;
    this.#concurrency = concurrency;
  }

  /** Requests admitted and not yet released. */
  get inFlight(): number {
    return this.#inFlight.critical + this.#inFlight.normal + this.#inFlight.background;
  }

  /**
   * Resolves when the request may be sent, at once and in the same turn where nothing is in the way. Requests of one class take turns by
   * the call that they belong to, which is known by `signal`.
   */
  admit(operation: CloudOperation, priority: CallPriority, signal: AbortSignal): Promise<Admission> {
    const line = this.#line(operation.bucket ?? DEFAULT_BUCKET);
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const queue = line.waiting[priority];
      const waiter: Waiter = {
        call: signal,
        priority,
        order: this.#asked++,
        admit: () => {
          forget();
          resolve(this.#admission(line, priority));
        },
      };
      const forget = onAbort(signal, () => {
        queue.delete(waiter);
        reject(signal.reason as Error);
      });
      queue.add(waiter);
      this.#pump();
    });
  }

  #line(name: string): Line {
    let line = this.#lines.get(name);
    if (!line) {
      const [api = name] = name.split('.');
      line = {
        bucket: new RateBucket(this.#clock, this.#limitsOf(name)),
        whole: api === name ? undefined : this.#line(api).bucket,
        waiting: { critical: new TurnsOfCalls(), normal: new TurnsOfCalls(), background: new TurnsOfCalls() },
        passedOver: { critical: 0, normal: 0, background: 0 },
        timer: undefined,
      };
      this.#lines.set(name, line);
    }
    return line;
  }

  #admission({ bucket }: Line, priority: CallPriority): Admission {
    this.#inFlight[priority]++;
    let released = false;
    return {
      bucket,
      sentAt: this.#clock.monotonic(),
      release: () => {
        if (released) return;
        released = true;
        this.#inFlight[priority]--;
        this.#pump();
      },
    };
  }

  /**
   * Places are shared by all buckets, so whose turn it is, is asked of all lines together: by class, then by age. A line that
   * is always full would else take each place that comes free.
   */
  #pump(): void {
    for (;;) {
      const ready: Candidate[] = [];
      for (const line of this.#lines.values()) {
        const candidate = this.#next(line);
        if (!candidate) continue;
        const waitMs = Math.max(line.bucket.waitMs, line.whole?.waitMs ?? 0);
        if (waitMs > 0) this.#wake(line, waitMs);
        else ready.push(candidate);
      }
      const first = ready.toSorted(inTurn)[0];
      if (!first) return;
      first.line.bucket.take();
      first.line.whole?.take();
      this.#serve(first, ready);
    }
  }

  /** One timer a line: when its bucket has the next token. */
  #wake(line: Line, waitMs: number): void {
    line.timer?.cancel();
    line.timer = this.#clock.setTimer(
      Math.min(waitMs, this.#longestWaitMs),
      () => {
        line.timer = undefined;
        this.#pump();
      },
      { unref: true },
    );
  }

  #serve({ line, waiter }: Candidate, ready: readonly Candidate[]): void {
    const served = PRIORITIES.indexOf(waiter.priority);
    for (const [index, priority] of PRIORITIES.entries()) {
      if (index === served || line.waiting[priority].size === 0) line.passedOver[priority] = 0;
      else if (index > served) line.passedOver[priority]++;
    }
    for (const other of ready) {
      const { priority } = other.waiter;
      if (other.line !== line && PRIORITIES.indexOf(priority) > served) other.line.passedOver[priority]++;
    }
    line.waiting[waiter.priority].take(waiter);
    waiter.admit();
  }

  #next(line: Line): Candidate | undefined {
    const { waiting, passedOver } = line;
    const ready = PRIORITIES.filter((priority) => waiting[priority].size > 0 && this.#hasPlace(priority));
    const starved = ready.find((priority) => passedOver[priority] >= PASSED_OVER_AT_MOST);
    const chosen = starved ?? ready[0];
    if (chosen === undefined) return undefined;
    const { first: waiter } = waiting[chosen];
    return waiter && { line, waiter, starved: starved !== undefined };
  }

  /** Long background requests must not take every place: half is theirs at most, and an eighth is kept for `critical`. */
  #hasPlace(priority: CallPriority): boolean {
    const { normal, background } = this.#inFlight;
    if (this.inFlight >= this.#concurrency) return false;
    if (priority === 'critical') return true;
    if (normal + background >= this.#concurrency - Math.floor(this.#concurrency / 8)) return false;
    return priority === 'normal' || background < Math.ceil(this.#concurrency / 2);
  }
}

function inTurn(a: Candidate, b: Candidate): number {
  return (
    Number(b.starved) - Number(a.starved) ||
    PRIORITIES.indexOf(a.waiter.priority) - PRIORITIES.indexOf(b.waiter.priority) ||
    a.waiter.order - b.waiter.order
  );
}
