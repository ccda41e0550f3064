/** All terms as leader that a process has now, as one. */
import type { Leadership } from '@outrigger/kube';

type HeldTerm = Pick<Leadership, 'guard' | 'perform' | 'outcomeUnknown'>;

/**
 * What `fence` of @outrigger/kube takes, for a process with more than one lock: a request may start only while no term
 * that was added is over. Losing any lock ends the process, so nothing that is asked for under one of them is of use once
 * another is lost. Without a term everything may start.
 */
export class HeldTerms implements HeldTerm {
  readonly #terms: HeldTerm[] = [];

  add(term: HeldTerm): void {
    this.#terms.push(term);
  }

  /** Throws a `NotLeaderError` unless a request may start. */
  readonly guard = (): void => {
    for (const term of this.#terms) term.guard();
  };

  /** Runs `work` if a request may start; the release of each term waits for it. Its signal aborts when any of the terms ends. */
  perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return performUnder(this.#terms, [], work);
  }

  /** A write that may still take effect: none of the Leases is given back. */
  readonly outcomeUnknown = (what: string): void => {
    for (const term of this.#terms) term.outcomeUnknown(what);
  };
}

function performUnder<T>(
  [first, ...others]: readonly Pick<Leadership, 'perform'>[],
  signals: AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (first !== undefined) return first.perform((signal) => performUnder(others, [...signals, signal], work));
  const [only] = signals;
  return work(signals.length === 1 && only !== undefined ? only : AbortSignal.any(signals));
}
