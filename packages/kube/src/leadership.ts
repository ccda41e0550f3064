/** Being the leader: until when requests may start, and how what is in flight is told and waited for. */
import { onAbort } from './abort.ts';
import type { Clock, Timer } from './clock.ts';

/** Thrown instead of starting a request, and the reason of `Leadership.signal`. */
export class NotLeaderError extends Error {
  readonly code: string = 'not-leader';

  constructor(why: string) {
    super(`not the leader: ${why}. Nothing was sent; the process that leads does this work now`);
    this.name = 'NotLeaderError';
  }
}

/** Whether an error, of whatever copy of this package, says that this process does not lead. */
export function isNotLeaderError(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'not-leader';
}

/**
 * One term as leader. `LeaderElector.acquire` gives it; disposing of it releases the Lease.
 *
 * **When it ends.** Another candidate may take the Lease once it has seen no renewal for `leaseDuration`, counted from
 * when it saw the last one, which is after that one was *sent*. So requests may start until `deadline`: sending time of
 * the last renewal that was answered + min(`renewDeadline` + `retryPeriod`, 85 % of `leaseDuration`): 12 of 15 s by default, which is
 * how long client-go holds on. What is left until `leaseDuration` is for requests already on the wire, which are aborted at the
 * deadline but may still take effect, and for clocks that run at different speeds.
 */
export interface Leadership extends AsyncDisposable {
  readonly identity: string;
  /** Monotonic milliseconds (`Clock.monotonic`) from which no request may start; each renewal moves it on. */
  readonly deadline: number;
  /** Aborts with a `NotLeaderError` when the term ends, for whatever reason. Stop everything then. */
  readonly signal: AbortSignal;
  /**
   * Whether a request may start at this very moment. Asks the clock, not a timer: after a SIGSTOP timers are late. False also
   * while the wall clock is beyond the deadline: a suspended virtual machine has a monotonic clock that stood still.
   */
  isLeader(): boolean;
  /** Throws a `NotLeaderError` unless a request may start. Bound, so that it can be handed on as a hook. Call it last before sending. */
  readonly guard: () => void;
  /** Runs `work` if a request may start, gives it `signal`, and lets `release` wait for it. For calls to the cloud. */
  perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * A write to the cloud was given up after it was sent, and may still take effect: the Lease is not given back within
   * `leaseDuration` from now. `what`: the request, for the log.
   */
  readonly outcomeUnknown: (what: string) => void;
  /**
   * Lets no more requests start, waits for those in flight, then gives the Lease to whoever waits for it. When they do not end in
   * time they are aborted and the Lease is left to expire, for they may still take effect; so it is after a write whose outcome
   * is not known, and where the server does not take it back within five seconds. Never throws.
   */
  release(): Promise<void>;
}

export interface TermOptions {
  readonly identity: string;
  readonly clock: Clock;
  /** From the sending of a renewal to the deadline. */
  readonly holdMs: number;
  /** Gives the Lease back, once nothing is in flight (`drained`) or nothing more can be waited for. */
  readonly release: (term: LeadershipTerm) => Promise<void>;
}

/** The implementation; only the elector may extend a term. */
export class LeadershipTerm implements Leadership {
  readonly identity: string;
  readonly guard: () => void;
  readonly outcomeUnknown: (what: string) => void;
  readonly #clock: Clock;
  readonly #holdMs: number;
  readonly #abort = new AbortController();
  readonly #release: (term: LeadershipTerm) => Promise<void>;
  readonly #idle = new Set<() => void>();
  #deadline = 0;
  #wallDeadline = 0;
  #timer: Timer | undefined;
  #closed = false;
  #ended: string | undefined;
  #inFlight = 0;
  #released: Promise<void> | undefined;
  #unknown: { readonly what: string; readonly at: number } | undefined;

  constructor(options: TermOptions) {
    this.identity = options.identity;
    this.#clock = options.clock;
    this.#holdMs = options.holdMs;
    this.#release = options.release;
    this.guard = () => {
      const why = this.#whyNot();
      if (why !== undefined) throw new NotLeaderError(why);
    };
    this.outcomeUnknown = (what) => {
      this.#unknown = { what, at: this.#clock.monotonic() };
    };
  }

  get deadline(): number {
    return this.#deadline;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  isLeader(): boolean {
    return this.#whyNot() === undefined;
  }

  async perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.guard();
    this.#inFlight++;
    try {
      return await work(this.signal);
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) for (const tell of this.#idle) tell();
    }
  }

  release(): Promise<void> {
    this.#closed = true;
    this.#released ??= this.#release(this);
    return this.#released;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** A renewal that was sent at these times has been answered. */
  extend(sentAt: { readonly monotonic: number; readonly wall: number }): void {
    if (this.signal.aborted) return;
    this.#deadline = sentAt.monotonic + this.#holdMs;
    this.#wallDeadline = sentAt.wall + this.#holdMs;
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(
      this.#deadline - this.#clock.monotonic(),
      () => this.end('the lease was not renewed in time'),
      { unref: true },
    );
  }

  /** Ends the term: aborts all that is in flight. The first reason stays. */
  end(why: string): void {
    this.#timer?.cancel();
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#abort.abort(new NotLeaderError(why));
  }

  /** Why the term ended, in a clause; `undefined` while it goes on. */
  get endedBecause(): string | undefined {
    return this.#ended;
  }

  /** Past the deadline, whether the timer has noticed or not. */
  get expired(): boolean {
    return this.#clock.monotonic() >= this.#deadline;
  }

  /** The last write whose outcome is not known, if that was less than so many milliseconds ago. */
  unknownWithin(durationMs: number): string | undefined {
    const unknown = this.#unknown;
    return unknown && this.#clock.monotonic() - unknown.at < durationMs ? unknown.what : undefined;
  }

  /** True when nothing is in flight any more; false when that takes longer than `timeoutMs`, or the term ends before. */
  drained(timeoutMs: number): Promise<boolean> {
    if (this.#inFlight === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (): void => {
        timer.cancel();
        this.#idle.delete(settle);
        forget();
        resolve(this.#inFlight === 0);
      };
      const timer = this.#clock.setTimer(timeoutMs, settle);
      this.#idle.add(settle);
      const forget = onAbort(this.signal, settle);
    });
  }

  #whyNot(): string | undefined {
    if (this.#ended !== undefined) return this.#ended;
    if (this.expired) return 'the lease was not renewed in time';
    if (this.#clock.now() >= this.#wallDeadline)
      return 'the wall clock is past the lease, which has to be renewed first';
    return this.#closed ? 'the lease is being released' : undefined;
  }
}
