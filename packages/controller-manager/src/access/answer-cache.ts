/** Answers that hold for a while; those who ask for the same at the same time share one question. */
import type { Clock } from '@outrigger/kube';

interface Entry<T> {
  readonly value: T;
  readonly until: number;
}

export class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #size: number;
  readonly #ttlMs: (value: T) => number;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #asking = new Map<string, Promise<T>>();

  /** `ttlMs`: how long this answer holds. `size`: how many are kept; the oldest go first. */
  constructor(clock: Clock, ttlMs: (value: T) => number, size = 4_096) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#size = size;
  }

  /** Failures are not remembered. */
  get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && this.#clock.monotonic() < known.until) return Promise.resolve(known.value);
    const asking = this.#asking.get(key);
    if (asking) return asking;
    const answer = ask().then(
      (value) => {
        this.#asking.delete(key);
        this.#keep(key, value);
        return value;
      },
      (error: unknown) => {
        this.#asking.delete(key);
        throw error;
      },
    );
    this.#asking.set(key, answer);
    return answer;
  }

  #keep(key: string, value: T): void {
    this.#entries.delete(key);
    const ttlMs = this.#ttlMs(value);
    if (ttlMs <= 0) return;
    this.#entries.set(key, { value, until: this.#clock.monotonic() + ttlMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#size) return;
      this.#entries.delete(oldest);
    }
  }
}
