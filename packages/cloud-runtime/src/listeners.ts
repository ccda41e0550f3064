/** Those who want to hear of something. One that fails keeps nobody else from hearing, and is not the teller's fault. */
import type { Logger } from '@outrigger/kube';

export class Listeners<T> {
  readonly #what: string;
  readonly #provider: string;
  readonly #logger: Logger;
  readonly #listeners = new Set<(news: T) => void>();

  /** `what` they listen to, of which provider: for the log. */
  constructor(what: string, provider: string, logger: Logger) {
    this.#what = what;
    this.#provider = provider;
    this.#logger = logger;
  }

  /** Returns the way to stop. */
  add(listener: (news: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(news: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(news);
      } catch (error) {
        this.#logger.error(`A listener of ${this.#what} failed`, { provider: this.#provider, error });
      }
    }
  }
}
