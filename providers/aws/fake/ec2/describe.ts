/** What all descriptions of EC2 share: IDs that must be there, filters, pages. */
import { refused } from '../aws-error.ts';
import type { LaggedStore } from '../lagged-store.ts';
import type { Tags } from '../things.ts';

export interface Filter {
  readonly Name?: string;
  readonly Values?: readonly string[];
}

/** By a filter's name the values of a thing that it looks at. */
export type FilterTable<T> = Readonly<Record<string, (thing: T) => readonly (string | undefined)[]>>;

export interface DescribeInput {
  readonly Filters?: readonly Filter[];
  readonly MaxResults?: number;
  readonly NextToken?: string;
}

export interface DescribeKind<T extends { readonly id: string; readonly tags: Tags }> {
  readonly store: Pick<LaggedStore<T>, 'seen' | 'list'>;
  readonly filters: FilterTable<T>;
  /** `InvalidInstanceID`: of `.NotFound` and `.Malformed`. */
  readonly errors: string;
  /** In place of `<errors>.Malformed`. */
  readonly malformed?: string;
  /** `i`. */
  readonly prefix: string;
  /** Of a message: `instance ID`. */
  readonly noun: string;
  /** Of what there is not, how many an error names. Default: all. */
  readonly mostNamed?: number;
}

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Filter.html: at most 200 values in a request. */
const MOST_VALUES = 200;

/** The things asked for, of all pages. */
export function described<T extends { readonly id: string; readonly tags: Tags }>(
  { errors, filters: table, malformed: malformedCode, mostNamed, noun, prefix, store }: DescribeKind<T>,
  ids: readonly string[] | undefined,
  { Filters: filters = [], MaxResults: most }: DescribeInput,
): readonly T[] {
  if (ids && ids.length > 0) {
    if (most !== undefined) {
      throw refused(
        'InvalidParameterCombination',
        `The parameter ${noun}s cannot be used with the parameter maxResults`,
      );
    }
    const malformed = ids.filter((id) => !new RegExp(`^${prefix}-[0-9a-f]{8}(?:[0-9a-f]{9})?$`, 'u').test(id));
    if (malformed.length > 0)
      throw refused(malformedCode ?? `${errors}.Malformed`, `Invalid id: "${malformed.join(', ')}"`);
    const missing = ids.filter((id) => !store.seen(id)).slice(0, mostNamed);
    if (missing.length > 0) {
      const which =
        missing.length === 1 ? `${noun} '${missing.join(', ')}' does` : `${noun}s '${missing.join(', ')}' do`;
      throw refused(`${errors}.NotFound`, `The ${which} not exist`);
    }
  }
  const all = ids && ids.length > 0 ? [...new Set(ids)].flatMap((id) => store.seen(id) ?? []) : store.list();
  return filtered(all, table, filters);
}

export function filtered<T extends { readonly tags: Tags }>(
  things: readonly T[],
  table: FilterTable<T>,
  filters: readonly Filter[],
): readonly T[] {
  if (filters.flatMap(({ Values: values = [] }) => values).length > MOST_VALUES) {
    throw refused(
      'FilterLimitExceeded',
      `The maximum number of filter values specified on a single call is ${MOST_VALUES}`,
    );
  }
  const tests = filters.map(({ Name: name = '', Values: values = [] }) => {
    if (values.length === 0) throw refused('InvalidParameterValue', `The filter '${name}' has no value`);
    const valuesOf = filterOf(table, name);
    const fits = matcherOf(values);
    return (thing: T): boolean => valuesOf(thing).some((value) => value !== undefined && fits(value));
  });
  return things.filter((thing) => tests.every((test) => test(thing)));
}

function filterOf<T extends { readonly tags: Tags }>(
  table: FilterTable<T>,
  name: string,
): (thing: T) => readonly (string | undefined)[] {
  if (name.startsWith('tag:')) {
    const key = name.slice('tag:'.length);
    return ({ tags }) => (Object.hasOwn(tags, key) ? [tags[key]] : []);
  }
  if (name === 'tag-key') return ({ tags }) => Object.keys(tags);
  const known = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!known) throw refused('InvalidParameterValue', `The filter '${name}' is invalid`);
  return known;
}

/** `*` and `?` stand for others; a value is matched in its case. */
function matcherOf(values: readonly string[]): (value: string) => boolean {
  const exact = new Set(values);
  const patterns = values
    .filter((value) => /[*?]/u.test(value))
    .map((value) => {
      const escaped = value
        .replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
        .replaceAll('*', '.*')
        .replaceAll('?', '.');
      return new RegExp(`^${escaped}$`, 'su');
    });
  return (value) => exact.has(value) || patterns.some((pattern) => pattern.test(value));
}

/** One page; without `MaxResults` it is the only one. */
export function page<T extends { readonly id: string }>(
  things: readonly T[],
  { MaxResults: most, NextToken: token }: DescribeInput,
): { readonly items: readonly T[]; readonly next: { readonly NextToken?: string } } {
  if (most === undefined && token === undefined) return { items: things, next: {} };
  const after = token === undefined ? '' : Buffer.from(token, 'base64url').toString();
  if (token !== undefined && !/^[a-z]+-[0-9a-f]+$/u.test(after)) {
    throw refused('InvalidNextToken', 'The token is invalid');
  }
  const left = things.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const items = left.slice(0, most ?? 1_000);
  const last = items.at(-1);
  if (!last || items.length === left.length) return { items, next: {} };
  return { items, next: { NextToken: Buffer.from(last.id).toString('base64url') } };
}

export function tagList(tags: Tags): readonly { readonly Key: string; readonly Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}
