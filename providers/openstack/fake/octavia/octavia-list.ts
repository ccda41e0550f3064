/** `GET /v2.0/lbaas/<collection>`: filters, tags, fields and pages. */
import type { FakeRequest, FakeResponse } from '../fake-http.ts';
import { pickFields, TAG_FILTERS } from '../list-filters.ts';
import { octaviaRefusal } from './octavia-error.ts';

const OF_THE_LIST = new Set(['limit', 'marker', 'page_reverse', 'fields', 'sort', 'sort_key', 'sort_dir']);

type Shown = Readonly<Record<string, unknown>> & { readonly tags?: readonly string[] };

/** `kept`, in the order that they were made, each as `show` gives it: where its own attributes are enough for a filter, only what is found. */
export function listShown<T extends object>(
  key: string,
  kept: readonly T[],
  show: (one: T) => object,
  request: FakeRequest,
): FakeResponse {
  const { query, origin, path } = request;
  const shown = (one: T): Shown => show(one) as Shown;
  const before: ((item: Shown) => boolean)[] = [];
  const after: ((item: Shown) => boolean)[] = [];
  for (const name of new Set(query.keys())) {
    if (OF_THE_LIST.has(name)) continue;
    const values = query.getAll(name);
    const byTags = TAG_FILTERS[name];
    if (byTags) {
      const asked = values.flatMap((value) => value.split(','));
      before.push(({ tags = [] }) => byTags(tags, asked));
      continue;
    }
    const [wanted = ''] = values;
    // A filter that is repeated, or that the kind has not, is refused.
    if (values.length > 1 || (kept.length > 0 && !kept.some((one) => hasAttribute(shown(one), name)))) {
      throw octaviaRefusal(400, 'One or more arguments are either duplicate or invalid');
    }
    (kept.every((one) => name in one) ? before : after).push((item) => matches(item, name, wanted));
  }
  const found = kept
    .filter((one) => before.every((test) => test(one as Shown)))
    .map(shown)
    .filter((item) => after.every((test) => test(item)));
  const marker = query.get('marker');
  const start = marker === null ? 0 : found.findIndex(({ id }) => id === marker) + 1;
  if (marker !== null && start === 0) {
    throw octaviaRefusal(400, `Supplied pagination marker '${marker}' is not valid.`);
  }
  const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
  const page = found.slice(start, start + limit);
  const links =
    page.length === limit ? [{ rel: 'next', href: nextHref(`${origin}/load-balancer${path}`, page, limit) }] : [];
  const fields = query.getAll('fields');
  return {
    status: 200,
    body: { [key]: fields.length === 0 ? page : page.map((item) => pickFields(item, fields)), [`${key}_links`]: links },
  };
}

const nextHref = (url: string, page: readonly Shown[], limit: number): string =>
  `${url}?limit=${limit}&marker=${String(page.at(-1)?.['id'])}`;

/** `loadbalancer_id` and `pool_id` are asked for, `loadbalancers` and `pools` are shown. */
const pluralOf = (name: string): string | undefined => /^(loadbalancer|pool|listener)_id$/.exec(name)?.[1];

const hasAttribute = (item: Shown, name: string): boolean => {
  const plural = pluralOf(name);
  return name in item || (plural !== undefined && `${plural}s` in item);
};

function matches(item: Shown, name: string, wanted: string): boolean {
  const plural = pluralOf(name);
  if (plural !== undefined && `${plural}s` in item) {
    return (item[`${plural}s`] as readonly { readonly id: string }[]).some(({ id }) => id === wanted);
  }
  const value = item[name] as string | number | boolean | null | undefined;
  return typeof value === 'boolean' ? String(value) === wanted.toLowerCase() : String(value) === wanted;
}
