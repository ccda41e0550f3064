/** Kubernetes Events: what a person sees in `kubectl describe`. Entry point: `createEventRecorder`. */
import type { Client, ResourceClient } from './client.ts';
import type { Clock } from './clock.ts';
import { EventCorrelator, type EventSeries } from './event-correlator.ts';
import type { EventNote } from './event-note.ts';
import { eventName, eventOf, eventPatch } from './internal/event-object.ts';
import { isPermanent, retryAfterOf } from './internal/event-failure.ts';
import { RecentMap } from './internal/recent-map.ts';
import type { KubeObject } from './kube-object.ts';
import type { Logger } from './logger.ts';
import type { Counter, Metrics } from './metrics.ts';
import { exponentialBackoff, tokenBucket, type RateLimiter } from './rate-limiter.ts';
import { resources } from './resources.ts';
import { isAlreadyExists, isNotFound } from './status-error.ts';
import type { CoreEvent } from './types/index.ts';
import { createWorkQueue, type WorkQueue } from './workqueue.ts';

/** Records Events. Never throws and never waits: what cannot be written is retried in the background, then counted and logged. */
export interface EventRecorder {
  /** About this object, whose `apiVersion` and `kind` must be set. Equal notes are folded into a series; floods of Normal notes are dropped, Warnings never. */
  record(about: KubeObject, note: EventNote): void;
}

export interface EventRecorderOptions {
  readonly client: Client;
  /** Who reports, for example `cloud-node-controller`. */
  readonly component: string;
  /** Name of this host or pod. */
  readonly host: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1: spreads retries. */
  readonly random: () => number;
  /** What Events about many objects at a time are about. Default: the namespace `kube-system`. */
  readonly floodAbout?: KubeObject;
  /** Writes a second at most, after a burst of twice as many: Events never crowd out the work itself. Default: 50. */
  readonly writesPerSecond?: number;
  /**
   * Series that wait to be written, at most, and as many of namespaces; more are folded. One namespace has as many as are free yet, and 10
   * in any case. Default: 10,000.
   */
  readonly maxPending?: number;
  /** Takes secrets out of messages, which whoever may read Events can read. Default: they are written as they come. */
  readonly redact?: (message: string) => string;
}

/** A recorder that has to be closed. */
export interface RunningEventRecorder extends EventRecorder, AsyncDisposable {
  /** Writes what waits, `timeoutMs` (default 5,000) at most, and stops. Records nothing from then on. Never throws. */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}

const WRITERS = 4;
const WRITE_TIMEOUT_MS = 10_000;
const BACKOFF = { baseMs: 1_000, maxMs: 60_000 };
/** From the first failure until an Event is given up. After an hour the server would have forgotten it anyway. */
const PATIENCE_MS = { Normal: 600_000, Warning: 3_600_000 };
/** Warnings have that of the queue's turns: those that went before their turn move none of them on. */
const PRIORITY = { Normal: -1, Warning: 0 };
/** So often the Normal notes that wait are let among the Warnings: one namespace may have Warnings without an end. */
const PROMOTION_MS = 10_000;
/** Of each namespace, whatever waits of others: known series that repeat may fill all places. */
const FEW_PENDING = 10;
/** More than this many series are not written one by one while the program stops. */
const CLOSE_MAX_SERIES = 100;
/** Causes, of each namespace, that are not logged again: namespaces come and go for as long as the program runs. */
const REMEMBERED_COMPLAINTS = 1_000;
/** What Events are about that are of no single object: the namespace that each cluster has. */
export const kubeSystem: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } };

/**
 * Writes core/v1 Events as upstream's controllers do: about cluster-scoped objects in namespace `default`, a repeated note by
 * PATCH of count, time and message, 10 and more different messages of one reason as `(combined from similar events)`.
 *
 * **What is kept.** Notes wait as *series*, so that what repeats while it waits costs no write and no memory. client-go's spam
 * filter (25 Events an object, then one in 300 s) drops Normal notes; Warnings over it are counted and written once a minute. A Normal note
 * that repeats one on the server is counted there 30 s later.
 * Over 100 objects with one Normal reason (then one a second) are folded into one Event about `floodAbout`, which counts them and names
 * some. A Warning is written for each object, Warnings before Normal notes that have waited for less than 10 s, 50 a second; only when
 * 10,000 series wait, or the program stops with many, are Warnings folded in the same way, but for a few of each namespace; then repeats of
 * Normal notes are left. Namespaces take turns, one may fill half of what can wait, and each has a few Normal notes of a reason before they
 * are folded. A write that fails is tried again for an hour (Normal: 10 minutes);
 * one that is refused for good (403, 422, a namespace that is going) is logged once a cause and counted.
 *
 * Metrics: `outrigger_events_total{type,outcome}` with outcome `written` (each write), `folded`, `dropped`, `rejected`,
 * `expired`, and `workqueue_*{name="events-<component>"}`.
 */
export function createEventRecorder(options: EventRecorderOptions): RunningEventRecorder {
  return new Recorder(options);
}

