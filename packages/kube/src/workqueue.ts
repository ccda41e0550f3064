/** A queue of keys, as client-go's workqueue: a key is in it once, and is never worked on by two workers at a time. */
import { onAbort } from './abort.ts';
import type { Clock, Timer } from './clock.ts';
import { FairTurns } from './internal/fair-turns.ts';
import { IndexedHeap } from './internal/indexed-heap.ts';
import type { Metrics } from './metrics.ts';
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { createQueueMetrics, type QueueMetrics } from './internal/queue-metrics.ts';

export interface AddOptions {
  /** Not before this many milliseconds from now. The earliest of several wins. */
  readonly delayMs?: number;
  /**
   * Higher goes first; within one, groups take turns, and in a group it is first come, first served: a key that is raised comes to the higher one
   * now. Default: that of the key if it is queued already, else 0.
   */
  readonly priority?: number;
}

/** `K` is compared by identity: use strings. */
export interface WorkQueue<K> {
  /** Adds a key. While it is queued that changes nothing but its priority (the higher wins); while it is worked on, it is queued again afterwards. */
  add(key: K, options?: AddOptions): void;
  /** Adds a key after the back-off that its failures so far ask for. */
  addRateLimited(key: K, options?: Pick<AddOptions, 'priority'>): void;
  /** Clears the back-off of a key. */
  forget(key: K): void;
  /** How often `addRateLimited` was called since `forget`. */
  requeues(key: K): number;
  /** In how many milliseconds the key is handed out at the earliest. `undefined`: it is not queued. */
  dueInMs(key: K): number | undefined;
  /** The next key; waits for one. `undefined` once the queue is shut down and empty, or the signal aborts. */
  get(signal?: AbortSignal): Promise<K | undefined>;
  /**
   * Who works on this key has let go of its worker, and wants one again: `get` hands the key out once more, before `done`. Such keys of a group
   * take turns with its others, and with other groups. What was added meanwhile still waits for `done`. Of a key that nobody works on: nothing.
   */
  rejoin(key: K): void;
  /** The worker has finished this key. */
  done(key: K): void;
  /** Keys that are ready and not yet taken. */
  readonly length: number;
  /** Takes no more keys; those queued are still handed out, those still delayed are dropped. */
  shutDown(): void;
}

export interface WorkQueueOptions<K> {
  /** Of the controller: the `name` label of the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Default: `defaultRateLimiter`, client-go's. */
  readonly rateLimiter?: RateLimiter<K>;
  /** From 0 to 1, for the jitter of the default rate limiter. Default: no jitter. */
  readonly random?: () => number;
  /**
   * Whose key it is, such as its namespace: groups that have keys ready take turns, so that one with thousands does not hold up
   * the others. Default: all are of one.
   */
  readonly groupOf?: (key: K) => string;
}

/** A key that is to be worked on. It is in `#waiting`, in `#ready`, or, while a worker has the key, in neither. */
interface Entry<K> {
  readonly key: K;
  /** Of a key that is being worked on. */
  readonly rejoins?: true;
  priority: number;
  /** Monotonic; reached or past once the entry is ready. */
  readyAt: number;
  /** When it became ready: the start of its time in the queue, and its place among those of one priority. */
  order: number;
  group: string;
  /** Of its group. */
  turn: number;
  since: number;
}

/** Makes an empty queue. Every operation is O(log n). */
export function createWorkQueue<K>(options: WorkQueueOptions<K>): WorkQueue<K> {
  return new KeyQueue(options);
}

