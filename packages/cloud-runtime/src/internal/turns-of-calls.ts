/**
 * Requests of one class that wait in one line. Calls of the contract take turns: one of a hundred requests does not hold up one that
 * has a single one. A call is known by its signal.
 */
export class TurnsOfCalls<W extends { readonly call: AbortSignal }> {
  /** In the order of their turns; those of a call in the order of asking. */
  readonly #byCall = new Map<AbortSignal, Set<W>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whose turn it is. */
  get first(): W | undefined {
    const [ofOne] = this.#byCall.values();
    return ofOne?.values().next().value;
  }

  add(waiter: W): void {
    const ofOne = this.#byCall.get(waiter.call) ?? new Set();
    this.#byCall.set(waiter.call, ofOne.add(waiter));
    this.#size += 1;
  }

  /** It has had its turn: the next of its call comes after one of each other. */
  take(waiter: W): void {
    const ofOne = this.#byCall.get(waiter.call);
    this.delete(waiter);
    if (!ofOne || ofOne.size === 0) return;
    this.#byCall.delete(waiter.call);
    this.#byCall.set(waiter.call, ofOne);
  }

  /** It waits no longer. */
  delete(waiter: W): void {
    const ofOne = this.#byCall.get(waiter.call);
    if (!ofOne?.delete(waiter)) return;
    this.#size -= 1;
    if (ofOne.size === 0) this.#byCall.delete(waiter.call);
  }
}
