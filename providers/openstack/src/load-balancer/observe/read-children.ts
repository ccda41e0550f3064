/** Reads what hangs below load balancers: few one by one, many by one list of each kind (`ListSizes`). */
import { asError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { listOf, operation } from '../../client/operation.ts';
import { asQuery } from '../../client/query-chunks.ts';
import { readIfThere } from '../../client/read-one.ts';
import { groupPairs } from '../../group-pairs.ts';
import { placeOf } from '../places-of-children.ts';
import type {
  ObservedChild,
  ObservedListener,
  ObservedMember,
  ObservedMonitor,
  ObservedPool,
} from '../observed-tree.ts';
import type { WireListener, WireMember, WireMonitor, WirePool } from '../octavia-wire.ts';
import type { KnownMembers } from './known-members.ts';
import type { LatenessTracker } from './lateness.ts';
import type { ListSizes } from './list-sizes.ts';

/** What is read of each: statistics, times, weights and the like are half of what a pool of a hundred members answers. */
const COLUMNS = {
  listeners: [
    'id',
    'name',
    'provisioning_status',
    'tags',
    'protocol',
    'protocol_port',
    'connection_limit',
    'default_pool_id',
    'default_tls_container_ref',
    'insert_headers',
    'allowed_cidrs',
    'timeout_client_data',
    'timeout_member_connect',
    'timeout_member_data',
    'timeout_tcp_inspect',
    'loadbalancers',
  ] satisfies readonly (keyof WireListener)[],
  pools: [
    'id',
    'name',
    'provisioning_status',
    'updated_at',
    'tags',
    'protocol',
    'lb_algorithm',
    'session_persistence',
    'healthmonitor_id',
    'members',
    'loadbalancers',
    'listeners',
  ] satisfies readonly (keyof WirePool)[],
  members: [
    'id',
    'name',
    'provisioning_status',
    'address',
    'protocol_port',
    'monitor_port',
    'subnet_id',
  ] satisfies readonly (keyof WireMember)[],
};

const columnsOf = (collection: keyof typeof COLUMNS): Query => asQuery('fields', COLUMNS[collection]);

export interface Children {
  readonly listeners: readonly ObservedListener[];
  readonly loosePools: readonly ObservedPool[];
}

/** What is remembered from one look to the next. */
export interface ChildrenMemory {
  readonly lateness: LatenessTracker;
  readonly members: KnownMembers;
  readonly sizes: ListSizes;
}

/** By the ID of the load balancer; an error where its own pools could not be read. Rejects when the lists could not be. */
export async function readChildren(
  client: ApiClient,
  ids: readonly string[],
  memory: ChildrenMemory,
  call: CallContext,
): Promise<ReadonlyMap<string, Children | Error>> {
  if (ids.length === 0) return new Map();
  const { lateness, sizes } = memory;
  const [listeners, pools] = await Promise.all([
    listBelow<WireListener>(client, 'listeners', ids, sizes, call),
    listBelow<WirePool>(client, 'pools', ids, sizes, call),
  ]);
  const wanted = new Set(ids);
  const poolsBelow = byLoadBalancer(pools, wanted);
  const listenersBelow = byLoadBalancer(listeners, wanted);
  const monitorIDs = [...new Set([...poolsBelow.values()].flat())].flatMap(({ healthmonitor_id: id }) =>
    id ? [id] : [],
  );
  const monitors = await readMonitors(client, monitorIDs, sizes, call);
  const entries = ids.map(async (id): Promise<[string, Children | Error]> => {
    try {
      const own = poolsBelow.get(id) ?? [];
      const read = await Promise.all(own.map((pool) => readPool(client, pool, monitors, memory, call)));
      const byID = new Map(read.map((pool) => [pool.id, pool]));
      const below = listenersBelow.get(id) ?? [];
      const used = new Set(own.filter((pool) => pool.listeners.length > 0).map((pool) => pool.id));
      for (const { default_pool_id: pool } of below) if (pool) used.add(pool);
      const children = {
        listeners: below.map((listener) => listenerOf(listener, byID, lateness)),
        loosePools: read.filter((pool) => !used.has(pool.id)),
      };
      return [id, children];
    } catch (error) {
      return [id, asError(error)];
    }
  });
  return new Map(await Promise.all(entries));
}

/** Of a list of all, what hangs below those that are `wanted`; each in the list's order. */
function byLoadBalancer<T extends WireListener | WirePool>(
  all: readonly T[],
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, readonly T[]> {
  return groupPairs(
    all.flatMap((one) => one.loadbalancers.flatMap(({ id }) => (wanted.has(id) ? [[id, one] as const] : []))),
  );
}

function listBelow<T>(
  client: ApiClient,
  collection: 'listeners' | 'pools',
  ids: readonly string[],
  sizes: ListSizes,
  call: CallContext,
): Promise<readonly T[]> {
  const list = (filter: Query): Promise<readonly T[]> =>
    client.list<T>(call, listOf('load-balancer', `/v2.0/lbaas/${collection}`, [...filter, ...columnsOf(collection)]));
  return sizes.read(collection, ids, { all: () => list([]), one: (id) => list([['loadbalancer_id', id]]) });
}

async function readMonitors(
  client: ApiClient,
  ids: readonly string[],
  sizes: ListSizes,
  call: CallContext,
): Promise<ReadonlyMap<string, WireMonitor>> {
  const place = ['load-balancer', '/v2.0/lbaas/healthmonitors'] as const;
  const monitors = await sizes.read('healthmonitors', ids, {
    all: () => client.list<WireMonitor>(call, listOf(...place)),
    one: async (id) => [await readIfThere<WireMonitor>(client, place, id, call)].filter((found) => found !== undefined),
  });
  return new Map(monitors.map((monitor) => [monitor.id, monitor]));
}

async function readPool(
  client: ApiClient,
  pool: WirePool,
  monitors: ReadonlyMap<string, WireMonitor>,
  { lateness, members }: ChildrenMemory,
  call: CallContext,
): Promise<ObservedPool> {
  const monitor = pool.healthmonitor_id ? monitors.get(pool.healthmonitor_id) : undefined;
  return {
    ...childOf(pool, placeOf.pool(pool.listeners[0] ?? pool), lateness),
    protocol: pool.protocol,
    lbMethod: pool.lb_algorithm,
    sessionPersistence: pool.session_persistence?.type ?? null,
    tags: pool.tags ?? [],
    members: pool.members.length === 0 ? [] : await members.read(pool, () => listMembers(client, pool, lateness, call)),
    monitor: monitor ? monitorOf(monitor, pool, lateness) : null,
  };
}

async function listMembers(
  client: ApiClient,
  pool: WirePool,
  lateness: LatenessTracker,
  call: CallContext,
): Promise<readonly ObservedMember[]> {
  const members = await client.list<WireMember>(call, {
    ...operation('load-balancer', 'GET /v2.0/lbaas/pools/{id}/members', pool.id),
    collection: 'members',
    query: columnsOf('members'),
  });
  const place = placeOf.members(pool);
  if (members.every(({ provisioning_status: status }) => status === 'ACTIVE')) lateness.recovered(place);
  return members.map((member) => ({
    ...memberChild(member, place, lateness),
    address: member.address,
    port: member.protocol_port,
    monitorPort: member.monitor_port,
    subnetId: member.subnet_id,
  }));
}

/** What is seen of each alike. */
function childOf(
  { id, name, provisioning_status: status }: WireListener | WireMonitor | WirePool,
  place: string,
  lateness: LatenessTracker,
): ObservedChild {
  return { id, name, status, ...lateness.ofChild(id, place, status) };
}

/** All of a pool are in one place. */
function memberChild(
  { id, name, provisioning_status: status }: WireMember,
  place: string,
  lateness: LatenessTracker,
): ObservedChild {
  return { id, name, status, ...(status === 'ERROR' ? lateness.ofFailed(place) : { late: lateness.of(id, status) }) };
}

function monitorOf(monitor: WireMonitor, pool: WirePool, lateness: LatenessTracker): ObservedMonitor {
  const { http_method: method, url_path: urlPath, expected_codes: expectedCodes } = monitor;
  return {
    ...childOf(monitor, placeOf.monitor(pool), lateness),
    type: monitor.type,
    delay: monitor.delay,
    timeout: monitor.timeout,
    maxRetries: monitor.max_retries,
    maxRetriesDown: monitor.max_retries_down,
    http:
      monitor.type === 'HTTP'
        ? { method: method ?? '', urlPath: urlPath ?? '', expectedCodes: expectedCodes ?? '' }
        : null,
  };
}

function listenerOf(
  listener: WireListener,
  pools: ReadonlyMap<string, ObservedPool>,
  lateness: LatenessTracker,
): ObservedListener {
  const pool = listener.default_pool_id === null ? undefined : pools.get(listener.default_pool_id);
  const { protocol, protocol_port: port } = listener;
  const loadBalancerId = listener.loadbalancers[0]?.id ?? '';
  return {
    ...childOf(listener, placeOf.listener(loadBalancerId, { protocol, port }), lateness),
    protocol,
    port,
    connectionLimit: listener.connection_limit,
    allowedCidrs: (listener.allowed_cidrs ?? []).toSorted(),
    timeouts: {
      clientData: listener.timeout_client_data ?? null,
      memberConnect: listener.timeout_member_connect ?? null,
      memberData: listener.timeout_member_data ?? null,
      tcpInspect: listener.timeout_tcp_inspect ?? null,
    },
    insertHeaders: listener.insert_headers ?? {},
    tlsContainerRef: listener.default_tls_container_ref ?? null,
    tags: listener.tags ?? [],
    pool: pool ?? null,
  };
}
