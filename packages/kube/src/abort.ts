/**
 * Waiting for an abort: everything here that listens to an `AbortSignal` does it through these. Node looks through all
 * listeners of a signal whenever one is added or removed, so that a thousand look-ups that wait on the same signal cost half
 * a million steps: here they share one listener.
 */

/** What waits on one signal. An object for each: the same function may wait twice. */
class Waiters {
  readonly #signal: AbortSignal;
  readonly #stops = new Set<{ readonly stop: () => void }>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(stop: () => void): () => void {
    const entry = { stop };
    if (this.#stops.size === 0) this.#signal.addEventListener('abort', this.#aborted, { once: true });
    this.#stops.add(entry);
    return () => {
      if (!this.#stops.delete(entry) || this.#stops.size > 0) return;
      // A listener keeps a composed signal alive for as long as its sources live.
      this.#signal.removeEventListener('abort', this.#aborted);
    };
  }

  readonly #aborted = (): void => {
    // A Set is walked in order, and without what is taken back meanwhile.
    for (const { stop } of this.#stops) {
      try {
        stop();
      } catch (error) {
        // As for listeners of an EventTarget: the others are called all the same, and nothing is hidden.
        process.nextTick(() => {
          throw error;
        });
      }
    }
    this.#stops.clear();
  };
}

const waiters = new WeakMap<AbortSignal, Waiters>();

/**
 * Calls `stop` once when `signal` aborts, in the order in which they came; never, when it has aborted already. Returns the
 * way to take it back.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  // While its listeners are called too: who comes then would be called as the last of those that waited, or kept for ever.
  if (signal.aborted) return () => {};
  let those = waiters.get(signal);
  if (!those) waiters.set(signal, (those = new Waiters(signal)));
  return those.add(stop);
}

/** Resolves when `signal` aborts, at once if it has. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts; `work` goes on for others who share it, and what it
 * does later is dropped, an error too. A plain value is taken as well: a provider in JavaScript may forget `async`.
 */
export function raceAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal?.reason as Error);
    const forget = signal?.aborted === false ? onAbort(signal, giveUp) : undefined;
    if (signal?.aborted) giveUp();
    // Its outcome is taken in any case: nobody else may be there to catch its error.
    void Promise.resolve(work).then(resolve, reject).finally(forget);
  });
}
