/** Whether what belongs to some is read for each of them, or all that the project has in one list. */

/** Fewer are always read one by one. */
const LISTS_FROM = 3;
/**
 * A request costs as much as so many rows of an answer: Octavia (Zed) takes 45 ms for one, 1.6 ms for each listener or load balancer that it lists, and
 * 5 ms for each pool of five members and a monitor.
 */
const ROWS_A_REQUEST = 25;

type Collection = 'loadbalancers' | 'listeners' | 'pools' | 'healthmonitors';

export class ListSizes {
  readonly #rows = new Map<Collection, number>();

  /** What a list of all has shown. */
  note(collection: Collection, rows: number): void {
    this.#rows.set(collection, rows);
  }

  /** `each`: requests that take the place of the list for one of `count`. A list that was never read is taken to be short. */
  isWorthIt(collection: Collection, count: number, each = 1): boolean {
    return count >= LISTS_FROM && (count * each - 1) * ROWS_A_REQUEST >= (this.#rows.get(collection) ?? 0);
  }

  /** What belongs to each of `ids`, read by `one`, or by the list of all with what belongs to others. */
  async read<T>(
    collection: Collection,
    ids: readonly string[],
    { all, one }: { readonly all: () => Promise<readonly T[]>; readonly one: (id: string) => Promise<readonly T[]> },
  ): Promise<readonly T[]> {
    if (!this.isWorthIt(collection, ids.length)) return (await Promise.all(ids.map(one))).flat();
    const listed = await all();
    this.note(collection, listed.length);
    return listed;
  }
}
