/** The store: a fold over a reflector's events. `openStore` runs one; this is the part without a watch. */
import { raceAbort } from './abort.ts';
import { keyOfObject, type KubeObject, type ObjectKey } from './kube-object.ts';
import { StoreContents, type Indexers, type IndexFunc } from './store-contents.ts';
import { StoreSubscribers, type StoreSubscribersOptions } from './store-subscribers.ts';
import type { Indexer, ResourceEvent, ResourceEventHandler } from './store.ts';
import type { ReflectorEvent } from './reflector.ts';

export interface ObjectStoreOptions<T extends KubeObject> extends StoreSubscribersOptions {
  readonly indexers?: Indexers<T> | undefined;
}

/** Same object in the same state; then the one that is there stays, and nobody is told. */
function isSame(a: KubeObject, b: KubeObject): boolean {
  const { uid, resourceVersion } = a.metadata ?? {};
  return resourceVersion !== undefined && resourceVersion === b.metadata?.resourceVersion && uid === b.metadata.uid;
}

/** What leads from `previous` to `object` under one key. An object of another UID is another object: the old one was deleted. */
function changesOf<T extends KubeObject>(
  key: ObjectKey,
  previous: T | undefined,
  object: T,
): readonly ResourceEvent<T>[] {
  if (previous === undefined) return [{ type: 'add', key, object }];
  if (previous.metadata?.uid === object.metadata?.uid) return [{ type: 'update', key, object, previous }];
  return [
    { type: 'delete', key, previous },
    { type: 'add', key, object },
  ];
}

export class ObjectStore<T extends KubeObject> implements Indexer<T> {
  readonly #functions: Map<string, IndexFunc<T>>;
  readonly #subscribers: StoreSubscribers<T>;
  readonly #synced: PromiseWithResolvers<void> = Promise.withResolvers();
  #contents: StoreContents<T>;
  /** The list that is coming in, until its `init-done`. */
  #incoming: StoreContents<T> | undefined;
  #isSynced = false;

  constructor(options: ObjectStoreOptions<T>) {
    this.#functions = new Map(Object.entries(options.indexers ?? {}));
    this.#contents = new StoreContents(this.#functions);
    this.#subscribers = new StoreSubscribers(options);
    // Who does not wait does not care.
    this.#synced.promise.catch(() => {});
  }

  get synced(): boolean {
    return this.#isSynced;
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#isSynced) return;
    await raceAbort(this.#synced.promise, signal);
  }

  get(key: ObjectKey): T | undefined {
    return this.#contents.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#contents.objects.values();
  }

  get size(): number {
    return this.#contents.objects.size;
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#contents.byIndex(name, value);
  }

  subscribe(handler: ResourceEventHandler<T>): () => void {
    const first = Array.from(this.#contents.objects, ([key, object]) => ({ type: 'add', key, object }) as const);
    return this.#subscribers.add(handler, first);
  }

  /** Adds indexes to a store in use. One that exists must be of the same function. */
  addIndexers(indexers: Indexers<T>): void {
    for (const [name, index] of Object.entries(indexers)) {
      const existing = this.#functions.get(name);
      if (existing === index) continue;
      if (existing) throw new Error(`index ${JSON.stringify(name)} exists, with another function`);
      this.#functions.set(name, index);
      this.#contents.index(name);
      this.#incoming?.index(name);
    }
  }

  /** Those who still wait for the first list wait in vain. */
  abandon(reason: unknown): void {
    this.#synced.reject(reason);
  }

  /** Takes one event in. When a promise comes back, the next event must wait for it: listeners are still being told. */
  take(event: ReflectorEvent<T>): Promise<void> | undefined {
    switch (event.type) {
      case 'init':
        this.#incoming = new StoreContents(this.#functions);
        break;
      case 'init-apply':
        this.#takeIncoming(event.object);
        break;
      case 'init-done':
        this.#publishIncoming();
        break;
      case 'apply':
        this.#apply(event.object);
        break;
      case 'delete':
        this.#delete(event.object);
        break;
    }
    return this.#subscribers.drained;
  }

  #takeIncoming(object: T): void {
    const key = keyOfObject(object);
    const current = this.#contents.objects.get(key);
    this.#incoming?.set(key, current && isSame(current, object) ? current : object);
  }

  #publishIncoming(): void {
    const incoming = this.#incoming;
    if (!incoming) return;
    const before = this.#contents.objects;
    const changes: ResourceEvent<T>[] = [];
    for (const [key, previous] of before) {
      if (!incoming.objects.has(key)) changes.push({ type: 'delete', key, previous });
    }
    for (const [key, object] of incoming.objects) {
      const previous = before.get(key);
      if (previous !== object) changes.push(...changesOf(key, previous, object));
    }
    this.#contents = incoming;
    this.#incoming = undefined;
    this.#isSynced = true;
    this.#synced.resolve();
    this.#subscribers.publish(changes);
  }

  #apply(object: T): void {
    const key = keyOfObject(object);
    const previous = this.#contents.objects.get(key);
    if (previous && isSame(previous, object)) return;
    this.#contents.set(key, object);
    this.#subscribers.publish(changesOf(key, previous, object));
  }

  #delete(object: T): void {
    const key = keyOfObject(object);
    if (this.#incoming) {
      this.#incoming.delete(key);
      return;
    }
    const previous = this.#contents.objects.get(key);
    if (previous === undefined) return;
    this.#contents.delete(key);
    // The object of the event is newer: it has the deletion timestamp and the last status.
    this.#subscribers.publish([{ type: 'delete', key, previous: object, seen: true }]);
  }
}
