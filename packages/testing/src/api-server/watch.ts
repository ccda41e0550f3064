/**
 * Watches. Each holds a place in the history of writes and sends from there as fast as its client reads: there is no
 * queue for a client, so a slow one costs no memory. One that falls out of the window is cut, as on the real server.
 */
import type { Clock, Timer } from '@outrigger/kube';
import { parseStored, type ObjectStorage, type StoredEvent, type StoredObject } from './object-storage.ts';
import type { Selection } from './list.ts';
import type { Encoder } from './representation.ts';
import { expired, type StatusError } from './status-error.ts';

/** Where a watch sends to. */
export interface WatchSink {
  /** False when the client should be given time: `onDrain` tells when it has read. */
  write(chunk: Buffer): boolean;
  onDrain(resume: () => void): void;
  /** Ends the answer properly. */
  end(): void;
  /** Cuts the connection or stream. */
  cut(): void;
}

export interface WatchRequest {
  readonly selection: Selection;
  readonly encoder: Encoder;
  readonly sink: WatchSink;
  /** Revision to go on from; undefined or 0: begin with what is there. */
  readonly from: number | undefined;
  /** WatchList: the initial objects end with a marked bookmark. */
  readonly sendInitialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

/** Bytes written in one turn of the loop for one watch, and for all: requests are answered between turns. */
const WATCH_TURN_BYTES = 262_144;
const TURN_BYTES = 1_048_576;
/** Events looked at in one turn for one watch, whether sent or not. */
const TURN_EVENTS = 2_048;
/** Frames of recent events are kept so that all watches of a kind send the same bytes. */
const CACHED_FRAMES = 512;

type Frame = { readonly revision: number; readonly bytes: Buffer };

/** All watches of one server. */
export class WatchHub {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #bookmarkIntervalMs: number;
  readonly #watches = new Set<Watch>();
  /** Watches that may have something to send, the longest waiting first. */
  readonly #waiting = new Set<Watch>();
  readonly #frames = new Map<string, Frame>();
  #scheduled = false;

  constructor(storage: ObjectStorage, clock: Clock, bookmarkIntervalMs: number) {
    this.#storage = storage;
    this.#clock = clock;
    this.#bookmarkIntervalMs = bookmarkIntervalMs;
    storage.onWrite(() => this.#wakeAll());
  }

  /** How many watches are open. */
  get size(): number {
    return this.#watches.size;
  }

  /** Serves one watch. The returned function is to be called when the client has gone. */
  open(request: WatchRequest): () => void {
    const watch = new Watch(request, this.#storage, this.#clock, this.#bookmarkIntervalMs, {
      frame: (key, revision, encode) => this.#frame(key, revision, encode),
      closed: () => {
        this.#watches.delete(watch);
        this.#waiting.delete(watch);
      },
      wake: () => this.#wake(watch),
    });
    this.#watches.add(watch);
    this.#wake(watch);
    return () => watch.close();
  }

  /** Cuts all watches off, without an end. */
  cutAll(): void {
    for (const watch of this.#watches) watch.cut();
  }

  #wakeAll(): void {
    for (const watch of this.#watches) this.#waiting.add(watch);
    this.#schedule();
  }

  #wake(watch: Watch): void {
    this.#waiting.add(watch);
    this.#schedule();
  }

  /** Many writes in one turn of the loop cost one round of the watches. */
  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      let sent = 0;
      const behind: Watch[] = [];
      for (const watch of this.#waiting) {
        if (sent >= TURN_BYTES) break;
        this.#waiting.delete(watch);
        const turn = watch.advance();
        sent += turn.sent;
        if (turn.more) behind.push(watch);
      }
      for (const watch of behind) this.#waiting.add(watch);
      this.#schedule();
    });
  }

  #frame(key: string, revision: number, encode: () => Buffer): Buffer {
    const id = `${revision} ${key}`;
    const known = this.#frames.get(id);
    if (known) return known.bytes;
    const bytes = encode();
    this.#frames.set(id, { revision, bytes });
    if (this.#frames.size > CACHED_FRAMES) {
      for (const oldest of this.#frames.keys()) {
        this.#frames.delete(oldest);
        break;
      }
    }
    return bytes;
  }
}

interface HubAccess {
  frame(key: string, revision: number, encode: () => Buffer): Buffer;
  closed(): void;
  readonly wake: () => void;
}

class Watch {
  readonly #request: WatchRequest;
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #hub: HubAccess;
  readonly #timers: Timer[] = [];
  readonly #bookmarkIntervalMs: number;
  /** Objects that the client has yet to be told of before events begin. */
  #initial: readonly StoredObject[] | undefined;
  #initialAt = 0;
  /** Revision up to which the client knows everything. */
  #cursor: number;
  #columnsSaid = false;
  #paused = false;
  #closed = false;

