/** How much is done in one turn of the event loop, on which leases are renewed and watches are read. */

export class TurnBudget {
  readonly #most: number;
  #spent = 0;
  #tail: Promise<void> = Promise.resolve();

  /** `most`: in the unit of what is spent. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when there is room for this much work, in the order of the calls: at once, or in a later turn. */
  spend(work: number): Promise<void> {
    this.#tail = this.#tail.then(async () => {
      if (this.#spent >= this.#most) {
        await new Promise<void>((resolve) => void setImmediate(resolve));
        this.#spent = 0;
      }
      this.#spent += work;
    });
    return this.#tail;
  }
}
