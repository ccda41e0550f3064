/** Does one thing over and over, so often a second and so many at a time at most. */
import { systemClock } from '@outrigger/kube';

export interface PacerOptions {
  readonly perSecond: number;
  readonly atOnce: number;
  readonly act: () => Promise<void>;
}

export class Pacer {
  readonly #options: PacerOptions;
  readonly #stop = new AbortController();
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: PacerOptions) {
    this.#options = options;
  }

  start(): void {
    const { atOnce } = this.#options;
    this.#working = Promise.all(Array.from({ length: atOnce }, (_, index) => this.#work(index)));
    // `stop` tells of it: until then nobody waits for this, and a rejection would end the process.
    this.#working.catch(() => {});
  }

  /** Resolves when what is under way is over; rejects with what was thrown. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  async #work(index: number): Promise<void> {
    const { act, atOnce, perSecond } = this.#options;
    const { signal } = this.#stop;
    const periodMs = (1_000 * atOnce) / perSecond;
    let next = systemClock.monotonic() + (index / atOnce) * periodMs;
    while (!signal.aborted) {
      await systemClock.sleep(Math.max(0, next - systemClock.monotonic()), signal).catch(() => {});
      if (signal.aborted) return;
      // What took longer than its period is not made up for.
      next = Math.max(next, systemClock.monotonic() - periodMs) + periodMs;
      await act();
    }
  }
}
