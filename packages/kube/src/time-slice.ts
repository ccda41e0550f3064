/** Chops long work, so that nothing else in the process (a lease renewal, a health probe) waits behind it. */
import type { Clock } from './clock.ts';

/** Long enough that giving way costs next to nothing, short beside any deadline. */
const SLICE_MS = 10;

export class TimeSlice {
  readonly #clock: Clock;
  #startedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** Whether the work has gone on for long enough. */
  get spent(): boolean {
    return this.#clock.monotonic() - this.#startedAt >= SLICE_MS;
  }

  /** Lets everything run that is ready, input and timers included, and begins a new slice. */
  async giveWay(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#startedAt = this.#clock.monotonic();
  }
}