class Recorder implements RunningEventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #logger: Logger;
  readonly #events: ResourceClient<CoreEvent>;
  readonly #correlator: EventCorrelator;
  readonly #queue: WorkQueue<string>;
  readonly #pace: RateLimiter<string>;
  readonly #total: Counter;
  /** Series with something that the server does not know. */
  readonly #pending = new Map<string, EventSeries>();
  /** How many of them are of each namespace. */
  readonly #pendingOf = new Map<string, number>();
  readonly #complained = new RecentMap<string, true>(REMEMBERED_COMPLAINTS);
  readonly #stop = new AbortController();
  readonly #writers: Promise<unknown>;
  #notBefore = 0;
  #promotedAt: number;
  #names = 0;
  #closing: Promise<void> | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(options: EventRecorderOptions) {
    const { client, clock, metrics, random, writesPerSecond = 50 } = options;
    this.#options = options;
    this.#logger = options.logger.with({ component: options.component });
    this.#promotedAt = clock.monotonic();
    this.#events = client.of(resources.coreEvents);
    this.#correlator = new EventCorrelator(clock, options.floodAbout ?? kubeSystem);
    const rateLimiter = exponentialBackoff<string>({ ...BACKOFF, jitter: 0.5, random });
    const groupOf = (key: string): string => this.#pending.get(key)?.about.namespace ?? '';
    this.#queue = createWorkQueue({ name: `events-${options.component}`, clock, metrics, rateLimiter, groupOf });
    this.#pace = tokenBucket({ qps: writesPerSecond, burst: writesPerSecond * 2, clock });
    this.#total = metrics.counter({
      name: 'outrigger_events_total',
      help: 'Events by what became of them: written, folded, dropped, rejected, expired.',
      labels: ['type', 'outcome'],
    });
    this.#writers = Promise.all(Array.from({ length: WRITERS }, () => this.#work()));
  }

  record(about: KubeObject, given: EventNote): void {
    let note: EventNote = { ...given, message: '' };
    try {
      note = { ...given, message: this.#options.redact?.(given.message) ?? given.message };
      if (this.#closing) return this.#lose(note, 'dropped', 'the recorder is closed');
      if (!about.kind)
        this.#complain(`kind/${note.reason}`, 'Event about an object without kind', { reason: note.reason });
      const verdict = this.#correlator.correlate(about, note, this.#isFull(about.metadata?.namespace));
      if (verdict.outcome === 'dropped') return this.#lose(note, 'dropped', 'too many Events about this object');
      if (verdict.outcome === 'folded') {
        this.#total.inc({ type: note.type, outcome: 'folded' });
        this.#logger.verbose(2, 'Event folded', { name: about.metadata?.name, ...note });
      }
      this.#enqueue(verdict.series, verdict.afterMs);
    } catch (error) {
      this.#logger.error('Could not record an Event', { error, reason: note.reason });
    }
  }

  /** However much waits of others, a namespace has its few, and what is of no namespace has room of its own. */
  #isFull(namespace = ''): boolean {
    const { maxPending = 10_000 } = this.#options;
    const waiting = this.#pendingOf.get(namespace) ?? 0;
    if (namespace === '') return waiting >= maxPending;
    const free = maxPending - this.#pending.size + (this.#pendingOf.get('') ?? 0);
    return waiting >= Math.max(FEW_PENDING, free);
  }

  close(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.timeoutMs ?? 5_000);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    if (this.#pending.size > CLOSE_MAX_SERIES) {
      // Each namespace keeps its few: it cannot read what they would be folded into.
      const few = Math.max(1, Math.min(FEW_PENDING, Math.floor(CLOSE_MAX_SERIES / this.#pendingOf.size)));
      const kept = new Map<string, number>();
      // Those that the server cannot know of yet, and what it need not be told; copied, because folding adds to what is pending.
      for (const series of Array.from(this.#pending.values())) {
        const isRepeat = series.type === 'Normal' && series.name !== undefined;
        if (series.examples || (series.draft !== undefined && !isRepeat)) continue;
        const { namespace = '' } = series.about;
        const before = kept.get(namespace) ?? 0;
        if (series.type === 'Warning' && namespace !== '' && before < few) {
          kept.set(namespace, before + 1);
          continue;
        }
        this.#pending.delete(series.key);
        if (isRepeat) {
          // The server has the Event, if not this count of it.
          this.#total.inc({ type: series.type, outcome: 'expired' });
          continue;
        }
        this.#total.inc({ type: series.type, outcome: 'folded' }, series.count);
        const flood = this.#correlator.fold(series);
        this.#pending.set(flood.key, flood);
      }
    }
    for (const series of this.#pending.values()) this.#enqueue(series, 0);
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(timeoutMs, resolve);
      this.#onEmpty = () => {
        timer.cancel();
        resolve();
      };
      if (this.#pending.size === 0) this.#onEmpty();
    });
    if (this.#pending.size > 0) {
      this.#logger.warn('Stopped before all Events were written', {
        series: this.#pending.size,
        waited: `${timeoutMs}ms`,
      });
    }
    for (const series of this.#pending.values()) this.#total.inc({ type: series.type, outcome: 'expired' });
    this.#pending.clear();
    this.#stop.abort(new DOMException('the event recorder is closed', 'AbortError'));
    this.#queue.shutDown();
    await this.#writers;
  }

  #enqueue(series: EventSeries, afterMs: number): void {
    if (!this.#pending.has(series.key)) this.#count(series, 1);
    this.#pending.set(series.key, series);
    this.#queue.add(series.key, { priority: PRIORITY[series.type], ...(afterMs > 0 && { delayMs: afterMs }) });
  }

  #count({ about: { namespace = '' } }: EventSeries, more: 1 | -1): void {
    const count = (this.#pendingOf.get(namespace) ?? 0) + more;
    if (count > 0) this.#pendingOf.set(namespace, count);
    else this.#pendingOf.delete(namespace);
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      this.#promote();
      const key = await this.#queue.get(signal);
      if (key === undefined) return;
      try {
        const paceMs = Math.max(this.#closing ? 0 : this.#pace.delayMs(key), this.#notBefore - clock.monotonic());
        if (paceMs > 0) await clock.sleep(paceMs, signal);
        // Asked for only now: it may have been folded.
        const series = this.#pending.get(key);
        if (series) await this.#write(series);
      } catch (error) {
        if (signal.aborted) return;
        this.#logger.error('Could not write an Event', { error });
      } finally {
        this.#queue.done(key);
      }
    }
  }

  #promote(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#promotedAt < PROMOTION_MS) return;
    this.#promotedAt = now;
    for (const { key, type } of this.#pending.values()) {
      if (type === 'Normal' && this.#queue.dueInMs(key) === 0) this.#queue.add(key, { priority: PRIORITY.Warning });
    }
  }

  async #write(series: EventSeries): Promise<void> {
    const { count } = series;
    try {
      await this.#send(series);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(series, error);
      return;
    }
    this.#total.inc({ type: series.type, outcome: 'written' });
    series.failingSince = undefined;
    this.#queue.forget(series.key);
    // Counted up meanwhile: whoever did that has queued it again.
    if (series.count === count) this.#settle(series);
  }

  async #send(series: EventSeries): Promise<void> {
    const call = { signal: this.#stop.signal, timeoutMs: WRITE_TIMEOUT_MS };
    const namespace = series.about.namespace ?? 'default';
    if (series.name === undefined) {
      series.draft ??= eventName(series, this.#names++);
      const event = eventOf(series, series.draft, { ...this.#options, namespace });
      try {
        await this.#events.create(event, { ...call, namespace });
        series.name = series.draft;
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        // Made by an earlier try whose answer was lost.
        series.name = series.draft;
      }
    }
    try {
      const ref = { name: series.name, namespace };
      await this.#events.patch(ref, { type: 'merge', body: eventPatch(series) }, { ...call, answer: 'metadata' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The server has forgotten it: it starts anew, as one that was never written.
      series.name = undefined;
      series.draft = undefined;
      await this.#send(series);
    }
  }

  #failed(series: EventSeries, error: unknown): void {
    const now = this.#options.clock.monotonic();
    series.failingSince ??= now;
    const cause = isPermanent(error);
    if (cause !== undefined) {
      this.#complain(`${cause}/${series.about.namespace}`, 'Event refused; more of this kind are not logged', {
        error,
        reason: series.reason,
      });
      return this.#giveUp(series, 'rejected');
    }
    if (now - series.failingSince > PATIENCE_MS[series.type]) {
      this.#logger.warn('Event given up', { error, reason: series.reason, message: series.message });
      return this.#giveUp(series, 'expired');
    }
    this.#logger.verbose(2, 'Could not write an Event; will be tried again', { error });
    const retryAfterMs = retryAfterOf(error);
    if (retryAfterMs !== undefined) {
      // A load balancer under maintenance may ask for a day.
      this.#notBefore = Math.max(this.#notBefore, now + Math.min(retryAfterMs, BACKOFF.maxMs));
    }
    this.#queue.addRateLimited(series.key, { priority: PRIORITY[series.type] });
  }

  #giveUp(series: EventSeries, outcome: 'rejected' | 'expired'): void {
    this.#total.inc({ type: series.type, outcome });
    series.failingSince = undefined;
    this.#queue.forget(series.key);
    this.#settle(series);
  }

  #settle(series: EventSeries): void {
    if (this.#pending.delete(series.key)) this.#count(series, -1);
    series.message = '';
    if (this.#pending.size === 0) this.#onEmpty?.();
  }

  #lose(note: EventNote, outcome: 'dropped', why: string): void {
    this.#total.inc({ type: note.type, outcome });
    this.#logger.verbose(2, 'Event not written', { why, ...note });
  }

  #complain(id: string, message: string, fields: Readonly<Record<string, unknown>>): void {
    if (this.#complained.get(id)) return;
    this.#complained.set(id, true);
    this.#logger.error(message, fields);
  }
}
