/** One reconcile and the worker that it has, gives back and has again. */
import { onAbort } from '../abort.ts';

export class WorkerTurn {
  /** The reconcile itself. */
  ended: Promise<void> = Promise.resolve();
  #given = Promise.withResolvers<void>();
  /** Whoever waits in `regained` goes on, with or without a worker. */
  goOn: () => void = () => {};

  /** A worker has it, until the returned promise resolves. */
  take(): Promise<void> {
    this.#given = Promise.withResolvers();
    this.goOn();
    return this.#given.promise;
  }

  giveBack(): void {
    this.#given.resolve();
  }

  /** Asks for a worker, and waits for it; or for the abort. */
  regained(signal: AbortSignal, ask: () => void): Promise<void> {
    return new Promise((resolve) => {
      const forget = onAbort(signal, resolve);
      this.goOn = () => {
        forget();
        resolve();
      };
      ask();
    });
  }
}
