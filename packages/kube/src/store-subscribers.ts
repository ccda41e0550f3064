/** Hands changes to those who subscribed: in order, in slices, and to each in spite of the others. */
import type { Clock } from './clock.ts';
import { sameHolder } from './internal/loop-holders.ts';
import type { KubeObject, ObjectKey } from './kube-object.ts';
import type { LogFields } from './logger.ts';
import type { ResourceEvent, ResourceEventHandler } from './store.ts';
import { TimeSlice } from './time-slice.ts';

interface Subscriber<T> {
  readonly handler: ResourceEventHandler<T>;
  /** As who has subscribed: what a handler computes is laid to it, and to the object that it was told of last. */
  readonly run: (work: () => void, about: () => LogFields) => void;
  /** Batches not yet handed over; the first from `position` on. */
  readonly backlog: (readonly ResourceEvent<T>[])[];
  position: number;
  /** What was handed over last. */
  last: ObjectKey | undefined;
  stopped: boolean;
}

export interface StoreSubscribersOptions {
  readonly clock: Clock;
  /** For the log: `services`. */
  readonly resource?: string | undefined;
  /** Told what a handler throws; the others go on. */
  readonly onHandlerError: (error: unknown) => void;
}

export class StoreSubscribers<T extends KubeObject> {
  readonly #options: StoreSubscribersOptions;
  readonly #subscribers = new Set<Subscriber<T>>();
  #draining: Promise<void> | undefined;

  constructor(options: StoreSubscribersOptions) {
    this.#options = options;
  }

  /** The first slice of `first` is handed over before this returns, which for a usual kind is all of it. */
  add(handler: ResourceEventHandler<T>, first: readonly ResourceEvent<T>[]): () => void {
    const run = sameHolder();
    const subscriber: Subscriber<T> = { handler, run, backlog: [], position: 0, last: undefined, stopped: false };
    this.#subscribers.add(subscriber);
    if (first.length > 0) subscriber.backlog.push(first);
    this.#work(subscriber, new TimeSlice(this.#options.clock));
    this.#drainLater();
    return () => {
      subscriber.stopped = true;
      this.#subscribers.delete(subscriber);
    };
  }

  /** Queues the changes for all who are subscribed now. */
  publish(changes: readonly ResourceEvent<T>[]): void {
    if (changes.length === 0) return;
    const slice = new TimeSlice(this.#options.clock);
    for (const subscriber of this.#subscribers) subscriber.backlog.push(changes);
    for (const subscriber of this.#subscribers) this.#work(subscriber, slice);
    this.#drainLater();
  }

  /** Resolves when everything is handed over; `undefined` when it is so already. */
  get drained(): Promise<void> | undefined {
    return this.#draining;
  }

  #drainLater(): void {
    if (this.#draining || !this.#busy()) return;
    this.#draining = this.#drain().finally(() => {
      this.#draining = undefined;
    });
  }

  #busy(): boolean {
    for (const subscriber of this.#subscribers) if (subscriber.backlog.length > 0) return true;
    return false;
  }

  async #drain(): Promise<void> {
    const slice = new TimeSlice(this.#options.clock);
    while (this.#busy()) {
      await slice.giveWay();
      for (const subscriber of this.#subscribers) this.#work(subscriber, slice);
    }
  }

  #work(subscriber: Subscriber<T>, slice: TimeSlice): void {
    if (subscriber.backlog.length === 0) return;
    const { resource } = this.#options;
    // No slice goes on behind the change that has held it up.
    subscriber.run(
      () => this.#handOver(subscriber, slice),
      () => ({ resource, key: subscriber.last }),
    );
  }

  /** Hands over until nothing is left or the slice is spent. A handler may subscribe, unsubscribe or publish meanwhile. */
  #handOver(subscriber: Subscriber<T>, slice: TimeSlice): void {
    for (let batch = subscriber.backlog[0]; batch && !subscriber.stopped; batch = subscriber.backlog[0]) {
      const change = batch[subscriber.position];
      if (change === undefined) {
        subscriber.backlog.shift();
        subscriber.position = 0;
        continue;
      }
      if (slice.spent) return;
      subscriber.position++;
      subscriber.last = change.key;
      try {
        subscriber.handler(change);
      } catch (error) {
        this.#options.onHandlerError(error);
      }
    }
  }
}
