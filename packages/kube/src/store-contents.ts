/** Objects by key, and by the values that indexes give them. */
import type { KubeObject, ObjectKey } from './kube-object.ts';

/** The values under which an object is found in an index. */
export type IndexFunc<T extends KubeObject> = (object: T) => readonly string[];

/** Name of the index → its function. */
export type Indexers<T extends KubeObject> = Readonly<Record<string, IndexFunc<T>>>;

/** One generation of a store's content. A relist fills a new one beside the one that is read. */
export class StoreContents<T extends KubeObject> {
  readonly objects: Map<ObjectKey, T> = new Map();
  readonly #functions: ReadonlyMap<string, IndexFunc<T>>;
  readonly #indexes = new Map<string, Map<string, Map<ObjectKey, T>>>();

  constructor(functions: ReadonlyMap<string, IndexFunc<T>>) {
    this.#functions = functions;
    for (const name of functions.keys()) this.#indexes.set(name, new Map());
  }

  set(key: ObjectKey, object: T): void {
    const previous = this.objects.get(key);
    if (previous !== undefined) this.#unindex(key, previous);
    this.objects.set(key, object);
    for (const [name, index] of this.#indexes) this.#enter(name, index, key, object);
  }

  delete(key: ObjectKey): void {
    const previous = this.objects.get(key);
    if (previous === undefined) return;
    this.#unindex(key, previous);
    this.objects.delete(key);
  }

  /** Begins an index whose function has been added to the functions, over what is there. */
  index(name: string): void {
    const index = new Map<string, Map<ObjectKey, T>>();
    this.#indexes.set(name, index);
    for (const [key, object] of this.objects) this.#enter(name, index, key, object);
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new RangeError(`the store has no index ${JSON.stringify(name)}; it has: ${this.#names()}`);
    return [...(index.get(value)?.values() ?? [])];
  }

  #names(): string {
    return [...this.#indexes.keys()].join(', ') || 'none';
  }

  #enter(name: string, index: Map<string, Map<ObjectKey, T>>, key: ObjectKey, object: T): void {
    for (const value of this.#functions.get(name)?.(object) ?? []) {
      const entries = index.get(value);
      if (entries) entries.set(key, object);
      else index.set(value, new Map([[key, object]]));
    }
  }

  #unindex(key: ObjectKey, object: T): void {
    for (const [name, index] of this.#indexes) {
      for (const value of this.#functions.get(name)?.(object) ?? []) {
        const entries = index.get(value);
        entries?.delete(key);
        if (entries?.size === 0) index.delete(value);
      }
    }
  }
}
