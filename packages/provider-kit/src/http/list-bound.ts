/** How long a list in pages may be: a cloud that always names another page would else fill the memory. */
import { CloudError } from '@outrigger/cloud-provider';
import { getHeapStatistics } from 'node:v8';

/** 100,000 things where a page has 20 of them. */
const MOST_PAGES = 5_000;
/**
 * Of all lists that are being read, a quarter of the heap: as objects they take half as much again. No less than one answer may have.
 */
const MOST_MIB = Math.max(64, Math.floor(getHeapStatistics().heap_size_limit / 2 ** 22));
/** Of an item in an answer whose length is not known. */
const ITEM_LENGTH = 1_024;

/** Characters of all lists that are being read, whatever reads them: each by itself may have as many. */
let lengthOfAll = 0;

/** Of one list, while it is read: to be disposed of at its end (`using`), since what it has counts against the others until then. */
export class ListBound implements Disposable {
  readonly #what: string;
  readonly #seen = new Set<string>();
  #length = 0;

  /** `what`: the cloud and the list, for messages: `Acme: GET /servers`. */
  constructor(what: string) {
    this.#what = what;
  }

  /**
   * Before another page is asked for: with `query`, after an answer of so many items and, where that is known, characters. Throws
   * `unavailable` where it was asked for before, where the list is too long, and where all lists that are being read are. None waits for
   * the others: they could wait for it.
   */
  next(query: string, items: number, length: number = items * ITEM_LENGTH): void {
    if (this.#seen.has(query)) throw inconclusive(this.#what, 'the pages form a loop');
    this.#seen.add(query);
    this.#length += length + query.length;
    lengthOfAll += length + query.length;
    if (this.#seen.size < MOST_PAGES && lengthOfAll <= MOST_MIB * 2 ** 20) return;
    const help = '. If there is so much, raise the heap limit of the program';
    const why = `more than ${MOST_PAGES} pages, or ${MOST_MIB} MiB in all lists that are being read`;
    throw inconclusive(this.#what, why, help);
  }

  [Symbol.dispose](): void {
    lengthOfAll -= this.#length;
    this.#length = 0;
  }
}

export function inconclusive(what: string, why: string, help = ''): CloudError {
  return new CloudError('unavailable', `${what}: ${why}; nothing is concluded from it${help}`);
}
