/** All there is of one kind in neutron: what each has, its revision, and who finds it by which attribute. */
import type { Caller, FakeRequest } from '../fake-http.ts';
import type { Identifiers } from '../identifiers.ts';
import { badRequest, neutronRefusal } from './neutron-error.ts';

/** What neutron keeps of everything. */
export interface StandardAttributes {
  readonly id: string;
  readonly project_id: string;
  readonly tenant_id: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision_number: number;
}

export type New<T extends StandardAttributes> = Omit<T, keyof StandardAttributes> &
  Pick<T, 'project_id'> &
  Partial<Pick<T, 'id' | 'description' | 'tags'>>;

export interface CollectionOptions<T> {
  readonly ids: Identifiers;
  /** `Port` of `PortNotFound`. */
  readonly kind: string;
  /** `Port <id> could not be found.` */
  readonly notFound: (id: string) => string;
  /** Attributes that are looked up without going through all. */
  readonly indexed?: readonly (keyof T & string)[];
  /** Who sees what is not his own. Default: nobody but an admin. */
  readonly isShared?: (item: T) => boolean;
}

export class Collection<T extends StandardAttributes> {
  readonly #options: CollectionOptions<T>;
  readonly #items = new Map<string, T>();
  readonly #indexes = new Map<string, Map<unknown, Set<string>>>();
  #sorted: readonly T[] | undefined;

  constructor(options: CollectionOptions<T>) {
    this.#options = options;
    for (const name of options.indexed ?? []) this.#indexes.set(name, new Map());
  }

  add(item: New<T>): T {
    const { ids } = this.#options;
    const now = ids.timestamp();
    const made = {
      id: ids.uuid(),
      tenant_id: item.project_id,
      description: '',
      tags: [],
      created_at: now,
      updated_at: now,
      revision_number: 0,
      ...item,
    } as unknown as T;
    this.#put(made);
    return made;
  }

  /** A change that changes nothing is no new revision (seen on Zed: extra routes added a second time). */
  change(id: string, change: Partial<T>): T {
    const former = this.#items.get(id);
    if (!former) throw this.missing(id);
    const differs = Object.entries(change).some(
      ([name, value]) => JSON.stringify(former[name as keyof T]) !== JSON.stringify(value),
    );
    return differs ? this.touch(id, change) : former;
  }

  /** A new revision, whatever is changed. */
  touch(id: string, change: Partial<T> = {}): T {
    const former = this.#items.get(id);
    if (!former) throw this.missing(id);
    this.#unindex(former);
    const next = {
      ...former,
      ...change,
      updated_at: this.#options.ids.timestamp(),
      revision_number: former.revision_number + 1,
    };
    this.#put(next);
    return next;
  }

  remove(id: string): boolean {
    const item = this.#items.get(id);
    if (!item) return false;
    this.#unindex(item);
    this.#items.delete(id);
    this.#sorted = undefined;
    return true;
  }

  get(id: string): T | undefined {
    return this.#items.get(id);
  }

  /** For the caller; 404 where it is not there, or not his. */
  visible(id: string, caller: Caller): T {
    const item = this.#items.get(id);
    if (item && this.isVisible(item, caller)) return item;
    throw this.missing(id);
  }

  isVisible(item: T, caller: Caller): boolean {
    return (
      item.project_id === caller.projectId || caller.roles.includes('admin') || this.#options.isShared?.(item) === true
    );
  }

  missing(id: string): Error {
    return neutronRefusal(404, `${this.#options.kind}NotFound`, this.#options.notFound(id));
  }

  /** Throws 412 where the request names another revision (`If-Match: revision_number=3`). */
  checkRevision(item: T, { headers }: FakeRequest): void {
    const asked = headers['if-match'];
    if (asked === undefined) return;
    const revision = /^revision_number=(\d+)$/.exec(asked)?.[1];
    if (revision === undefined) throw badRequest(`Bad If-Match header: ${asked}`);
    if (Number(revision) !== item.revision_number) {
      throw neutronRefusal(
        412,
        'RevisionNumberConstraintFailed',
        `Constrained to ${revision}, but current revision is ${item.revision_number}`,
      );
    }
  }

  /** By ID, as pages are sorted. */
  all(): readonly T[] {
    this.#sorted ??= [...this.#items.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#sorted;
  }

  where<K extends keyof T & string>(name: K, value: T[K]): readonly T[] {
    const index = this.#indexes.get(name);
    if (!index) return this.all().filter((item) => item[name] === value);
    return [...(index.get(value) ?? [])].flatMap((id) => this.#items.get(id) ?? []);
  }

  /** What can match a query on an indexed attribute; all, where there is none. */
  candidates(query: URLSearchParams): readonly T[] {
    if (query.has('id')) return dedupe(query.getAll('id')).flatMap((id) => this.#items.get(id) ?? []);
    for (const name of this.#indexes.keys()) {
      if (!query.has(name)) continue;
      const values = dedupe(query.getAll(name));
      return values.flatMap((value) => this.where(name as keyof T & string, value as T[keyof T & string]));
    }
    return this.all();
  }

  #put(item: T): void {
    this.#items.set(item.id, item);
    this.#sorted = undefined;
    for (const [name, index] of this.#indexes) {
      const value = item[name as keyof T];
      const ids = index.get(value) ?? new Set();
      ids.add(item.id);
      index.set(value, ids);
    }
  }

  #unindex(item: T): void {
    for (const [name, index] of this.#indexes) index.get(item[name as keyof T])?.delete(item.id);
  }
}

const dedupe = (values: readonly string[]): readonly string[] => [...new Set(values)];
