/**
 * How many nodes may be deleted. A cloud that says of half a zone that it does not exist is more often wrong than right, so
 * above a fraction none is deleted: all that seem to be gone count together, before there is any proof, and not one by one.
 */
import type { Clock } from '@outrigger/kube';

export interface BreakerNode {
  /** Absent: only the cluster's limit holds for it. */
  readonly zone: string | undefined;
  /** Goes away as planned, or may be deleted by a person's word: never counts, and is never held. */
  readonly exempt: boolean;
}

export interface DeletionBreakerOptions {
  readonly clock: Clock;
  /** Of the nodes of a zone, and of those of the cluster. */
  readonly maxFraction: number;
  /** Nodes that were deleted count for so long, in milliseconds. */
  readonly windowMs: number;
}

interface Entry extends BreakerNode {
  readonly gone: boolean;
}

interface Deleted {
  readonly zone: string | undefined;
  readonly at: number;
}

interface Tally {
  /** Nodes, and those deleted in the window. */
  all: number;
  /** Of those, the ones that are gone. */
  gone: number;
}

export class DeletionBreaker {
  readonly #options: DeletionBreakerOptions;
  readonly #entries = new Map<string, Entry>();
  /** By UID, the oldest first. */
  readonly #deleted = new Map<string, Deleted>();
  readonly #cluster: Tally = { all: 0, gone: 0 };
  readonly #zones = new Map<string, Tally>();

  constructor(options: DeletionBreakerOptions) {
    this.#options = options;
  }

  /** There is such a node, or it has changed. */
  see(uid: string, { zone, exempt }: BreakerNode): void {
    const known = this.#entries.get(uid);
    if (known && known.zone === zone && known.exempt === exempt) return;
    this.#set(uid, { zone, exempt, gone: known?.gone ?? false });
  }

  /** The cloud does not seem to have its machine; or (`false`) it has. */
  markGone(uid: string, gone: boolean): void {
    const known = this.#entries.get(uid);
    if (known && known.gone !== gone) this.#set(uid, { ...known, gone });
  }

  /** The node object is no longer there. One that `begin` was called for goes on counting. */
  forget(uid: string): void {
    this.#set(uid, undefined);
  }

  /** Whether this node may be deleted, now that it is gone or as if it were. */
  allows(uid: string): boolean {
    const entry = this.#entries.get(uid);
    if (!entry) return false;
    if (entry.exempt) return true;
    this.#expire();
    const more = entry.gone || this.#deleted.has(uid) ? 0 : 1;
    const tallies = [this.#cluster, entry.zone === undefined ? undefined : this.#zones.get(entry.zone)];
    return tallies.every((tally) => !tally || tally.gone + more <= this.#most(tally));
  }

  /** The node is about to be deleted. Counts from now on, whatever becomes of the request. */
  begin(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry || entry.exempt || this.#deleted.has(uid)) return;
    this.#count(uid, -1);
    this.#deleted.set(uid, { zone: entry.zone, at: this.#options.clock.monotonic() });
    this.#count(uid, 1);
  }

  /** The API server has refused: nothing was deleted. */
  withdraw(uid: string): void {
    this.#count(uid, -1);
    this.#deleted.delete(uid);
    this.#count(uid, 1);
  }

  #set(uid: string, entry: Entry | undefined): void {
    this.#count(uid, -1);
    if (entry) this.#entries.set(uid, entry);
    else this.#entries.delete(uid);
    this.#count(uid, 1);
  }

  /** Adds what is known about one node to the tallies, or takes it out: each node counts once, deleted or not. */
  #count(uid: string, sign: 1 | -1): void {
    const entry = this.#entries.get(uid);
    const deleted = this.#deleted.get(uid);
    if (!entry && !deleted) return;
    const gone = deleted !== undefined || (entry !== undefined && entry.gone && !entry.exempt);
    const zone = deleted ? deleted.zone : entry?.zone;
    for (const tally of [this.#cluster, zone === undefined ? undefined : this.#zone(zone)]) {
      if (!tally) continue;
      tally.all += sign;
      if (gone) tally.gone += sign;
      if (zone !== undefined && tally.all === 0 && tally !== this.#cluster) this.#zones.delete(zone);
    }
  }

  #zone(zone: string): Tally {
    const known = this.#zones.get(zone);
    if (known) return known;
    const made: Tally = { all: 0, gone: 0 };
    this.#zones.set(zone, made);
    return made;
  }

  /** One always: a cluster of two must be able to lose one. The small term keeps 0.29 × 100 from being 28. */
  #most({ all }: Tally): number {
    return Math.max(1, Math.floor(this.#options.maxFraction * all + 1e-9));
  }

  #expire(): void {
    const before = this.#options.clock.monotonic() - this.#options.windowMs;
    for (const [uid, { at }] of this.#deleted) {
      if (at > before) return;
      this.withdraw(uid);
    }
  }
}
