/** Lists that come in pages: each way in which clouds name the next one, and whether all of them were read. */
import { CloudError } from '@outrigger/cloud-provider';
import { inconclusive, ListBound } from './list-bound.ts';
import type { Query } from './operation.ts';

/** One page as it was answered. */
export interface AnsweredPage {
  readonly body: unknown;
  header(name: string): string | undefined;
  readonly items: readonly unknown[];
  /** Characters of the answer. Default: a kibibyte for each item. */
  readonly length?: number;
  /** It was asked for with this. */
  readonly query: Query;
}

/** What the next page is asked for with, in place of what the first one was; `undefined`: that was the last one. */
export type NextPage = (page: AnsweredPage) => Query | undefined;

/** `Link: <…?page=2>; rel="next"` (RFC 8288). Of the URL only the query is taken: credentials go nowhere else. */
export const nextByLink: NextPage = (page) => {
  const links = page.header('link')?.split(',') ?? [];
  const next = links.find((one) => /;\s*rel="?next"?\s*(?:;|$)/iu.test(one));
  return next === undefined ? undefined : queryIn(next.slice(next.indexOf('<') + 1, next.lastIndexOf('>')));
};

/** The body has the URL of the next page (`links.pages.next`, `nextLink`). Of it only the query is taken. */
export function nextByUrl(urlIn: (body: unknown) => unknown): NextPage {
  return ({ body }) => {
    const url = urlIn(body);
    if (url === undefined || url === null || url === '') return undefined;
    return queryIn(typeof url === 'string' ? url : '');
  };
}

/** The body has a token (`nextPageToken`), or the number of the next page (`meta.pagination.next_page`), that is sent as this parameter. */
export function nextByToken(parameter: string, tokenIn: (body: unknown) => unknown): NextPage {
  return ({ body, query }) => {
    const token = tokenIn(body);
    if (token === undefined || token === null || token === '') return undefined;
    if (typeof token !== 'string' && typeof token !== 'number') throw unreadable();
    return { ...query, [parameter]: token };
  };
}

/** The last item's ID is sent as this parameter, until a page has fewer than `limit`; with `limit` 0 until one is empty. */
export function nextByMarker(parameter: string, idOf: (item: unknown) => string, limit = 0): NextPage {
  return ({ items, query }) => {
    const last = items.at(-1);
    if (last === undefined || items.length < limit) return undefined;
    return { ...query, [parameter]: idOf(last) };
  };
}

export interface PagedListOptions {
  /** The cloud and the list, for messages: `Acme: GET /servers`. */
  readonly operation: string;
  readonly first: Query;
  readonly ask: (query: Query) => Promise<Omit<AnsweredPage, 'items' | 'query'>>;
  /** The items of one page; `undefined`: the answer is none. */
  readonly itemsOf: (body: unknown) => unknown;
  readonly next: NextPage;
  /** Why a page that was answered leaves something out (GCE's `unreachables`); `undefined`: it does not. Default: it never does. */
  readonly partial?: ((body: unknown) => string | undefined) | undefined;
}

/** The items of all pages, asked for as they are read. To be read once. */
export class PagedList<T> implements AsyncIterable<T> {
  readonly #options: PagedListOptions;
  #complete = false;
  #partial: string | undefined;

  constructor(options: PagedListOptions) {
    this.#options = options;
  }

  /** Whether every item has been read: false until the last page is over, for good after a failure and where the cloud left something out. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Why it is not complete although all pages were read; `undefined`: nothing was left out so far. */
  get leftOut(): string | undefined {
    return this.#partial;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    const { ask, first, itemsOf, next, operation, partial } = this.#options;
    using bound = new ListBound(operation);
    for (let query: Query | undefined = first; query;) {
      const answer = await ask(query);
      const items = itemsOf(answer.body);
      if (!Array.isArray(items)) throw inconclusive(operation, 'the answer has no such list');
      this.#partial ??= partial?.(answer.body);
      yield* items as readonly T[];
      query = next({ body: answer.body, header: (name) => answer.header(name), items, query });
      if (query) bound.next(JSON.stringify(query), items.length, answer.length);
    }
    this.#complete = this.#partial === undefined;
  }

  /** All items, or an error: never a part. */
  async all(): Promise<readonly T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    if (!this.#complete) throw inconclusive(this.#options.operation, `the cloud left something out: ${this.#partial}`);
    return items;
  }
}

function unreadable(): CloudError {
  return new CloudError('unavailable', 'a list was answered with a next page that cannot be read');
}

/** No server takes a longer URL, and Node takes the square of its length to read it. */
function queryIn(url: string): Query {
  const { searchParams } = (url.length <= 16_384 && URL.parse(url, 'http://any')) || {};
  if (!searchParams || url === '') throw unreadable();
  return Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]));
}