  constructor(request: WatchRequest, storage: ObjectStorage, clock: Clock, bookmarkIntervalMs: number, hub: HubAccess) {
    this.#request = request;
    this.#storage = storage;
    this.#clock = clock;
    this.#hub = hub;
    this.#bookmarkIntervalMs = bookmarkIntervalMs;
    this.#cursor = request.from ?? 0;
    if (request.sendInitialEvents || !this.#cursor) {
      this.#initial = storage.list(request.selection.kind).filter((object) => request.selection.matches(object));
      this.#cursor = storage.revision;
    }
    request.sink.onDrain(() => {
      this.#paused = false;
      hub.wake();
    });
    this.#timers.push(clock.setTimer(request.timeoutMs, () => this.#end(), { unref: true }));
    if (request.bookmarks) this.#scheduleBookmark();
  }

  /** Sends what it may in one turn. Returns how many bytes, and whether it has more to send at once. */
  advance(): { readonly sent: number; readonly more: boolean } {
    if (this.#closed || this.#paused) return { sent: 0, more: false };
    let budget = WATCH_TURN_BYTES;
    const chunks: Buffer[] = [];
    const { selection, encoder } = this.#request;
    if (this.#initial) {
      while (this.#initialAt < this.#initial.length && budget > 0) {
        const object = this.#initial[this.#initialAt++];
        if (!object) break;
        const frame = wrap('ADDED', encoder.object(object, this.#saysColumns()));
        chunks.push(frame);
        budget -= frame.length;
      }
      if (this.#initialAt >= this.#initial.length) {
        this.#initial = undefined;
        if (this.#request.sendInitialEvents && this.#request.bookmarks) {
          chunks.push(wrap('BOOKMARK', encoder.bookmark(this.#cursor, true)));
        }
      }
    }
    if (!this.#initial) {
      if (this.#cursor < this.#storage.oldestRevision) {
        this.#send(chunks);
        this.#fallBehind();
        return { sent: 0, more: false };
      }
      for (let looked = 0; this.#cursor < this.#storage.revision && budget > 0 && looked < TURN_EVENTS; looked++) {
        const event = this.#storage.eventAt(this.#cursor + 1);
        this.#cursor++;
        const frame = event && this.#frameOf(event, selection);
        if (!frame) continue;
        chunks.push(frame);
        budget -= frame.length;
      }
    }
    this.#send(chunks);
    const more = this.#initial !== undefined || this.#cursor < this.#storage.revision;
    return { sent: WATCH_TURN_BYTES - budget, more: more && !this.#paused && !this.#closed };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#hub.closed();
  }

  cut(): void {
    this.close();
    this.#request.sink.cut();
  }

  /** A selector makes three events of one: the object comes into view, changes in view, goes out of view. */
  #frameOf(event: StoredEvent, selection: Selection): Buffer | undefined {
    const { encoder } = this.#request;
    const shownBefore = event.previous !== undefined && selection.matches(event.previous);
    const shownNow = event.type !== 'DELETED' && selection.matches(event.object);
    if (!shownBefore && !shownNow) return undefined;
    const type = shownNow ? (shownBefore ? 'MODIFIED' : 'ADDED') : 'DELETED';
    const columns = this.#saysColumns();
    const encode = (): Buffer => {
      const object =
        shownNow || event.type === 'DELETED'
          ? event.object
          : atRevision(event.previous ?? event.object, event.revision);
      return wrap(type, encoder.object(object, columns));
    };
    // Few first frames of tables are alike, so these are not kept.
    if (columns) return encode();
    return this.#hub.frame(`${type} ${encoder.identity}`, event.revision, encode);
  }

  /** True for the first frame of a table. */
  #saysColumns(): boolean {
    if (this.#request.encoder.form !== 'table' || this.#columnsSaid) return false;
    this.#columnsSaid = true;
    return true;
  }

  #send(chunks: readonly Buffer[]): void {
    if (chunks.length === 0) return;
    const [only] = chunks;
    const bytes = chunks.length === 1 && only ? only : Buffer.concat(chunks);
    if (!this.#request.sink.write(bytes)) this.#paused = true;
  }

  #fallBehind(): void {
    const oldest = this.#storage.oldestRevision;
    this.#error(expired(`too old resource version: ${this.#cursor} (${oldest})`));
  }

  #error(error: StatusError): void {
    this.#send([wrap('ERROR', Buffer.from(JSON.stringify(error.toStatus())))]);
    this.close();
    this.#request.sink.end();
  }

  #scheduleBookmark(): void {
    const timer = this.#clock.setTimer(
      this.#bookmarkIntervalMs,
      () => {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        this.#bookmark();
        this.#scheduleBookmark();
      },
      { unref: true },
    );
    this.#timers.push(timer);
  }

  #bookmark(): void {
    if (this.#closed || this.#paused || this.#initial || this.#cursor < this.#storage.revision) return;
    this.#send([wrap('BOOKMARK', this.#request.encoder.bookmark(this.#cursor, false))]);
  }

  #end(): void {
    // The last word is how far the client has come, so that the next watch can begin there.
    if (this.#request.bookmarks) this.#bookmark();
    this.close();
    this.#request.sink.end();
  }
}

function atRevision(object: StoredObject, revision: number): StoredObject {
  const parsed = parseStored(object);
  parsed.metadata.resourceVersion = String(revision);
  return { ...object, revision, bytes: Buffer.from(JSON.stringify(parsed)) };
}

function wrap(type: string, object: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, END]);
}

const END = Buffer.from('}\n');
