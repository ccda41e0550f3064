/** How long to wait before a broken watch is opened again. */

/** client-go's reflector: 800 ms, doubling, 30 s at most. https://github.com/kubernetes/client-go/blob/v0.36.0/tools/cache/reflector.go */
const FIRST_MS = 800;
const LONGEST_BASE_MS = 20_000;
/** The jitter is added: 20 s become 20 to 30 s, so that the longest delays spread as well. */
const JITTER = 0.5;

/** 0.8 s, doubling up to 30 s, with jitter. */
export class WatchBackoff {
  readonly #random: () => number;
  #base = FIRST_MS;

  /** `random` gives numbers in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to wait now; the next wait is longer. */
  next(): number {
    const delay = this.#base * (1 + JITTER * this.#random());
    this.#base = Math.min(LONGEST_BASE_MS, this.#base * 2);
    return delay;
  }

  reset(): void {
    this.#base = FIRST_MS;
  }
}
