/** One page of a list, and how the next one is named. */
import { FakeRefusal } from './fake-error.ts';
import { merged, nested, textOf } from './member-path.ts';
import type { FakePaging } from './fake-table.ts';

export interface FakePage<T> {
  readonly items: readonly T[];
  /** What goes into the body beside the items. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageRequest<T> {
  readonly query: Readonly<Record<string, unknown>>;
  /** Of the request, with its query: the next page's differs in one parameter. */
  readonly url: URL;
  readonly idOf: (item: T) => string;
}

/** Throws a `FakeRefusal` for a parameter that names no page. */
export function pageOf<T>(
  all: readonly T[],
  paging: FakePaging | undefined,
  { idOf, query, url }: PageRequest<T>,
): FakePage<T> {
  if (!paging) return { items: all, members: {}, headers: {} };
  const { by, first = 1, limit, next, parameter } = paging;
  const size = Math.min(limit === undefined ? paging.size : Number(query[limit] ?? paging.size), paging.size);
  const asked = query[parameter];
  const from = asked === undefined || asked === '' ? 0 : startOf(all, textOf(asked), { by, first, idOf, size });
  if (!(size >= 1) || !(from >= 0)) throw new FakeRefusal('invalid', `${parameter}: there is no such page`);
  const items = all.slice(from, from + size);
  const last = items.at(-1);
  const told = paging.told?.({ total: all.length, from, size }) ?? {};
  if (from + size >= all.length || last === undefined || next === undefined) {
    return { items, members: told, headers: {} };
  }
  const value = by === 'page' ? from / size + first + 1 : by === 'marker' ? idOf(last) : tokenOf(idOf(last));
  const nextUrl = new URL(url);
  nextUrl.searchParams.set(parameter, String(value));
  if (next === 'link') return { items, members: told, headers: { link: `<${nextUrl.href}>; rel="next"` } };
  return { items, members: merged(told, nested(next.member, next.as === 'url' ? nextUrl.href : value)), headers: {} };
}

function startOf<T>(
  all: readonly T[],
  asked: string,
  {
    by,
    first,
    idOf,
    size,
  }: {
    readonly by: FakePaging['by'];
    readonly first: number;
    readonly idOf: (item: T) => string;
    readonly size: number;
  },
): number {
  if (by === 'page') return /^\d+$/u.test(asked) ? (Number(asked) - first) * size : Number.NaN;
  const id = by === 'marker' ? asked : Buffer.from(asked, 'base64url').toString();
  const at = all.findIndex((item) => idOf(item) === id);
  return at === -1 ? Number.NaN : at + 1;
}

function tokenOf(id: string): string {
  return Buffer.from(id).toString('base64url');
}
