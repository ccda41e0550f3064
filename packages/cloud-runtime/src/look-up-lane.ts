/**
 * One line of look-ups: keys gather while a batch is in flight, the next batch takes them, up to the batch size. Where the first few of many
 * that come together were asked about alone, the others do not wait for that.
 */
import type { CallPriority, InstanceNeed, NodeRef } from '@outrigger/cloud-provider';
import { sameHolder, type AsHolder } from '@outrigger/kube';
import type { DatedAnswer } from './answer-defaults.ts';

/** Who waits for an answer. */
export interface AnswerWaiter {
  readonly notBefore: number | undefined;
  settle(answer: DatedAnswer): void;
}

/** One node that is asked about, for all who wait. */
export interface LookUpEntry {
  node: NodeRef;
  need: InstanceNeed;
  priority: CallPriority;
  readonly waiters: Set<AnswerWaiter>;
  /** The node is gone: its answer goes to those who wait, and not into the snapshot. */
  forgotten: boolean;
  /** Who has asked last. */
  asker: AsHolder;
}

/** What is in flight. */
export interface Batch {
  readonly entries: readonly LookUpEntry[];
  readonly need: InstanceNeed;
  readonly priority: CallPriority;
  /** Ends the call: nobody waits for it any more, or all is closed. */
  readonly controller: AbortController;
}

/**
 * Turns of the event loop that a batch which is not full waits at most while keys go on arriving. A store hands over its
 * first list in slices, a turn each.
 */
const MOST_TURNS = 32;
/** So many wait for no batch of fewer. */
const MANY = 10;

/** Never rejects. */
export type RunBatch = (batch: Batch) => Promise<void>;

export class LookUpLane {
  readonly #batchSize: number;
  readonly #run: RunBatch;
  readonly #asMade: AsHolder = sameHolder();
  /** By UID, in the order of asking. */
  readonly #queue = new Map<string, LookUpEntry>();
  readonly #inFlight = new Set<Batch>();
  #gathering = false;

  constructor(batchSize: number, run: RunBatch) {
    this.#batchSize = batchSize;
    this.#run = run;
  }

  /** What waits for a batch, and what is in flight. */
  *entries(): Iterable<LookUpEntry> {
    yield* this.#queue.values();
    for (const batch of this.#inFlight) yield* batch.entries;
  }

  add(node: NodeRef, need: InstanceNeed, priority: CallPriority, waiter: AnswerWaiter): LookUpEntry {
    const queued = this.#queue.get(node.uid);
    const asker = sameHolder();
    const entry: LookUpEntry = queued ?? { node, need, priority, waiters: new Set(), forgotten: false, asker };
    entry.asker = asker;
    entry.node = node;
    entry.forgotten = false;
    if (need === 'metadata') entry.need = need;
    if (priority !== 'background') entry.priority = priority;
    entry.waiters.add(waiter);
    if (!queued) this.#queue.set(node.uid, entry);
    this.#gather();
    return entry;
  }

  /** Somebody has stopped waiting: nothing is asked, or nothing goes on, for nobody. */
  leave(entry: LookUpEntry, waiter: AnswerWaiter): void {
    entry.waiters.delete(waiter);
    if (entry.waiters.size > 0) return;
    if (this.#queue.get(entry.node.uid) === entry) this.#queue.delete(entry.node.uid);
    for (const { controller, entries } of this.#inFlight) {
      if (entries.every(({ waiters }) => waiters.size === 0))
        controller.abort(new DOMException('no caller waits for this look-up any more', 'AbortError'));
    }
  }

  #mayBegin(): boolean {
    const [first, second] = this.#inFlight;
    const many = Math.min(MANY, this.#batchSize);
    return !first || (!second && first.entries.length < many && this.#queue.size >= many);
  }

  /**
   * Waits until the batch is full, or a turn of the event loop has brought no key, so that a burst travels together. Not a
   * timer: a turn has no length, and a key that comes alone waits for one.
   */
  #gather(): void {
    if (this.#gathering || !this.#mayBegin()) return;
    this.#gathering = true;
    const turn = (turns: number, before: number): void => {
      const { size } = this.#queue;
      if (size > before && size < this.#batchSize && turns < MOST_TURNS) {
        setImmediate(turn, turns + 1, size);
        return;
      }
      this.#gathering = false;
      this.#next();
    };
    setImmediate(turn, 1, this.#queue.size);
  }

  #next(): void {
    if (this.#queue.size === 0 || !this.#mayBegin()) return;
    const entries = this.#take();
    const batch: Batch = {
      entries,
      need: entries.some(({ need }) => need === 'metadata') ? 'metadata' : 'state',
      priority: mostUrgent(entries),
      controller: new AbortController(),
    };
    this.#inFlight.add(batch);
    // Of several nobody knows who holds the event loop, and whoever began is not to blame.
    const [first, ...others] = entries;
    const asHolder = first && others.length === 0 ? first.asker : this.#asMade;
    void asHolder(() => this.#run(batch)).finally(() => {
      this.#inFlight.delete(batch);
      this.#gather();
    });
  }

  /**
   * Oldest first, `normal` before `background`. Two nodes of one name (the old one and its successor) never share a batch: a
   * cloud that is asked by name could not tell them apart.
   */
  #take(): readonly LookUpEntry[] {
    const names = new Set<string>();
    const taken: LookUpEntry[] = [];
    for (const background of [false, true]) {
      for (const [uid, entry] of this.#queue) {
        if (taken.length === this.#batchSize) return taken;
        if ((entry.priority === 'background') !== background || names.has(entry.node.name)) continue;
        names.add(entry.node.name);
        taken.push(entry);
        this.#queue.delete(uid);
      }
    }
    return taken;
  }
}

function mostUrgent(entries: readonly LookUpEntry[]): CallPriority {
  if (entries.some(({ priority }) => priority === 'critical')) return 'critical';
  return entries.some(({ priority }) => priority === 'normal') ? 'normal' : 'background';
}
