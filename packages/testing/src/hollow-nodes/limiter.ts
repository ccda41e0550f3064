/** Lets only so many pieces of work run at once; the others wait in the order in which they came. */
export class Limiter {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // Whoever is let in takes over the place of the one that left: nobody can slip in between.
    if (this.#running < this.#limit) this.#running++;
    else await new Promise<void>((enter) => void this.#waiting.push(enter));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
