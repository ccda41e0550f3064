/** A map that remembers what it held a while ago: eventual consistency, without anything random about it. */

interface Version<T> {
  readonly since: number;
  /** `undefined`: deleted. */
  readonly value: T | undefined;
}

export class VersionedMap<T> {
  readonly #histories = new Map<string, Version<T>[]>();
  readonly #deleted = new Set<string>();

  /** `now` never goes back. Versions that no one can see any more after `keepMs` are dropped. */
  set(id: string, value: T | undefined, now: number, keepMs: number): void {
    this.#dropDeleted(now - keepMs);
    const history = this.#histories.get(id) ?? [];
    history.push({ since: now, value });
    while (history[1] !== undefined && history[1].since <= now - keepMs) history.shift();
    if (history.length === 1 && value === undefined) this.#histories.delete(id);
    else this.#histories.set(id, history);
    if (value === undefined) this.#deleted.add(id);
    else this.#deleted.delete(id);
  }

  /** Entries with something to remember: what is there, and what was not long ago. */
  get size(): number {
    return this.#histories.size;
  }

  get(id: string, at: number): T | undefined {
    return this.#histories.get(id)?.findLast(({ since }) => since <= at)?.value;
  }

  list(at: number): readonly T[] {
    const found: T[] = [];
    for (const history of this.#histories.values()) {
      const value = history.findLast(({ since }) => since <= at)?.value;
      if (value !== undefined) found.push(value);
    }
    return found;
  }

  /** In the order of deletion, so that it ends at the first that can still be seen. */
  #dropDeleted(before: number): void {
    for (const id of this.#deleted) {
      const last = this.#histories.get(id)?.at(-1);
      if (last !== undefined && last.since > before) return;
      this.#histories.delete(id);
      this.#deleted.delete(id);
    }
  }
}
