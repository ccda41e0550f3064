/** Pages of a list: the items of one, and the way to the next. */
import { CloudError } from '@outrigger/cloud-provider';
import type { Query } from './api-client.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** The query of the next page; `undefined` for the last. */
  readonly next: Query | undefined;
}

interface Link {
  readonly rel?: unknown;
  readonly href?: unknown;
}

/**
 * Services name the next page as `<collection>_links` (nova, neutron, octavia, cinder), as `links.next` (keystone) or as `next`
 * (barbican). Only the query of it is taken: behind a proxy its host is often one that cannot be reached, and the token must
 * go nowhere else. What was asked for and the link leaves out (Octavia: filters and columns) is asked for again. Throws `unavailable` for
 * an answer without the collection: it proves nothing.
 */
export function readPage<T>(body: unknown, collection: string, what: string, asked: Query = []): Page<T> {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const items = fields[collection];
  if (!Array.isArray(items)) {
    throw new CloudError('unavailable', `${what} was answered without "${collection}"; the answer is ignored`);
  }
  const link = nextLink(fields, collection);
  if (link === undefined || link === null || link === '') return { items: items as T[], next: undefined };
  // No server takes a longer one, and Node takes the square of its length to read it.
  const url = typeof link === 'string' && link.length <= 16_384 ? URL.parse(link, 'http://any') : null;
  if (!url) throw new CloudError('unavailable', `${what} was answered with a next page that cannot be read`);
  const kept = asked.filter(([name]) => !url.searchParams.has(name));
  return { items: items as T[], next: [...url.searchParams, ...kept] };
}

function nextLink(fields: Readonly<Record<string, unknown>>, collection: string): unknown {
  const links = fields[`${collection}_links`];
  if (Array.isArray(links)) return (links as Link[]).find(({ rel }) => rel === 'next')?.href;
  const { next } = (fields['links'] ?? {}) as { next?: unknown };
  return next ?? fields['next'];
}
