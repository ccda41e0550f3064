/**
 * Waiting for a signal by many at once. Node looks through all listeners of a signal whenever one is added or removed, so
 * that a thousand look-ups that wait on the same signal cost half a million steps: here they share one listener.
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
    for (const { stop } of this.#stops) stop();
    this.#stops.clear();
  };
}

const waiters = new WeakMap<AbortSignal, Waiters>();

/**
 * Calls `stop` once when `signal` aborts, in the order in which they came; never, when it has aborted already. `stop` must
 * not throw. Returns the way to take it back.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  let those = waiters.get(signal);
  if (!those) waiters.set(signal, (those = new Waiters(signal)));
  return those.add(stop);
}
