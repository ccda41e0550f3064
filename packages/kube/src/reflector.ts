/**
 * `reflector()`: everything that happens to the objects of a kind, for ever, across whatever breaks on the way.
 *
 *     empty ──▶ initial-stream ──▶ watching ──▶ (broken) resume from the last resourceVersion
 *       ▲  └──▶ pages ─────────────▲   │
 *       └───────── relist ─────────────┘
 *
 * The initial stream (KEP-3157, WatchList) becomes the watch itself; pages are the way where the server has none.
 * kube-rs' `kube-runtime/src/watcher.rs` is the model.
 */
import { onAbort } from './abort.ts';
import type { ResourceClient, Selectors, WatchEvent } from './client.ts';
import type { Clock } from './clock.ts';
import type { KubeObject } from './kube-object.ts';
import { isExpired, isStatusError } from './status-error.ts';
import { defaultTransform, type Transform } from './transform.ts';
import { WatchBackoff } from './watch-backoff.ts';
import {
  InitialStreamError,
  NoResourceVersionError,
  remedyFor,
  SilentWatchError,
  StaleListError,
  type Remedy,
  type WatchPhase,
} from './watch-failure.ts';
import type { WatchListMemory } from './watch-list-memory.ts';

/** What a reflector says. */
export type ReflectorEvent<T> =
  /** A list begins. What came of a list before, without its `init-done`, is void. */
  | { readonly type: 'init' }
  /** An object of the list. */
  | { readonly type: 'init-apply'; readonly object: T }
  /** The list is complete: what was not in it is gone. */
  | { readonly type: 'init-done' }
  /** Created or changed. */
  | { readonly type: 'apply'; readonly object: T }
  /** Deleted; the object as it was last. Within a list, it is no longer part of it. */
  | { readonly type: 'delete'; readonly object: T };

/** An error that the reflector deals with by itself. */
export interface ReflectorFailure {
  readonly error: unknown;
  readonly phase: WatchPhase;
  readonly remedy: Remedy;
  /** Until the next try, in milliseconds. */
  readonly delayMs: number;
}

export interface ReflectorOptions<T extends KubeObject> extends Selectors {
  readonly clock: Clock;
  /** Numbers in [0, 1), for jitter. */
  readonly random: () => number;
  /** Ends the reflector: the generator returns. */
  readonly signal?: AbortSignal | undefined;
  /** Only this namespace. Default: all. */
  readonly namespace?: string;
  /** Applied to each object before it is yielded. Default: `defaultTransform` of the resource. */
  readonly transform?: Transform<T>;
  /** Objects in a page, where pages are used. Default: 500. */
  readonly pageSize?: number;
  /** Whether the server has initial streams; share one among the reflectors of a server. */
  readonly watchList: WatchListMemory;
  /** Told of every error, none is thrown. Default: nobody is told. */
  readonly onError?: (failure: ReflectorFailure) => void;
}

const END_OF_INITIAL_EVENTS = 'k8s.io/initial-events-end';
/** The server ends a watch after 5 to 10 minutes, spread so that not all come back at once; client-go's numbers. */
const WATCH_SECONDS = 300;
/** A watch that is still there this long after its time-out is dead, whatever the connection says. */
const OVERTIME_MS = 30_000;
/** An initial stream that has begun and then says nothing for so long is none: real servers end it within 3 s or refuse. */
const INITIAL_SILENCE_MS = 10_000;
/** A watch that held this long was healthy. */
const HEALTHY_MS = 10_000;
/** Real servers send a bookmark about every minute. */
const SILENT_MS = 150_000;
/** A watch that ends at once is no time-out: it counts as an error, so that it is not opened again in a tight loop. */
const SHORT_MS = 1_000;
/** So many lists in a row that are older than what was seen are believed: the server was restored from a backup. */
const STALE_LISTS = 3;
/** Each expiry of a continue token makes the next pages so much longer, and after so many there is one page with everything. */
const PAGE_GROWTH = 4;
const LAST_GROWTH = 3;
/** Who is asked to wait for longer, comes back then all the same: a load balancer under maintenance may ask for a day. */
const LONGEST_WAIT_MS = 30_000;

