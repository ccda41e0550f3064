/** Tables of rows of which each reader is told what has changed since it was told last. */

interface Entry {
  readonly row: { readonly name: string };
  readonly text: string;
  readonly version: number;
}

/** What changed, as JSON can say it. */
export interface FeedChanges {
  readonly version: number;
  /** The reader has to forget what it was told: too much has happened since. */
  readonly reset: boolean;
  readonly tables: Readonly<Record<string, { readonly set: readonly object[]; readonly gone: readonly string[] }>>;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Names of rows that are gone are kept for readers that were not told yet. */
const MOST_GONE = 20_000;

export class Feed {
  readonly #tables = new Map<string, Map<string, Entry>>();
  readonly #gone = new Map<string, Map<string, number>>();
  readonly #facts = new Map<string, { readonly value: unknown; readonly text: string; readonly version: number }>();
  readonly #listeners = new Set<() => void>();
  #version = 0;
  /** Who was told nothing since before this version is told all. */
  #floor = 0;
  #goneCount = 0;

  /** Called after each change, in the same turn. Returns the way to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A row that is as it was is no change. */
  set<T extends { readonly name: string }>(table: string, row: T): void {
    const rows = this.#rows(table);
    const text = JSON.stringify(row);
    if (rows.get(row.name)?.text === text) return;
    this.#goneCount -= Number(this.#gone.get(table)?.delete(row.name) ?? false);
    rows.set(row.name, { row, text, version: ++this.#version });
    this.#tell();
  }

  delete(table: string, name: string): void {
    if (!this.#rows(table).delete(name)) return;
    const gone = this.#gone.get(table) ?? new Map<string, number>();
    this.#gone.set(table, gone.set(name, ++this.#version));
    if (++this.#goneCount > MOST_GONE) {
      this.#gone.clear();
      this.#goneCount = 0;
      this.#floor = this.#version;
    }
    this.#tell();
  }

  /** These rows, and no others. */
  replace(table: string, rows: readonly { readonly name: string }[]): void {
    const names = new Set(rows.map(({ name }) => name));
    for (const name of this.#rows(table).keys()) if (!names.has(name)) this.delete(table, name);
    for (const row of rows) this.set(table, row);
  }

  fact(name: string, value: unknown): void {
    const text = JSON.stringify(value);
    if (this.#facts.get(name)?.text === text) return;
    this.#facts.set(name, { value, text, version: ++this.#version });
    this.#tell();
  }

  /** `since`: the version of what the reader was told last; 0: nothing. `undefined`: nothing has changed. */
  changes(since: number): FeedChanges | undefined {
    if (since === this.#version) return undefined;
    const reset = since === 0 || since < this.#floor;
    const from = reset ? 0 : since;
    const tables: Record<string, { set: object[]; gone: string[] }> = {};
    for (const [name, rows] of this.#tables) {
      const set = Array.from(rows.values()).filter(({ version }) => version > from);
      const gone = reset ? [] : Array.from(this.#gone.get(name) ?? []).filter(([, version]) => version > from);
      if (set.length + gone.length > 0)
        tables[name] = { set: set.map(({ row }) => row), gone: gone.map(([key]) => key) };
    }
    const facts = Array.from(this.#facts).filter(([, { version }]) => version > from);
    return {
      version: this.#version,
      reset,
      tables,
      facts: Object.fromEntries(facts.map(([name, { value }]) => [name, value])),
    };
  }

  #rows(table: string): Map<string, Entry> {
    const rows = this.#tables.get(table) ?? new Map<string, Entry>();
    this.#tables.set(table, rows);
    return rows;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
