/** The local copy of a kind: a fold over the reflector's events, published atomically when the first list is complete. */
import type { KubeObject, ObjectKey } from './kube-object.ts';

/** A change of the published content. A relist yields the difference to what was there before, nothing else. */
export type ResourceEvent<T> =
  | { readonly type: 'add'; readonly key: ObjectKey; readonly object: T }
  | { readonly type: 'update'; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  /** `seen`: the API server has said that it was deleted. Absent: a list lacks it, or another object has its name. */
  | { readonly type: 'delete'; readonly key: ObjectKey; readonly previous: T; readonly seen?: true };

/** Told of each change of a store, in order. What it throws is logged. */
export type ResourceEventHandler<T> = (event: ResourceEvent<T>) => void;

/** Reads of a local copy. Objects are shared: nobody may change them. */
export interface Store<T extends KubeObject> {
  /** False until the first list is complete; then true for ever. Nothing may be concluded from absence before. */
  readonly synced: boolean;
  /** Resolves when `synced`; rejects when the signal aborts. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  get(key: ObjectKey): T | undefined;
  /** All objects, in no particular order. */
  values(): IterableIterator<T>;
  readonly size: number;
  /** Calls `handler` for each change from now on, and first an `add` for all that is there. Returns the way to stop. */
  subscribe(handler: ResourceEventHandler<T>): () => void;
}

/** A store with indexes: what `openStore` and `Stores` give. */
export interface Indexer<T extends KubeObject> extends Store<T> {
  /** Objects for which the index `name` gave `value`. Throws when there is no such index. */
  byIndex(name: string, value: string): readonly T[];
}
