/** A binary heap that knows where each entry sits, so that one in the middle can be moved or taken out in O(log n). */
export class IndexedHeap<T extends object> {
  readonly #entries: T[] = [];
  readonly #index = new Map<T, number>();
  readonly #before: (a: T, b: T) => boolean;

  /** `before(a, b)`: `a` comes out before `b`. Must be a strict order. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#entries.length;
  }

  peek(): T | undefined {
    return this.#entries[0];
  }

  has(entry: T): boolean {
    return this.#index.has(entry);
  }

  /** Puts an entry in, or puts it in its right place when what it is ordered by has changed. */
  push(entry: T): void {
    let at = this.#index.get(entry);
    if (at === undefined) {
      at = this.#entries.push(entry) - 1;
      this.#index.set(entry, at);
    }
    this.#down(entry, this.#up(entry, at));
  }

  pop(): T | undefined {
    const first = this.#entries[0];
    if (first) this.delete(first);
    return first;
  }

  /** Takes an entry out, wherever it is. False when it was not in. */
  delete(entry: T): boolean {
    const at = this.#index.get(entry);
    if (at === undefined) return false;
    this.#index.delete(entry);
    const last = this.#entries.pop();
    if (last && last !== entry) this.#down(last, this.#up(last, at));
    return true;
  }

  #up(entry: T, from: number): number {
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = this.#entries[parentAt];
      if (!parent || !this.#before(entry, parent)) break;
      this.#place(parent, at);
      at = parentAt;
    }
    this.#place(entry, at);
    return at;
  }

  #down(entry: T, from: number): void {
    let at = from;
    for (;;) {
      const leftAt = 2 * at + 1;
      const left = this.#entries[leftAt];
      if (!left) break;
      const right = this.#entries[leftAt + 1];
      const rightFirst = right !== undefined && this.#before(right, left);
      const child = rightFirst ? right : left;
      if (!this.#before(child, entry)) break;
      this.#place(child, at);
      at = rightFirst ? leftAt + 1 : leftAt;
    }
    this.#place(entry, at);
  }

  #place(entry: T, at: number): void {
    this.#entries[at] = entry;
    this.#index.set(entry, at);
  }
}