/** Yields until `signal` aborts or the consumer returns. Takes an event from the server only when the consumer asks for one. */
export async function* reflector<T extends KubeObject>(
  client: ResourceClient<T>,
  options: ReflectorOptions<T>,
): AsyncGenerator<ReflectorEvent<T>, void, void> {
  const transform = options.transform ?? defaultTransform(client.resource);
  for await (const event of new ListAndWatch(client, options).run()) {
    yield 'object' in event ? { type: event.type, object: transform(event.object) } : event;
  }
}

/** Compares resourceVersions, which are decimal numbers of any length (KEP-5504); `false` when either is not one. */
function isOlder(a: string, b: string): boolean {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

/** The state machine behind it, as `ListAndWatch` of client-go's reflector. */
class ListAndWatch<T extends KubeObject> {
  readonly #client: ResourceClient<T>;
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: WatchBackoff;
  /** Another transform may want what the default one drops. */
  readonly #trimmed: boolean;
  #phase: WatchPhase | 'empty' = 'empty';
  /** Where the watch stands. Meaningful while `watching`. */
  #resourceVersion = '';
  /** The newest version ever seen; lists that are older are refused, a few times. */
  #newest = '';
  #staleLists = 0;
  #expiredPages = 0;
  #pagesOnce = false;
  /** Failures in a row, by what failed. */
  readonly #failures: Record<WatchPhase, number> = { 'initial-stream': 0, pages: 0, watching: 0 };

  constructor(client: ResourceClient<T>, options: ReflectorOptions<T>) {
    this.#client = client;
    this.#options = options;
    this.#backoff = new WatchBackoff(options.random);
    this.#trimmed = options.transform === undefined;
  }

  async *run(): AsyncGenerator<ReflectorEvent<T>, void, void> {
    while (!this.#stopped()) {
      const startedAt = this.#options.clock.monotonic();
      try {
        yield* this.#step();
      } catch (error) {
        if (this.#stopped()) return;
        if (this.#phase === 'watching' && this.#aliveFor(startedAt) >= HEALTHY_MS) this.#recovered();
        const delayMs = this.#recover(error);
        if (delayMs > 0) await this.#options.clock.sleep(delayMs, this.#options.signal).catch(() => {});
      }
    }
  }

  #stopped(): boolean {
    return this.#options.signal?.aborted ?? false;
  }

  /** A watch was open for long enough: what failed before is over. */
  #recovered(): void {
    this.#backoff.reset();
    this.#failures.watching = 0;
  }

  #aliveFor(since: number): number {
    return this.#options.clock.monotonic() - since;
  }

  /** Judges the error, tells of it, and moves to the state to go on from. Returns how long to wait first. */
  #recover(error: unknown): number {
    const phase = this.#phase === 'empty' ? 'pages' : this.#phase;
    const remedy = remedyFor(error, phase, ++this.#failures[phase]);
    if (phase === 'pages' && isExpired(error)) this.#expiredPages++;
    if (remedy === 'no-initial-stream') this.#options.watchList.fallBack(this.#options.clock.monotonic());
    this.#pagesOnce = remedy === 'relist-by-pages';
    if (remedy !== 'resume') this.#phase = 'empty';
    const asked = Math.min(isStatusError(error) ? (error.retryAfterMs ?? 0) : 0, LONGEST_WAIT_MS);
    // Falling back to pages is no trouble of the server's: no need to spare it.
    const planned = remedy === 'no-initial-stream' || remedy === 'relist-by-pages' ? 0 : this.#backoff.next();
    const delayMs = Math.max(asked, planned);
    this.#options.onError?.({ error, phase, remedy, delayMs });
    return delayMs;
  }

  #step(): AsyncGenerator<ReflectorEvent<T>, void, void> {
    if (this.#phase === 'empty') {
      const stream = !this.#pagesOnce && this.#options.watchList.mayHave(this.#options.clock.monotonic());
      this.#phase = stream ? 'initial-stream' : 'pages';
    }
    if (this.#phase === 'initial-stream') return this.#streamInitial();
    return this.#phase === 'pages' ? this.#listPages() : this.#watch();
  }

  async *#listPages(): AsyncGenerator<ReflectorEvent<T>, void, void> {
    const { signal, pageSize = 500 } = this.#options;
    // No resourceVersion: the newest. With `0` servers ignore the limit (kubernetes/kubernetes#118394).
    const limit = this.#expiredPages > LAST_GROWTH ? 0 : pageSize * PAGE_GROWTH ** this.#expiredPages;
    let resourceVersion: string | undefined;
    for await (const page of this.#client.pages({ ...this.#scope(), signal, limit, trimmed: this.#trimmed })) {
      if (resourceVersion === undefined) {
        this.#admit(page.resourceVersion);
        yield { type: 'init' };
      }
      // All pages are of the first one's version.
      resourceVersion ??= page.resourceVersion;
      for (const object of page.items) yield { type: 'init-apply', object };
    }
    if (resourceVersion === undefined) throw new NoResourceVersionError(`list of ${this.#name()}: no page`);
    this.#expiredPages = 0;
    this.#startWatchingFrom(resourceVersion);
    yield { type: 'init-done' };
  }

  async *#streamInitial(): AsyncGenerator<ReflectorEvent<T>, void, void> {
    const startedAt = this.#options.clock.monotonic();
    let begun = false;
    const stream = this.#open({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
    try {
      for (;;) {
        const event = await stream.next(INITIAL_SILENCE_MS);
        if (event === undefined) {
          const name = this.#name();
          throw new InitialStreamError('watch-list-incomplete', `watch of ${name}: closed before all objects had come`);
        }
        if (event.type === 'BOOKMARK') this.#takeEnd(event);
        if (!begun) yield { type: 'init' };
        begun = true;
        if (event.type === 'BOOKMARK') break;
        // The resourceVersion of these is that of the object, which says nothing of where the stream stands.
        const type = event.type === 'DELETED' ? 'delete' : 'init-apply';
        yield { type, object: event.object };
      }
      yield { type: 'init-done' };
      yield* this.#follow(stream, startedAt);
    } finally {
      await stream.close();
    }
  }

  /** The bookmark that ends the initial events: the watch stands at its version. */
  #takeEnd(bookmark: Extract<WatchEvent<T>, { type: 'BOOKMARK' }>): void {
    const { annotations, resourceVersion = '' } = bookmark.object.metadata;
    if (annotations?.[END_OF_INITIAL_EVENTS] !== 'true') {
      // A server that knows of initial events holds other bookmarks back until they have ended.
      throw new InitialStreamError(
        'watch-list-ignored',
        `watch of ${this.#name()}: the server ignores sendInitialEvents`,
      );
    }
    this.#admit(resourceVersion);
    this.#startWatchingFrom(resourceVersion);
  }

  async *#watch(): AsyncGenerator<ReflectorEvent<T>, void, void> {
    const startedAt = this.#options.clock.monotonic();
    const stream = this.#open({ resourceVersion: this.#resourceVersion });
    try {
      yield* this.#follow(stream, startedAt);
    } finally {
      await stream.close();
    }
  }

  /** Events until the server closes the stream, which it does in good order. */
  async *#follow(stream: OpenWatch<T>, startedAt: number): AsyncGenerator<ReflectorEvent<T>, void, void> {
    let events = 0;
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      events++;
      // Some servers send bookmarks without a version.
      const { resourceVersion } = event.object.metadata ?? {};
      // Moved before the event is handed on: should the consumer stop at it, nobody is left to ask for the next.
      if (resourceVersion) this.#resourceVersion = this.#newest = resourceVersion;
      if (event.type === 'BOOKMARK') continue;
      yield { type: event.type === 'DELETED' ? 'delete' : 'apply', object: event.object };
    }
    if (this.#stopped()) return;
    const lived = this.#aliveFor(startedAt);
    if (lived >= HEALTHY_MS) this.#recovered();
    if (events === 0 && lived >= SILENT_MS) {
      throw new SilentWatchError(
        `watch of ${this.#name()}: not one event or bookmark in ${Math.round(lived / 1000)} s`,
      );
    }
    if (lived < SHORT_MS) throw new Error(`watch of ${this.#name()}: closed by the server as soon as it was opened`);
  }

  /** Refuses a list that is older than what was seen, until it is the third in a row. */
  #admit(resourceVersion: string): void {
    if (resourceVersion === '' || resourceVersion === '0') {
      throw new NoResourceVersionError(`list of ${this.#name()}: it has no resourceVersion to watch from`);
    }
    if (isOlder(resourceVersion, this.#newest) && ++this.#staleLists < STALE_LISTS) {
      throw new StaleListError(
        `list of ${this.#name()}: it is of version ${resourceVersion}, but ${this.#newest} has been seen`,
      );
    }
    this.#staleLists = 0;
  }

  #startWatchingFrom(resourceVersion: string): void {
    this.#phase = 'watching';
    this.#pagesOnce = false;
    this.#failures['initial-stream'] = this.#failures.pages = this.#failures.watching = 0;
    this.#resourceVersion = resourceVersion;
    this.#newest = resourceVersion;
  }

  #scope(): Selectors & { readonly namespace?: string } {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return {
      ...(namespace && { namespace }),
      ...(labelSelector && { labelSelector }),
      ...(fieldSelector && { fieldSelector }),
    };
  }

  #open(how: Parameters<ResourceClient<T>['watch']>[0]): OpenWatch<T> {
    const timeoutSeconds = WATCH_SECONDS + Math.floor(this.#options.random() * (WATCH_SECONDS + 1));
    const timeoutMs = timeoutSeconds * 1000 + OVERTIME_MS;
    const ask = (signal: AbortSignal): AsyncIterable<WatchEvent<T>> =>
      this.#client.watch({ ...this.#scope(), ...how, timeoutSeconds, timeoutMs, signal, trimmed: this.#trimmed });
    return new OpenWatch(ask, this.#name(), this.#options);
  }

  #name(): string {
    return this.#client.resource.plural;
  }
}

