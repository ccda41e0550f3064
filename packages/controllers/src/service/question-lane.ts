/** Questions of a kind: who waits in one lane does not wait for the others. */
import type { AsHolder } from '@outrigger/kube';
import { inTurns } from './in-turns.ts';
import type { Asked } from './question-turns.ts';

/** Of a lane, the turns of so many groups; and so many Services of each kind. */
const MOST_REMEMBERED = 1_000;

export class QuestionLane<Question extends Asked> {
  /** Keys that wait for the next question, with who asks. */
  readonly gathering: Map<string, AsHolder> = new Map();
  readonly inFlight: Set<Question> = new Set();
  /** Of those that are asked about together, at a time. */
  readonly most: number;
  isBeginning: boolean = false;
  /** Of each group, the number of its last question; the oldest first. */
  readonly #lastTurns = new Map<string, number>();
  #questions = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** Who was not asked about for longest goes first, also where a question takes one. */
  inTurns(keys: readonly string[], groupOf: (key: string) => string): Iterable<string> {
    return inTurns(keys, groupOf, (group) => this.#lastTurns.get(group) ?? 0);
  }

  /** The next question is about these. */
  noteTurn(groups: Iterable<string>): void {
    this.#questions++;
    for (const group of groups) {
      this.#lastTurns.delete(group);
      this.#lastTurns.set(group, this.#questions);
    }
    forgetOldest(this.#lastTurns);
  }
}

/** What was not remembered anew for longest. */
export function forgetOldest(remembered: Set<string> | Map<string, unknown>): void {
  for (const key of remembered.keys()) {
    if (remembered.size <= MOST_REMEMBERED) return;
    remembered.delete(key);
  }
}
