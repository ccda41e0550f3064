/**
 * How large the share of a zone, or of the cluster, is that seems to be gone. A cloud that says of half a zone that it does not
 * exist is more often wrong than right: above a fraction, each node needs a longer proof. All that seem to be gone count
 * together, before there is any proof, and not one by one.
 *
 * kube-controller-manager's zone states (`--unhealthy-zone-threshold`, `--node-eviction-rate` and its secondary rate) ask the same
 * question of nodes that are not Ready, and answer it with a slower rate. A slower rate deletes live nodes too, only later.
 */
import type { Clock } from '@outrigger/kube';

export interface BreakerNode {
  /** Absent: only the cluster's limit holds for it. */
  readonly zone: string | undefined;
  /** Goes away as planned, or may be deleted by a person's word: never counts, and is never held. */
  readonly exempt: boolean;
  /** It is initialised and Ready: its kubelet, which runs on the machine, is heard. */
  readonly ready: boolean;
}

export interface DeletionBreakerOptions {
  readonly clock: Clock;
  /** Of the nodes of a zone, and of those of the cluster; rounded to the nearest number of nodes. */
  readonly maxFraction: number;
  /** Nodes that were deleted count for so long, in milliseconds, and so do those that joined. */
  readonly windowMs: number;
}

interface Entry extends BreakerNode {
  readonly gone: boolean;
}

interface Past {
  readonly zone: string | undefined;
  readonly at: number;
}

interface Tally {
  /** Nodes, and those deleted in the window. */
  all: number;
  /** Those that are still there and seem to be gone. */
  gone: number;
  /** In the window. */
  deleted: number;
  /** In the window, and Ready: what they replace is no loss. */
  joined: number;
}

export class DeletionBreaker {
  readonly #options: DeletionBreakerOptions;
  readonly #entries = new Map<string, Entry>();
  /** By UID, the oldest first. */
  readonly #deleted = new Map<string, Past>();
  /** By UID, the oldest first: when each was seen first. */
  readonly #joined = new Map<string, number>();
  readonly #cluster: Tally = emptyTally();
  readonly #zones = new Map<string, Tally>();
  #ready = 0;
  /** UIDs of the first list that were not seen yet; `undefined` before it. */
  #listed: Set<string> | undefined;

  constructor(options: DeletionBreakerOptions) {
    this.#options = options;
  }

  /** Whether any node is Ready, whose machine the cloud must know. */
  get anyReady(): boolean {
    return this.#ready > 0;
  }

  /** Whatever is seen from now on for the first time has joined, but for the nodes with these UIDs: the first list, which is told in slices. */
  started(listed: Iterable<string> = []): void {
    this.#listed = new Set(listed);
  }

  /** There is such a node, or it has changed. */
  see(uid: string, { zone, exempt, ready }: BreakerNode): void {
    const known = this.#entries.get(uid);
    if (known && known.zone === zone && known.exempt === exempt && known.ready === ready) return;
    if (!known && this.#listed && !this.#listed.delete(uid)) this.#joined.set(uid, this.#options.clock.monotonic());
    this.#set(uid, { zone, exempt, ready, gone: known?.gone ?? false });
  }

  /** The cloud does not seem to have its machine; or (`false`) it has. */
  markGone(uid: string, gone: boolean): void {
    const known = this.#entries.get(uid);
    if (known && known.gone !== gone) this.#set(uid, { ...known, gone });
  }

  /** The node object is no longer there. One that `begin` was called for goes on counting. */
  forget(uid: string): void {
    this.#set(uid, undefined);
    this.#joined.delete(uid);
  }

  /** Whether more of the node's zone, or of the cluster, are gone than go at the normal pace; it counts as gone itself. */
  isLargeShare(uid: string): boolean {
    const entry = this.#entries.get(uid);
    if (!entry) return true;
    if (entry.exempt) return false;
    this.#expire();
    const more = entry.gone || this.#deleted.has(uid) ? 0 : 1;
    const tallies = [this.#cluster, entry.zone === undefined ? undefined : this.#zones.get(entry.zone)];
    return tallies.some((tally) => tally && lost(tally) + more > this.#most(tally));
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
    if (entry?.ready) this.#ready += sign;
    if (!entry && !deleted) return;
    const gone = !deleted && entry !== undefined && entry.gone && !entry.exempt;
    const joined = !deleted && entry !== undefined && entry.ready && !entry.gone && this.#joined.has(uid);
    const zone = deleted ? deleted.zone : entry?.zone;
    for (const tally of [this.#cluster, zone === undefined ? undefined : this.#zone(zone)]) {
      if (!tally) continue;
      tally.all += sign;
      if (deleted) tally.deleted += sign;
      if (gone) tally.gone += sign;
      if (joined) tally.joined += sign;
      if (zone !== undefined && tally.all === 0 && tally !== this.#cluster) this.#zones.delete(zone);
    }
  }

  #zone(zone: string): Tally {
    const known = this.#zones.get(zone);
    if (known) return known;
    const made = emptyTally();
    this.#zones.set(zone, made);
    return made;
  }

  /** One always: a cluster of two must be able to lose one. */
  #most({ all }: Tally): number {
    return Math.max(1, Math.round(this.#options.maxFraction * all));
  }

  #expire(): void {
    const before = this.#options.clock.monotonic() - this.#options.windowMs;
    for (const [uid, { at }] of this.#deleted) {
      if (at > before) break;
      this.withdraw(uid);
    }
    for (const [uid, at] of this.#joined) {
      if (at > before) break;
      this.#count(uid, -1);
      this.#joined.delete(uid);
      this.#count(uid, 1);
    }
  }
}

function emptyTally(): Tally {
  return { all: 0, gone: 0, deleted: 0, joined: 0 };
}

/** Those that were replaced are no loss: a pool that is replaced one by one is as large as before. */
function lost({ gone, deleted, joined }: Tally): number {
  return gone + Math.max(0, deleted - joined);
}
