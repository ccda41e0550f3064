/** Remembers that a server has no initial streams (WatchList), so that not every list begins with a request in vain. */

/** For so long; the server may be upgraded. */
const FALLBACK_MS = 3_600_000;

/** One per API server. */
export class WatchListMemory {
  #until = Number.NEGATIVE_INFINITY;

  /** Whether an initial stream is worth a try. `now`: a monotonic reading. */
  mayHave(now: number): boolean {
    return now >= this.#until;
  }

  /** The server has shown that it has none: lists come by pages, as after the fallback of client-go. */
  fallBack(now: number): void {
    this.#until = now + FALLBACK_MS;
  }
}
