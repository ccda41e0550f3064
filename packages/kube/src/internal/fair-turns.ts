/**
 * Whose turn it is among groups that share something (start-time fair queueing): one that has a thousand waiting takes as many turns as
 * one that has two.
 */

/** More groups than this are looked through for those that wait for nothing any more. */
const MOST_GROUPS = 1_000;

export class FairTurns {
  /** Turn at which the group's next one begins. */
  readonly #next = new Map<string, number>();
  #now = 0;
  #waiting = 0;
  #look = MOST_GROUPS;

  get groups(): number {
    return this.#next.size;
  }

  /** What `next` would give. */
  upcoming(group: string): number {
    return Math.max(this.#now, this.#next.get(group) ?? 0);
  }

  /** The turn of one more of this group: the lowest goes first, and of one turn whoever came first. */
  next(group: string): number {
    const turn = this.upcoming(group);
    this.#next.set(group, turn + 1);
    this.#waiting++;
    if (this.#next.size > this.#look) this.#forget();
    return turn;
  }

  /** What has this turn is no longer waiting. `isInTurn`: it was its turn, and it has not gone elsewhere. */
  taken(turn: number, isInTurn = true): void {
    if (isInTurn && turn > this.#now) this.#now = turn;
    // Nobody waits for anybody.
    if (--this.#waiting === 0) this.#next.clear();
  }

  #forget(): void {
    for (const [group, turn] of this.#next) if (turn <= this.#now) this.#next.delete(group);
    this.#look = Math.max(MOST_GROUPS, 2 * this.#next.size);
  }
}
