/** The nodes that are not Ready, and what is known about each. */
import { noEvidence, type Evidence } from './evidence.ts';
import type { Readiness } from './readiness.ts';

export interface Candidate {
  readonly uid: string;
  readonly providerID: string | undefined;
  /** As it was when the evidence began. */
  readonly readiness: Readiness;
  readonly evidence: Evidence;
  /** The breaker keeps it. */
  readonly held: boolean;
}

export interface CandidatesOptions {
  /** The cloud does not seem to have its machine; or it has. */
  readonly onSuspected: (uid: string, suspected: boolean) => void;
  /** How many are held. */
  readonly onHeld: (count: number) => void;
}

export class Candidates {
  readonly #options: CandidatesOptions;
  readonly #byKey = new Map<string, Candidate>();
  #held = 0;

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  get(key: string): Candidate | undefined {
    return this.#byKey.get(key);
  }

  /** Nothing is known about it at `now` (monotonic), whatever was known before. */
  begin(key: string, candidate: Omit<Candidate, 'evidence' | 'held'>, now: number): void {
    this.end(key);
    this.#byKey.set(key, { ...candidate, evidence: noEvidence(now), held: false });
  }

  learn(key: string, evidence: Evidence): void {
    const candidate = this.#byKey.get(key);
    if (!candidate) return;
    this.#byKey.set(key, { ...candidate, evidence });
    const { suspected } = evidence;
    if (suspected !== candidate.evidence.suspected) this.#options.onSuspected(candidate.uid, suspected);
  }

  setHeld(key: string, held: boolean): void {
    const candidate = this.#byKey.get(key);
    if (!candidate || candidate.held === held) return;
    this.#byKey.set(key, { ...candidate, held });
    this.#held += held ? 1 : -1;
    this.#options.onHeld(this.#held);
  }

  end(key: string): void {
    const candidate = this.#byKey.get(key);
    if (!candidate) return;
    this.setHeld(key, false);
    this.#byKey.delete(key);
    if (candidate.evidence.suspected) this.#options.onSuspected(candidate.uid, false);
  }
}
