/** Many values of one filter, in as few requests as Neutron takes. */
import type { Query } from './api-client.ts';

/**
 * Neutron refuses a URL of some 8 KiB (414), which 200 IDs are: 50 of them are 2.4 KB, and 50 of `fixed_ips=ip_address=` with IPv6
 * addresses half of what it takes.
 */
export const VALUES_IN_QUERY = 50;

/** In their order. `most`: values of a chunk. */
export function chunksOf<T>(values: readonly T[], most: number = VALUES_IN_QUERY): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(values.length / most) }, (_, at) => values.slice(at * most, (at + 1) * most));
}

/** One filter with several values: any of them. */
export function asQuery(name: string, values: readonly string[]): Query {
  return values.map((value) => [name, value] as const);
}
