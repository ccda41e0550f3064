/** A store that keeps itself up to date: `openStore` for one, `Stores` for all that a program needs. */
import type { Client, Selectors } from './client.ts';
import type { Clock } from './clock.ts';
import type { KubeObject } from './kube-object.ts';
import { isNotLeaderError } from './leadership.ts';
import type { Logger } from './logger.ts';
import type { Counter, Gauge, Metrics } from './metrics.ts';
import { ObjectStore } from './object-store.ts';
import { apiVersionOf, type Resource } from './resource.ts';
import { isStatusError } from './status-error.ts';
import type { Indexers } from './store-contents.ts';
import type { Indexer } from './store.ts';
import { systemRandom } from './system-random.ts';
import { TimeSlice } from './time-slice.ts';
import type { Transform } from './transform.ts';
import { WatchListMemory } from './watch-list-memory.ts';
import { reflector, type ReflectorFailure } from './reflector.ts';

/** What all stores of a program share. */
export interface StoreEnvironment {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Numbers in [0, 1), for jitter. Default: `systemRandom`. */
  readonly random?: () => number;
}

/** Which part of a kind is kept, and how. */
export interface StoreOptions<T extends KubeObject> {
  /** Default: everything. */
  readonly selectors?: Selectors;
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** Default: `defaultTransform` of the resource. */
  readonly transform?: Transform<T>;
  /** Name of the index → the values that an object has in it. */
  readonly indexers?: Indexers<T>;
  /** Where pages are used. Default: 500. */
  readonly pageSize?: number;
}

export interface OpenStoreOptions<T extends KubeObject> extends StoreEnvironment, StoreOptions<T> {
  readonly resource: Resource<T>;
  /** Share one among the stores of a server. */
  readonly watchList?: WatchListMemory;
}

/** After a transform or an index function threw. */
const DEFECT_RETRY_MS = 30_000;

interface StoreMetrics {
  readonly objects: Gauge;
  readonly lists: Counter;
  readonly errors: Counter;
}

function createMetrics(metrics: Metrics): StoreMetrics {
  return {
    objects: metrics.gauge({
      name: 'outrigger_store_objects',
      help: 'Objects in the local copy.',
      labels: ['resource'],
    }),
    lists: metrics.counter({
      name: 'outrigger_store_lists_total',
      help: 'Full lists stored in the cache; every one after the first is a relist.',
      labels: ['resource'],
    }),
    errors: metrics.counter({
      name: 'outrigger_watch_errors_total',
      help: 'Errors of lists and watches, by what was being done and what is done about it.',
      labels: ['resource', 'phase', 'remedy'],
    }),
  };
}

class RunningStore<T extends KubeObject> extends ObjectStore<T> implements AsyncDisposable {
  readonly #abort = new AbortController();
  readonly #done: Promise<void>;

  constructor(options: OpenStoreOptions<T>) {
    const { resource, indexers, clock } = options;
    const name = resource.plural;
    const logger = options.logger.with({ resource: name });
    super({
      clock,
      resource: name,
      indexers,
      onHandlerError: (error) => logger.error('An event handler of a store threw; the others go on', { error }),
    });
    this.#done = this.#run(options, name, logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort(new DOMException('the store was closed', 'AbortError'));
    await this.#done;
  }

