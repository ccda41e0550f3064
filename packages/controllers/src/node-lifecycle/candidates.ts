/** The nodes that are not Ready, and what is known about each. */
import { noEvidence, type Evidence } from './evidence.ts';
import type { LifecycleHold } from './plan.ts';
import type { Readiness } from './readiness.ts';

/** Why it stays. `unproved`: its machine cannot be read or proved to be gone, or had no turn for minutes. */
export type CandidateHold = LifecycleHold | 'unproved';

export interface Candidate {
  readonly uid: string;
  readonly providerID: string | undefined;
  /** As it was when the evidence began. */
  readonly readiness: Readiness;
  readonly evidence: Evidence;
  /** What is counted and told; not set while it waits in the normal way. */
  readonly hold: CandidateHold | undefined;
}

export interface CandidatesOptions {
  /** The cloud does not seem to have its machine; or it has. */
  readonly onSuspected: (uid: string, suspected: boolean) => void;
  /** How many are held, and for how many of these no end is in sight. */
  readonly onHeld: (count: number, withoutEnd: number) => void;
}

export class Candidates {
  readonly #options: CandidatesOptions;
  readonly #byKey = new Map<string, Candidate>();
  #held = 0;
  #withoutEnd = 0;

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  get(key: string): Candidate | undefined {
    return this.#byKey.get(key);
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  /** Nothing is known about it at `now` (monotonic), whatever was known before. */
  begin(key: string, candidate: Omit<Candidate, 'evidence' | 'hold'>, now: number): void {
    this.end(key);
    this.#byKey.set(key, { ...candidate, evidence: noEvidence(now), hold: undefined });
  }

  learn(key: string, evidence: Evidence): void {
    const candidate = this.#byKey.get(key);
    if (!candidate) return;
    this.#byKey.set(key, { ...candidate, evidence });
    const { suspected } = evidence;
    if (suspected !== candidate.evidence.suspected) this.#options.onSuspected(candidate.uid, suspected);
  }

  setHold(key: string, hold: CandidateHold | undefined): void {
    const candidate = this.#byKey.get(key);
    if (!candidate || candidate.hold === hold) return;
    this.#byKey.set(key, { ...candidate, hold });
    this.#held += Number(hold !== undefined) - Number(candidate.hold !== undefined);
    this.#withoutEnd += Number(isWithoutEnd(hold)) - Number(isWithoutEnd(candidate.hold));
    this.#options.onHeld(this.#held, this.#withoutEnd);
  }

  end(key: string): void {
    const candidate = this.#byKey.get(key);
    if (!candidate) return;
    this.setHold(key, undefined);
    this.#byKey.delete(key);
    if (candidate.evidence.suspected) this.#options.onSuspected(candidate.uid, false);
  }
}

function isWithoutEnd(hold: CandidateHold | undefined): boolean {
  return hold === 'no-witness' || hold === 'unproved-place' || hold === 'unproved';
}
