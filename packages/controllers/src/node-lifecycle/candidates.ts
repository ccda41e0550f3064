/** The nodes that are not Ready, and what is known about each. */
import { noEvidence, type Evidence } from './evidence.ts';
import type { LifecycleHold } from './plan.ts';
import type { Readiness } from './readiness.ts';

export interface Candidate {
  readonly uid: string;
  readonly providerID: string | undefined;
  /** As it was when the evidence began. */
  readonly readiness: Readiness;
  readonly evidence: Evidence;
  /** Why it stays although it is proved to be gone. */
  readonly hold: LifecycleHold | undefined;
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

  setHold(key: string, hold: LifecycleHold | undefined): void {
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

function isWithoutEnd(hold: LifecycleHold | undefined): boolean {
  return hold === 'no-witness' || hold === 'unproved-place';
}
