/**
 * What etcd and the watch cache are to a real API server: objects by kind and key, one revision counter for all of them, and
 * a window of past events from which watches and consistent pages are served.
 *
 * Objects are kept as the bytes they are sent as. Parsed, a node of 10 KB costs several times that, and most reads
 * only copy bytes to a socket. What selectors need is kept beside the bytes.
 */
import { keyOf } from '@outrigger/kube';
import type { NamedObject } from './api-object.ts';
import type { Kind } from './kinds.ts';
import { expired } from './status-error.ts';

/** One version of one object. Never changed once made. */
export interface StoredObject {
  readonly kind: Kind;
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly revision: number;
  /** JSON, beginning with `kind` and `apiVersion`. */
  readonly bytes: Buffer;
  readonly labels: Readonly<Record<string, string>>;
  /** What field selectors can ask for. */
  readonly fields: Readonly<Record<string, string>>;
}

/** One write. Its revision is one more than that of the write before. */
export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** For `DELETED`: the last state, with the revision of the deletion, as the real server sends it. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
}

interface Bucket {
  readonly objects: Map<string, StoredObject>;
  /** Keys in etcd's order; undefined after a key came or went. */
  sortedKeys: readonly string[] | undefined;
}

/** The object of a stored version, parsed anew: the caller may change it. */
export function parseStored(stored: StoredObject): NamedObject {
  return JSON.parse(stored.bytes.toString('utf8')) as NamedObject;
}

export class ObjectStorage {
  readonly #buckets = new Map<string, Bucket>();
  readonly #window: number;
  readonly #listeners = new Set<() => void>();
  /** Events of revisions `#compacted + 1` to `#revision`, from index `#offset` on. */
  #history: StoredEvent[] = [];
  #offset = 0;
  /** etcd begins at 1. */
  #revision = 1;
  #compacted = 1;

  /** `window`: how many past events are kept. */
  constructor(window: number) {
    this.#window = window;
  }

  /** Revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** Watches and exact lists can begin at this revision or later. */
  get oldestRevision(): number {
    return this.#compacted;
  }

  /** Calls `listener` after each write. Returns the way to stop that. */
  onWrite(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(kind: Kind, key: string): StoredObject | undefined {
    return this.#buckets.get(kind.storage)?.objects.get(key);
  }

  /** How many objects of a kind there are. */
  count(kind: Kind): number {
    return this.#buckets.get(kind.storage)?.objects.size ?? 0;
  }

  /**
   * Writes `object` and sets its `metadata.resourceVersion`. The kind's `kind` and `apiVersion` are put first.
   */
  put(kind: Kind, object: NamedObject): StoredObject {
    const bucket = this.#bucket(kind);
    const key = keyOf({ name: object.metadata.name ?? '', namespace: object.metadata.namespace });
    const previous = bucket.objects.get(key);
    const revision = ++this.#revision;
    const stored = encode(kind, key, object, revision);
    bucket.objects.set(key, stored);
    if (!previous) bucket.sortedKeys = undefined;
    this.#record({ type: previous ? 'MODIFIED' : 'ADDED', revision, object: stored, previous });
    return stored;
  }

  /** Removes an object, whose last state is `last` when it changes with the removal. Returns that state, or undefined when there was none. */
  remove(kind: Kind, key: string, last?: NamedObject): StoredObject | undefined {
    const bucket = this.#bucket(kind);
    const previous = bucket.objects.get(key);
    if (!previous) return undefined;
    const revision = ++this.#revision;
    const object = encode(kind, key, last ?? parseStored(previous), revision);
    bucket.objects.delete(key);
    bucket.sortedKeys = undefined;
    this.#record({ type: 'DELETED', revision, object, previous });
    return object;
  }

  /** The event with this revision. It must be in the window. */
  eventAt(revision: number): StoredEvent | undefined {
    return this.#history[this.#offset + revision - this.#compacted - 1];
  }

  /** All objects of a kind, in the order of their keys. */
  list(kind: Kind): readonly StoredObject[] {
    const { objects, sortedKeys } = this.#sorted(kind);
    return sortedKeys.map((key) => objects.get(key)).filter((object) => object !== undefined);
  }

  /** The objects of a kind as they were at `revision`. Throws 410 when that is out of the window. */
  listAt(kind: Kind, revision: number): readonly StoredObject[] {
    if (revision === this.#revision) return this.list(kind);
    if (revision < this.#compacted) {
      throw expired(
        'The provided resource version is too old: the requested revision has been compacted. List again without it.',
      );
    }
    // Undo what came after, from the newest back: what remains noted for a key is its state at `revision`.
    const then = new Map<string, StoredObject | undefined>();
    for (let r = this.#revision; r > revision; r--) {
      const event = this.eventAt(r);
      if (event?.object.kind.storage === kind.storage) then.set(event.object.key, event.previous);
    }
    const { objects } = this.#bucket(kind);
    const keys = new Set([...objects.keys(), ...then.keys()]);
    return [...keys]
      .sort()
      .map((key) => (then.has(key) ? then.get(key) : objects.get(key)))
      .filter((object) => object !== undefined);
  }

  /** Forgets the events up to `revision`: watches and continue tokens from before it get 410. */
  compact(revision: number = this.#revision): void {
    const upTo = Math.min(revision, this.#revision);
    if (upTo <= this.#compacted) return;
    this.#history = this.#history.slice(this.#offset + upTo - this.#compacted);
    this.#offset = 0;
    this.#compacted = upTo;
  }

  #record(event: StoredEvent): void {
    this.#history.push(event);
    if (this.#revision - this.#compacted > this.#window) {
      // The slot is emptied at once, the array is cut now and then: shifting it each time would cost O(window).
      (this.#history as (StoredEvent | undefined)[])[this.#offset] = undefined;
      this.#offset++;
      this.#compacted++;
      if (this.#offset > this.#window) {
        this.#history = this.#history.slice(this.#offset);
        this.#offset = 0;
      }
    }
    for (const listener of this.#listeners) listener();
  }

  #bucket(kind: Kind): Bucket {
    let bucket = this.#buckets.get(kind.storage);
    if (!bucket) {
      bucket = { objects: new Map(), sortedKeys: undefined };
      this.#buckets.set(kind.storage, bucket);
    }
    return bucket;
  }

  #sorted(kind: Kind): { objects: Map<string, StoredObject>; sortedKeys: readonly string[] } {
    const bucket = this.#bucket(kind);
    bucket.sortedKeys ??= [...bucket.objects.keys()].sort();
    return { objects: bucket.objects, sortedKeys: bucket.sortedKeys };
  }
}

/**
 * Bytes in memory of their own. `Buffer.from` cuts small buffers out of shared slabs, and an object that lives long in a
 * slab would keep all the short-lived neighbours: twice the memory at 5,000 nodes.
 */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function encode(kind: Kind, key: string, object: NamedObject, revision: number): StoredObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const labels = metadata.labels ?? {};
  const fields = kind.fieldsOf(object);
  const encoded = {
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: { ...metadata, resourceVersion: String(revision) },
    ...rest,
  };
  return {
    kind,
    key,
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    revision,
    bytes: ownBytes(JSON.stringify(encoded)),
    labels: { ...labels },
    fields,
  };
}
