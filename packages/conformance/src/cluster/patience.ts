/** Waits that are bounded: until something holds, and for as long as it must go on to hold. */
import { inspect } from 'node:util';
import type { Clock } from '@outrigger/kube';
import { BrokenPromise } from './verdict.ts';

export interface PatienceOptions {
  readonly clock: Clock;
  /** Milliseconds that anything is waited for. */
  readonly timeoutMs: number;
  /** Milliseconds in which what must not happen does not. */
  readonly quietMs: number;
  readonly signal: AbortSignal;
}

/** Between two looks. */
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export class Patience {
  readonly #options: PatienceOptions;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /**
   * The first answer of `look` that `holds`. Throws a `BrokenPromise` with the last one when there is none in time. `what`: as it must
   * be, `the taint is removed`.
   */
  async until<T>(what: string, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
    const { clock, signal, timeoutMs } = this.#options;
    const deadline = clock.monotonic() + timeoutMs;
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const seen = await look();
      if (holds(seen)) return seen;
      if (clock.monotonic() >= deadline)
        throw new BrokenPromise(`not within ${timeoutMs / 1_000} s: ${what}`, `last seen: ${shown(seen)}`);
      await clock.sleep(Math.min(pauseMs, Math.max(SHORTEST_PAUSE_MS, timeoutMs / 20)), signal);
    }
  }

  /** Throws a `BrokenPromise` as soon as `look` gives a reason why it does not hold any more. */
  async stays(look: () => Promise<string | undefined>): Promise<void> {
    const { clock, quietMs, signal } = this.#options;
    const deadline = clock.monotonic() + quietMs;
    for (;;) {
      const broken = await look();
      if (broken !== undefined) throw new BrokenPromise(broken);
      if (clock.monotonic() >= deadline) return;
      await clock.sleep(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, quietMs / 50)), signal);
    }
  }
}

/** A value as evidence. */
export function shown(value: unknown): string {
  return inspect(value, { depth: 8, breakLength: 120, sorted: true });
}
