/** Which reviews ask the cloud now. Whoever may write one Service has it reviewed as often as they like, by dry runs. */
import { CloudError } from '@outrigger/cloud-provider';
import { onAbort, raceAbort } from '@outrigger/kube';

const [MOST_OF_NAMESPACE, MOST_OF_ALL] = [2, 8];
/** Of one namespace. Later ones would have no answer in time, and hold places of the listener until then. */
const MOST_WAITING = 16;
/** Of all: from the first number on one of a namespace, from the second on none. The listener has 64 places for all webhooks together. */
const [MANY_WAITING, TOO_MANY_WAITING] = [24, 48];

export class ReviewTurns {
  /** The namespace of each that asks. */
  readonly #asking: string[] = [];
  /** By namespace, in the order of their turns. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Rejects when `signal` aborts, which ends the turn too, and with a `CloudError` where too many wait. */
  async inTurn<T>(namespace: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    await this.#turn(namespace, signal);
    try {
      return await raceAbort(ask(), signal);
    } finally {
      this.#asking.splice(this.#asking.indexOf(namespace), 1);
      this.#begin();
    }
  }

  #turn(namespace: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const waiting = this.#waiting.get(namespace) ?? new Set();
      if (waiting.size >= MOST_WAITING) {
        const text = `${MOST_WAITING} Services of the namespace wait for the cloud already; write fewer at a time`;
        throw new CloudError('throttled', text);
      }
      const all = this.#waiting.values().reduce((count, { size }) => count + size, 0);
      if (all >= TOO_MANY_WAITING || (all >= MANY_WAITING && waiting.size > 0)) {
        throw new CloudError('throttled', `${all} Services wait for the cloud already; write this one again later`);
      }
      const forget = onAbort(signal, () => {
        waiting.delete(begin);
        if (waiting.size === 0) this.#waiting.delete(namespace);
        reject(signal.reason as Error);
      });
      const begin = (): void => {
        forget();
        resolve();
      };
      this.#waiting.set(namespace, waiting.add(begin));
      this.#begin();
    });
  }

  #begin(): void {
    for (;;) {
      const next = this.#waiting.entries().find(([namespace]) => this.#hasPlace(namespace));
      if (!next) return;
      const [namespace, waiting] = next;
      const [begin] = waiting;
      if (!begin) return;
      waiting.delete(begin);
      // The next of its namespace comes after one of each other.
      this.#waiting.delete(namespace);
      if (waiting.size > 0) this.#waiting.set(namespace, waiting);
      this.#asking.push(namespace);
      begin();
    }
  }

  #hasPlace(namespace: string): boolean {
    const theirs = this.#asking.filter((one) => one === namespace);
    return this.#asking.length < MOST_OF_ALL && theirs.length < MOST_OF_NAMESPACE;
  }
}
