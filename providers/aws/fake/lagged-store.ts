/** Things as they stand, and as descriptions show them, which lie behind writes by the lag: AWS is eventually consistent. */
import type { Clock } from '@outrigger/cloud-provider';

interface Row<T> {
  now: T | undefined;
  /** What is shown in place of `now` until a moment; in order of time. */
  shown: readonly { readonly until: number; readonly thing: T | undefined }[];
}

export class LaggedStore<T extends { readonly id: string }> {
  readonly #clock: Clock;
  readonly #lagMs: () => number;
  readonly #rows = new Map<string, Row<T>>();

  constructor(clock: Clock, lagMs: () => number) {
    this.#clock = clock;
    this.#lagMs = lagMs;
  }

  put(thing: T): void {
    this.#write(thing.id, thing);
  }

  /** At once for everybody: what a test has made beforehand. */
  seed(thing: T): void {
    this.#rows.set(thing.id, { now: thing, shown: [] });
  }

  remove(id: string): void {
    if (this.#rows.has(id)) this.#write(id, undefined);
  }

  get(id: string): T | undefined {
    return this.#rows.get(id)?.now;
  }

  all(): readonly T[] {
    return [...this.#rows.values()].flatMap(({ now }) => (now ? [now] : []));
  }

  seen(id: string): T | undefined {
    const row = this.#rows.get(id);
    return row && this.#seen(id, row);
  }

  list(): readonly T[] {
    return [...this.#rows].flatMap(([id, row]) => this.#seen(id, row) ?? []);
  }

  #seen(id: string, row: Row<T>): T | undefined {
    if (row.shown.length === 0) return row.now;
    const now = this.#clock.monotonic();
    row.shown = row.shown.filter(({ until }) => until > now);
    const [first] = row.shown;
    if (!first && !row.now) this.#rows.delete(id);
    return first ? first.thing : row.now;
  }

  #write(id: string, thing: T | undefined): void {
    const lag = this.#lagMs();
    const row = this.#rows.get(id) ?? { now: undefined, shown: [] };
    if (lag > 0) row.shown = [...row.shown, { until: this.#clock.monotonic() + lag, thing: row.now }];
    row.now = thing;
    if (thing || row.shown.length > 0) this.#rows.set(id, row);
    else this.#rows.delete(id);
  }
}