/** A watch that is running, with a limit to how long an event may be waited for. */
class OpenWatch<T> {
  readonly #events: AsyncIterator<WatchEvent<T>>;
  readonly #abort = new AbortController();
  readonly #name: string;
  readonly #clock: Clock;
  readonly #forget: (() => void) | undefined;
  #begun = false;

  constructor(
    ask: (signal: AbortSignal) => AsyncIterable<WatchEvent<T>>,
    name: string,
    { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
  ) {
    this.#name = name;
    this.#clock = clock;
    if (signal?.aborted) this.#abort.abort(signal.reason);
    this.#forget = signal && onAbort(signal, () => this.#abort.abort(signal.reason));
    this.#events = ask(this.#abort.signal)[Symbol.asyncIterator]();
  }

  /**
   * The next event; `undefined` at the end. With `silenceMs`, an `InitialStreamError` when none came for so long. When none at all
   * has come, that says nothing of initial streams: a plugin, a queue or the way to the server was slow.
   */
  async next(silenceMs?: number): Promise<WatchEvent<T> | undefined> {
    if (silenceMs === undefined) return this.#take(await this.#events.next());
    let silent: InitialStreamError | undefined;
    const timer = this.#clock.setTimer(silenceMs, () => {
      silent = new InitialStreamError(
        this.#begun ? 'watch-list-ignored' : 'watch-list-incomplete',
        `watch of ${this.#name}: ${silenceMs} ms without an event, and the initial ones have not ended`,
      );
      this.#abort.abort(silent);
    });
    try {
      return this.#take(await this.#events.next());
    } catch (error) {
      throw silent ?? error;
    } finally {
      timer.cancel();
    }
  }

  async close(): Promise<void> {
    this.#forget?.();
    this.#abort.abort();
    await this.#events.return?.().then(
      () => {},
      () => {},
    );
  }

  #take(result: IteratorResult<WatchEvent<T>, unknown>): WatchEvent<T> | undefined {
    if (result.done) return undefined;
    this.#begun = true;
    return result.value;
  }
}
