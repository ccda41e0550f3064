/** Made-up paths and tokens are new questions to the API server each time, and all callers share one rate limit. */

/** Of one peer, that wait for the API server. */
const MOST_ASKING = 16;

export class TooManyQuestionsError extends Error {
  override readonly name = 'TooManyQuestionsError';
  readonly code = 'too-many-questions';

  constructor() {
    super(`${MOST_ASKING} requests from this address wait for the API server already: try again later`);
  }
}

/** What is known already is no question: whoever shares an address with those that ask too much is served from the caches. */
export class PeerQuestions {
  readonly #asking = new Map<string, number>();

  /** Throws a `TooManyQuestionsError` at once, and does not reject: a question that is not asked is shared with no other peer. */
  ask<T>(peer: string, question: () => Promise<T>): Promise<T> {
    const asking = this.#asking.get(peer) ?? 0;
    if (asking >= MOST_ASKING) throw new TooManyQuestionsError();
    this.#asking.set(peer, asking + 1);
    return question().finally(() => {
      const left = (this.#asking.get(peer) ?? 1) - 1;
      if (left > 0) this.#asking.set(peer, left);
      else this.#asking.delete(peer);
    });
  }
}
