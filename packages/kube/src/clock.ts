/**
 * Time, as everything in this repository sees it: passed in, never global, so that a test can hold it still and move
 * it by hand. `systemClock` is the only place that touches the machine's timers.
 */
import { onAbort } from './abort.ts';

/** A timer that has been set and can be taken back. */
export interface Timer {
  /** Takes the timer back. Calling it again, or after the timer has fired, does nothing. */
  cancel(): void;
}

/** The passing of time. `systemClock` outside of tests, `FakeClock` of `@outrigger/testing` in them. */
export interface Clock {
  /** Wall-clock time, in milliseconds since the Unix epoch. For what people and other machines read; never for durations. */
  now(): number;
  /** A reading that only grows, in milliseconds since an arbitrary start. For durations and deadlines. */
  monotonic(): number;
  /** Calls `fire` once, `delayMs` from now (0 or less: at the next turn). Does not keep the process alive by itself if `unref` is true. */
  setTimer(delayMs: number, fire: () => void, options?: { readonly unref?: boolean }): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason as soon as `signal` aborts, and leaves no timer behind. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay that Node's timers take; a longer one is set again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout;

  constructor(delayMs: number, fire: () => void, unref: boolean) {
    this.#handle = this.#arm(Math.max(0, delayMs), fire, unref);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  #arm(delayMs: number, fire: () => void, unref: boolean): NodeJS.Timeout {
    const step = Math.min(delayMs, MAX_TIMER_MS);
    const handle = setTimeout(() => {
      if (delayMs > step) this.#handle = this.#arm(delayMs - step, fire, unref);
      else fire();
    }, step);
    if (unref) handle.unref();
    return handle;
  }
}

/** Sleeps on any clock; the implementation behind `Clock.sleep`. */
export function sleepOn(clock: Pick<Clock, 'setTimer'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const timer = clock.setTimer(delayMs, () => {
      forget?.();
      resolve();
    });
    const forget =
      signal &&
      onAbort(signal, () => {
        timer.cancel();
        reject(signal.reason as Error);
      });
  });
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, fire, options) => new SystemTimer(delayMs, fire, options?.unref ?? false),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};