class KeyQueue<K> implements WorkQueue<K> {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter<K>;
  readonly #metrics: QueueMetrics;
  readonly #entries = new Map<K, Entry<K>>();
  readonly #waiting = new IndexedHeap<Entry<K>>((a, b) => a.readyAt < b.readyAt);
  readonly #ready = new IndexedHeap<Entry<K>>((a, b) =>
    a.priority !== b.priority ? a.priority > b.priority : a.turn === b.turn ? a.order < b.order : a.turn < b.turn,
  );
  readonly #groupOf: (key: K) => string;
  /** By priority: what a group has waiting at one, or had there, costs it no turn at another. */
  readonly #turns = new Map<number, FairTurns>();
  /** Keys that workers have, with the monotonic time at which they took them. */
  readonly #processing = new Map<K, number>();
  readonly #getters = new Set<(key: K | undefined) => void>();
  #order = 0;
  #timer: { readonly at: number; readonly handle: Timer } | undefined;
  #down = false;

  constructor(options: WorkQueueOptions<K>) {
    this.#clock = options.clock;
    this.#groupOf = options.groupOf ?? (() => '');
    this.#limiter = options.rateLimiter ?? defaultRateLimiter({ clock: options.clock, random: options.random });
    this.#metrics = createQueueMetrics(options.metrics, options.name, () => ({
      depth: this.#ready.size,
      now: this.#clock.monotonic(),
      startedAt: this.#processing.values(),
    }));
  }

  get length(): number {
    return this.#ready.size;
  }

  add(key: K, options: AddOptions = {}): void {
    if (this.#down) return;
    // Upstream counts every delayed add as a retry, also a requeue that follows no failure.
    if (options.delayMs !== undefined) this.#metrics.retried();
    const { delayMs = 0, priority } = options;
    if (Number.isNaN(delayMs)) throw new RangeError('workqueue: delayMs is not a number');
    const readyAt = this.#clock.monotonic() + Math.max(0, delayMs);
    const entry = this.#entries.get(key);
    if (entry) this.#hasten(entry, readyAt, priority);
    else this.#enter(key, readyAt, priority ?? 0, delayMs > 0);
  }

  addRateLimited(key: K, options: Pick<AddOptions, 'priority'> = {}): void {
    this.add(key, { ...options, delayMs: this.#limiter.delayMs(key) });
  }

  forget(key: K): void {
    this.#limiter.forget(key);
  }

  requeues(key: K): number {
    return this.#limiter.requeues(key);
  }

  dueInMs(key: K): number | undefined {
    const entry = this.#entries.get(key);
    return entry && Math.max(0, entry.readyAt - this.#clock.monotonic());
  }

  get(signal?: AbortSignal): Promise<K | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    const entry = this.#ready.pop();
    if (entry) return Promise.resolve(this.#take(entry));
    if (this.#down) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const settle = (key: K | undefined): void => {
        this.#getters.delete(settle);
        forget?.();
        resolve(key);
      };
      const forget = signal && onAbort(signal, () => settle(undefined));
      this.#getters.add(settle);
    });
  }

  rejoin(key: K): void {
    if (!this.#processing.has(key)) return;
    const now = this.#clock.monotonic();
    // What is begun takes turns with what is new in its group: behind a thousand of them it would keep its lock and its memory, and the cloud idle.
    const group = `begun ${this.#groupOf(key)}`;
    const place = { order: this.#order++, group, turn: this.#turnsAt(0).next(group) };
    this.#offer({ key, rejoins: true, priority: 0, readyAt: now, since: now, ...place });
  }

  done(key: K): void {
    const startedAt = this.#processing.get(key);
    if (startedAt === undefined) return;
    this.#processing.delete(key);
    this.#metrics.worked(this.#clock.monotonic() - startedAt);
    const entry = this.#entries.get(key);
    if (entry && !this.#waiting.has(entry)) this.#offer(entry);
  }

  shutDown(): void {
    this.#down = true;
    this.#timer?.handle.cancel();
    this.#timer = undefined;
    for (let entry = this.#waiting.pop(); entry; entry = this.#waiting.pop()) this.#entries.delete(entry.key);
    for (const settle of this.#getters) settle(undefined);
    this.#metrics.close();
  }

  #enter(key: K, readyAt: number, priority: number, delayed: boolean): void {
    const entry: Entry<K> = { key, priority, readyAt, order: 0, group: '', turn: 0, since: 0 };
    this.#entries.set(key, entry);
    if (delayed) {
      this.#waiting.push(entry);
      this.#arm();
    } else {
      this.#makeReady(entry);
    }
  }

  #hasten(entry: Entry<K>, readyAt: number, priority: number | undefined): void {
    const higher = Math.max(priority ?? entry.priority, entry.priority);
    if (!this.#waiting.has(entry)) {
      // Else a worker has the key, and `done` hands the entry on.
      if (this.#moveTurn(entry, higher) && this.#ready.has(entry)) this.#ready.push(entry);
      return;
    }
    entry.priority = higher;
    if (readyAt >= entry.readyAt) return;
    entry.readyAt = readyAt;
    if (readyAt <= this.#clock.monotonic()) {
      this.#waiting.delete(entry);
      this.#makeReady(entry);
    } else {
      this.#waiting.push(entry);
    }
    this.#arm();
  }

  /** The delay is over, or there was none. While a worker has the key, `done` hands the entry on. */
  #makeReady(entry: Entry<K>): void {
    this.#metrics.added();
    entry.since = this.#clock.monotonic();
    entry.order = this.#order++;
    entry.group = this.#groupOf(entry.key);
    entry.turn = this.#turnsAt(entry.priority).next(entry.group);
    if (!this.#processing.has(entry.key)) this.#offer(entry);
  }

  /** To this priority; at the same one a key that is of another group by now takes the turn of that one, if it is earlier. */
  #moveTurn(entry: Entry<K>, priority: number): boolean {
    const group = this.#groupOf(entry.key);
    const turns = this.#turnsAt(priority);
    const stays = group === entry.group || turns.upcoming(group) >= entry.turn;
    if (priority === entry.priority && stays) return false;
    const before = { turn: entry.turn, turns: this.#turnsAt(entry.priority) };
    Object.assign(entry, { priority, group, turn: turns.next(group) });
    before.turns.taken(before.turn, false);
    return true;
  }

  #turnsAt(priority: number): FairTurns {
    const turns = this.#turns.get(priority) ?? new FairTurns();
    this.#turns.set(priority, turns);
    return turns;
  }

  #offer(entry: Entry<K>): void {
    const [settle] = this.#getters;
    if (settle) settle(this.#take(entry));
    else this.#ready.push(entry);
  }

  #take(entry: Entry<K>): K {
    const now = this.#clock.monotonic();
    this.#turnsAt(entry.priority).taken(entry.turn);
    if (entry.rejoins) return entry.key;
    this.#entries.delete(entry.key);
    this.#processing.set(entry.key, now);
    this.#metrics.taken(now - entry.since);
    return entry.key;
  }

  /** One timer, for the earliest entry, however many wait. */
  #arm(): void {
    const at = this.#waiting.peek()?.readyAt;
    if (at === this.#timer?.at) return;
    this.#timer?.handle.cancel();
    this.#timer = undefined;
    if (at === undefined || at === Infinity) return;
    this.#timer = { at, handle: this.#clock.setTimer(at - this.#clock.monotonic(), () => this.#ripen()) };
  }

  #ripen(): void {
    // A timer may fire a fraction early; what it was set for is due whatever the clock says.
    const due = Math.max(this.#clock.monotonic(), this.#timer?.at ?? 0);
    this.#timer = undefined;
    for (let next = this.#waiting.peek(); next && next.readyAt <= due; next = this.#waiting.peek()) {
      this.#waiting.pop();
      this.#makeReady(next);
    }
    this.#arm();
  }
}
