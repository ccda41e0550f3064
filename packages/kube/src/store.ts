/** The local copy of a kind: a fold over the watcher's events, published atomically when the first list is complete. */
import type { KubeObject, ObjectKey } from './kube-object.ts';

/** A change of the published content. A relist yields the difference to what was there before, nothing else. */
export type StoreChange<T> =
  | { readonly type: 'add'; readonly key: ObjectKey; readonly object: T }
  | { readonly type: 'update'; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  | { readonly type: 'delete'; readonly key: ObjectKey; readonly previous: T };

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
  /** Objects for which the index `name` gave `value`. Throws when there is no such index. */
  byIndex(name: string, value: string): readonly T[];
  /** Calls `listener` for each change from now on, and first an `add` for all that is there. Returns the way to stop. */
  subscribe(listener: (change: StoreChange<T>) => void): () => void;
}
