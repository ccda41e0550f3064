/** One question that many ask at a time, and the answer to which is kept. */
import { untilAborted } from '@outrigger/provider-kit';

/** Asks once for all who wait; a failure is told to all of them, and the next one asks again. */
export class SharedAnswer<T> {
  readonly #ask: () => Promise<T>;
  #asking: Promise<T> | undefined;

  /** `ask` must not hang on the signal of one caller: others wait for it too. */
  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** `signal` ends the wait of this caller, not the asking. */
  get(signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (!this.#asking) {
      const asking = this.#ask();
      this.#asking = asking;
      asking.catch(() => {
        if (this.#asking === asking) this.#asking = undefined;
      });
    }
    return untilAborted(this.#asking, signal);
  }
}
