/** `GET /v2.0/<collection>`: filters, tags, fields and pages. */
import type { Caller, FakeRequest, FakeResponse } from '../fake-http.ts';
import { pickFields, TAG_FILTERS } from '../list-filters.ts';
import type { Collection, StandardAttributes } from './collection.ts';
import { badRequest } from './neutron-error.ts';

export interface ListOptions<T extends StandardAttributes> {
  /** `floatingips`: in the path and in the answer. */
  readonly plural: string;
  /** The key in the answer where it is another one: `security_groups` of `security-groups`. */
  readonly key?: string;
  readonly collection: Collection<T>;
  /** What can be filtered by, beside what everything has. */
  readonly filters: readonly string[];
  /** What is shown of one. Default: what is kept. */
  readonly view?: (item: T) => object;
  /** Filters of their own kind. */
  readonly matches?: Readonly<Record<string, (item: T, value: string) => boolean>>;
}

const OF_THE_LIST = new Set(['limit', 'marker', 'page_reverse', 'fields', 'sort_key', 'sort_dir']);
const STANDARD = ['id', 'name', 'description', 'project_id', 'tenant_id', 'revision_number', 'status', 'shared'];

export function listItems<T extends StandardAttributes>(
  options: ListOptions<T>,
  request: FakeRequest,
  caller: Caller,
): FakeResponse {
  const { collection, plural, key = plural, view } = options;
  const { query } = request;
  const matches = conditions(options, query);
  const found = collection.candidates(query).filter((item) => collection.isVisible(item, caller) && matches(item));
  const { page, links } = paged(found, collection, request, caller);
  const shown = page.map((item) => (view ? view(item) : item));
  const fields = query.getAll('fields');
  return {
    status: 200,
    body: {
      [key]: fields.length === 0 ? shown : shown.map((item) => pickFields(item, fields)),
      ...(links.length > 0 ? { [`${key}_links`]: links } : {}),
    },
  };
}

function conditions<T extends StandardAttributes>(
  { filters, matches = {} }: ListOptions<T>,
  query: URLSearchParams,
): (item: T) => boolean {
  const tests: ((item: T) => boolean)[] = [];
  const unknown: string[] = [];
  for (const name of new Set(query.keys())) {
    if (OF_THE_LIST.has(name)) continue;
    const values = query.getAll(name);
    const byTags = TAG_FILTERS[name];
    const special = matches[name];
    if (byTags) {
      const asked = values.flatMap((value) => value.split(','));
      tests.push(({ tags }) => byTags(tags, asked));
    } else if (special) tests.push((item) => values.some((value) => special(item, value)));
    else if (filters.includes(name) || STANDARD.includes(name)) {
      const wanted = new Set(values.map((value) => (/^(true|false)$/i.test(value) ? value.toLowerCase() : value)));
      tests.push((item) =>
        wanted.has(String((item as unknown as Record<string, string | number | boolean | null>)[name] ?? '')),
      );
    } else unknown.push(name);
  }
  // The extension `filter-validation`, on by default.
  if (unknown.length > 0) {
    throw badRequest(`[${unknown.map((name) => `'${name}'`).join(', ')}] is invalid attribute for filtering`);
  }
  return (item) => tests.every((test) => test(item));
}

interface Link {
  readonly rel: 'next' | 'previous';
  readonly href: string;
}

/** Pages by marker, where a limit is asked for; neutron has none of its own. */
function paged<T extends StandardAttributes>(
  found: readonly T[],
  collection: Collection<T>,
  request: FakeRequest,
  caller: Caller,
): { readonly page: readonly T[]; readonly links: readonly Link[] } {
  const limitText = request.query.get('limit');
  const marker = request.query.get('marker');
  const after = marker === null ? undefined : collection.visible(marker, caller).id;
  const sorted = [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter(({ id }) => id > after);
  if (limitText === null) return { page: rest, links: [] };
  if (!/^\d+$/.test(limitText)) throw badRequest(`Limit must be an integer 0 or greater and not '${limitText}'`);
  const limit = Number(limitText) === 0 ? Number.POSITIVE_INFINITY : Number(limitText);
  const page = rest.slice(0, limit);
  const first = page.at(0);
  const last = page.at(-1);
  const links: Link[] = [];
  // A page that is just full names a next one, and every page a former one, the first too (seen on Zed).
  if (last && page.length === limit) links.push({ rel: 'next', href: href(request, last.id, false) });
  if (first) links.push({ rel: 'previous', href: href(request, first.id, true) });
  return { page, links };
}

function href({ origin, path, query }: FakeRequest, marker: string, isReverse: boolean): string {
  const other = new URLSearchParams(query);
  other.delete('page_reverse');
  other.set('marker', marker);
  if (isReverse) other.set('page_reverse', 'True');
  return `${origin}/network${path}?${other.toString()}`;
}
