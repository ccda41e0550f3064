/** One question for all who have it at the same time. */

/** Those who ask while it is being answered share the next answer: each answer began after its question. One that failed as its asker gave up is asked for again. */
export class SharedRound<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** `run` of whoever is first. `signal`: this asker's. */
  async ask(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#share(run);
    } catch (error) {
      if (!signal || signal.aborted || !isAbort(error)) throw error;
      return this.#share(run);
    }
  }

  #share(run: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    if (!this.#running) {
      this.#begin(promise);
      resolve(run());
      return promise;
    }
    if (this.#next) return this.#next;
    this.#next = promise;
    const start = (): void => {
      this.#next = undefined;
      this.#begin(promise);
      resolve(run());
    };
    this.#running.then(start, start);
    return promise;
  }

  #begin(round: Promise<T>): void {
    this.#running = round;
    const end = (): void => {
      if (this.#running === round) this.#running = undefined;
    };
    round.then(end, end);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