  async #run(options: OpenStoreOptions<T>, name: string, logger: Logger): Promise<void> {
    const { signal } = this.#abort;
    const metrics = createMetrics(options.metrics);
    while (!signal.aborted) {
      try {
        await this.#follow(options, name, logger, metrics);
      } catch (error) {
        // Only a transform or an index function gets here: a defect of the program. The content is stale until it is mended.
        logger.error('Cache is not updated: a transform or index function failed', {
          error,
          retryIn: `${DEFECT_RETRY_MS}ms`,
        });
        await options.clock.sleep(DEFECT_RETRY_MS, signal).catch(() => {});
      }
    }
    this.abandon(signal.reason);
  }

  async #follow(options: OpenStoreOptions<T>, name: string, logger: Logger, metrics: StoreMetrics): Promise<void> {
    const { resource, clock, selectors, namespace, transform, pageSize } = options;
    const events = reflector(options.client.of(resource), {
      clock,
      random: options.random ?? systemRandom,
      signal: this.#abort.signal,
      watchList: options.watchList ?? new WatchListMemory(),
      ...selectors,
      ...(namespace && { namespace }),
      ...(transform && { transform }),
      ...(pageSize && { pageSize }),
      onError: (failure) => {
        metrics.errors.inc({ resource: name, phase: failure.phase, remedy: failure.remedy });
        report(logger, failure);
      },
    });
    const slice = new TimeSlice(clock);
    for await (const event of events) {
      // A closed store tells nobody anything.
      if (this.#abort.signal.aborted) return;
      const told = this.take(event);
      if (told) await told;
      if (event.type === 'init-done') metrics.lists.inc({ resource: name });
      if (event.type !== 'init' && event.type !== 'init-apply') metrics.objects.set(this.size, { resource: name });
      // A stream that is all there never lets go of the event loop by itself.
      if (slice.spent) await slice.giveWay();
    }
  }
}

function report(logger: Logger, { error, phase, remedy, delayMs }: ReflectorFailure): void {
  const fields = { phase, remedy, retryIn: `${Math.round(delayMs)}ms`, error };
  const routine =
    remedy === 'no-initial-stream' ||
    // The leader election has told it, once for all stores.
    isNotLeaderError(error) ||
    (isStatusError(error) && (error.code === 410 || error.code === 429));
  if (routine) logger.verbose(2, 'A list or watch could not go on as it was', fields);
  else logger.warn('A list or watch failed and is tried again', fields);
}

/** Begins to list and watch at once. Errors are logged, counted and dealt with; closing ends the watch. */
export function openStore<T extends KubeObject>(options: OpenStoreOptions<T>): Indexer<T> & AsyncDisposable {
  return new RunningStore(options);
}

/** The stores of a program: however many ask for a kind, it is watched once. Closing closes all. */
export class Stores implements AsyncDisposable {
  readonly #environment: StoreEnvironment;
  readonly #watchList = new WatchListMemory();
  readonly #stores = new Map<string, { readonly store: RunningStore<KubeObject>; readonly transform: unknown }>();
  #closed = false;

  constructor(environment: StoreEnvironment) {
    this.#environment = environment;
  }

  /**
   * The store of this part of the kind; opened if it is not yet. Indexes are added to those that are there.
   * Throws when it is open with another transform, and after closing.
   */
  open<T extends KubeObject>(resource: Resource<T>, options: StoreOptions<T> = {}): Indexer<T> {
    if (this.#closed) throw new Error(`stores are closed; ${resource.plural} cannot be opened`);
    const { selectors = {}, namespace = '', transform, indexers } = options;
    const { labelSelector = '', fieldSelector = '' } = selectors;
    const id = [apiVersionOf(resource), resource.plural, resource.answer, namespace, labelSelector, fieldSelector].join(
      '\n',
    );
    const existing = this.#stores.get(id);
    if (!existing) {
      const store = new RunningStore<T>({ ...this.#environment, ...options, resource, watchList: this.#watchList });
      this.#stores.set(id, { store: store as unknown as RunningStore<KubeObject>, transform });
      return store;
    }
    if (existing.transform !== transform)
      throw new Error(`${resource.plural} are stored with another transform already`);
    const store = existing.store as unknown as RunningStore<T>;
    if (indexers) store.addIndexers(indexers);
    return store;
  }

  /** Resolves when all that are open now have their first list. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#stores.values(), ({ store }) => store.whenSynced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(Array.from(this.#stores.values(), ({ store }) => store[Symbol.asyncDispose]()));
  }
}
