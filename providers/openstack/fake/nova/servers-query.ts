/** Which servers a list shows: filters and pages as they really behave. */
import { isAdmin, type Caller } from '../fake-http.ts';
import type { Compute } from './compute.ts';
import type { Microversion } from './microversion.ts';
import { novaRefusal, UNEXPECTED } from './nova-error.ts';
import { STATES, type FakeServer, type ServerStatus } from './server.ts';

export interface ServerPage {
  readonly servers: readonly FakeServer[];
  /** Of down cells: shown as minimal constructs. */
  readonly unknown: readonly FakeServer[];
  /** The marker of the next page. */
  readonly next: string | undefined;
}

/**
 * What one who is no admin may filter by; all else is ignored without a word, `uuid` and `id` with it
 * (nova, `_get_server_search_options`; seen on Zed).
 */
const FILTERS: readonly (readonly [name: string, since: Microversion])[] = [
  ['name', 1],
  ['status', 1],
  ['reservation_id', 1],
  ['image', 1],
  ['flavor', 1],
  ['ip', 1],
  ['changes-since', 1],
  ['all_tenants', 1],
  ['ip6', 5],
  ['tags', 26],
  ['tags-any', 26],
  ['not-tags', 26],
  ['not-tags-any', 26],
  ['changes-before', 66],
  ['locked', 73],
  ['availability_zone', 83],
];

const PAGING = ['limit', 'marker', 'sort_key', 'sort_dir'];

export function listServers(
  compute: Compute,
  query: URLSearchParams,
  caller: Caller,
  version: Microversion,
): ServerPage {
  const filters = FILTERS.filter(([name, since]) => since <= version && query.has(name)).map(([name]) => name);
  const last = (name: string): string => query.getAll(name).at(-1) ?? '';
  if (filters.includes('all_tenants') && !isAdmin(caller)) {
    throw novaRefusal(403, "Policy doesn't allow os_compute_api:servers:detail:get_all_tenants to be performed.");
  }
  const matches = conditions(filters, query, version);
  const limit = Math.min(pageSize(query.get('limit')), compute.maxLimit);
  const start = afterMarker(compute, query.get('marker'));
  const mayBeAnyones = filters.includes('all_tenants') && last('all_tenants') !== '0';
  const servers: FakeServer[] = [];
  const unknown: FakeServer[] = [];
  // Minimal constructs come in the plain list alone: with any filter or paging, the servers of a down cell are left out.
  const showsUnknown =
    version >= 69 && !PAGING.some((name) => query.has(name)) && filters.every((name) => name === 'all_tenants');
  const all = compute.newestFirst();
  for (let index = start; index < all.length && servers.length < limit; index++) {
    const server = all[index] as FakeServer;
    if (!mayBeAnyones && server.projectId !== caller.projectId) continue;
    if (compute.isDown(server)) {
      if (showsUnknown) unknown.push(server);
    } else if (matches(server)) servers.push(server);
  }
  // A page that is just full names a next one, even where that is empty.
  return { servers, unknown, next: servers.length === limit ? servers.at(-1)?.id : undefined };
}

function conditions(
  filters: readonly string[],
  query: URLSearchParams,
  version: Microversion,
): (server: FakeServer) => boolean {
  const tests: ((server: FakeServer) => boolean)[] = [];
  const list = (name: string): readonly string[] => (query.get(name) ?? '').split(',');
  // The last one counts where a filter is repeated; but each status does.
  const last = (name: string): string => query.getAll(name).at(-1) ?? '';
  for (const name of filters) {
    switch (name) {
      case 'name':
        tests.push(nameFilter(last('name')));
        break;
      case 'status':
        tests.push(statusFilter(query.getAll('status'), version));
        break;
      case 'availability_zone':
        tests.push((server) => server.zone === last(name));
        break;
      case 'flavor':
        tests.push((server) => server.flavor.id === last(name));
        break;
      case 'tags':
        tests.push((server) => list(name).every((tag) => server.tags.includes(tag)));
        break;
      case 'tags-any':
        tests.push((server) => list(name).some((tag) => server.tags.includes(tag)));
        break;
      case 'not-tags':
        tests.push((server) => !list(name).every((tag) => server.tags.includes(tag)));
        break;
      case 'not-tags-any':
        tests.push((server) => !list(name).some((tag) => server.tags.includes(tag)));
        break;
      default:
    }
  }
  // Soft-deleted ones are in no list, but GET shows them (nova, `instance_get_all_by_filters_sort`).
  if (!filters.includes('status')) tests.push((server) => server.status !== 'SOFT_DELETED');
  return (server) => tests.every((test) => test(server));
}

/** A regular expression that is looked for anywhere, without case as MySQL has it; `|` is escaped (`_safe_regex_mysql`). */
function nameFilter(pattern: string): (server: FakeServer) => boolean {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern.replaceAll('|', '\\|'), 'i');
  } catch {
    throw novaRefusal(400, `Invalid input for query parameters name. Value: ${pattern}. '${pattern}' is not a 'regex'`);
  }
  return ({ name }) => expression.test(name);
}

function statusFilter(asked: readonly string[], version: Microversion): (server: FakeServer) => boolean {
  const wanted = new Set(asked.map((status) => status.toUpperCase()));
  const known = [...wanted].filter((status): status is ServerStatus => status in STATES);
  if (known.length === 0 && version >= 38) throw novaRefusal(400, 'Invalid status value');
  return ({ status }) => wanted.has(status);
}

function pageSize(limit: string | null): number {
  if (limit === null) return Number.POSITIVE_INFINITY;
  if (/^\d+$/.test(limit)) return Number(limit) === 0 ? Number.POSITIVE_INFINITY : Number(limit);
  throw novaRefusal(
    400,
    `Invalid input for query parameters limit. Value: ${limit}. '${limit}' does not match '^[0-9]*$'`,
  );
}

function afterMarker(compute: Compute, marker: string | null): number {
  if (marker === null) return 0;
  const server = compute.server(marker);
  const position = compute.position(marker);
  if (!server || position === undefined) throw novaRefusal(400, `marker [${marker}] not found`);
  // The marker's own row is read from its cell first.
  if (compute.isDown(server)) throw novaRefusal(500, `${UNEXPECTED}<class 'oslo_db.exception.DBConnectionError'>`);
  return position + 1;
}
