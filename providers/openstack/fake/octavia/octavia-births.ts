/** New listeners, pools, members and monitors, alone or along with a load balancer: attributes with octavia's defaults. */
import type { Caller } from '../fake-http.ts';
import { octaviaRefusal } from './octavia-error.ts';
import type { FakeHealthMonitor, FakeListener, FakeLoadBalancer, FakeMember, FakePool } from './octavia-objects.ts';
import { checkListener, checkMembers, checkMonitor, checkPool, checkPoolOfListener } from './octavia-rules.ts';
import type { Octavia } from './octavia.ts';
import { checkAttributes, present, type Attributes } from './request-attributes.ts';

/** `timeout_client_data` and its like, in milliseconds (octavia/common/config.py). */
const TIMEOUTS = {
  timeout_client_data: 50_000,
  timeout_member_connect: 5000,
  timeout_member_data: 50_000,
  timeout_tcp_inspect: 0,
} as const;

function needed(given: Attributes, ...names: readonly string[]): void {
  for (const name of names) {
    if (given[name] != null) continue;
    throw octaviaRefusal(400, `Invalid input for field/attribute ${name}. Value: 'None'. Mandatory field missing.`);
  }
}

export function addListener(
  octavia: Octavia,
  loadBalancer: FakeLoadBalancer,
  given: Attributes,
  caller: Caller,
): FakeListener {
  const { store, settings } = octavia;
  needed(given, 'protocol', 'protocol_port');
  octavia.checkQuota('Listener', store.listeners, caller);
  const { loadbalancer_id: _, default_pool: __, project_id: ___, l7policies: ____, ...own } = present(given);
  const listener = {
    description: '',
    connection_limit: -1,
    default_tls_container_ref: null,
    sni_container_refs: [],
    default_pool_id: null,
    insert_headers: {},
    ...TIMEOUTS,
    allowed_cidrs: null,
    ...own,
    ...octavia.birth(caller, given),
    loadBalancerId: loadBalancer.id,
  } as unknown as FakeListener;
  const container = listener.default_tls_container_ref;
  if (container !== null && !settings.tlsContainers.has(container)) {
    throw octaviaRefusal(400, `Could not retrieve certificate: ['${container}']`);
  }
  checkListener(listener, loadBalancer, store.listenersOf(loadBalancer.id));
  if (listener.default_pool_id !== null) checkDefaultPool(octavia, listener, listener.default_pool_id);
  store.addListener(listener);
  return listener;
}

export function checkDefaultPool({ store }: Octavia, listener: FakeListener, poolId: string): void {
  const pool = store.pools.get(poolId);
  if (pool?.loadBalancerId !== listener.loadBalancerId) throw octaviaRefusal(404, `Pool ${poolId} not found.`);
  checkPoolOfListener(listener.protocol, pool.protocol);
}

export function addPool(
  octavia: Octavia,
  loadBalancer: FakeLoadBalancer,
  listener: FakeListener | undefined,
  given: Attributes,
  caller: Caller,
): FakePool {
  const { store } = octavia;
  needed(given, 'protocol', 'lb_algorithm');
  octavia.checkQuota('Pool', store.pools, caller);
  const own = present(given);
  for (const name of ['members', 'healthmonitor', 'listener_id', 'loadbalancer_id', 'project_id']) delete own[name];
  const pool = {
    description: '',
    session_persistence: null,
    ...own,
    ...octavia.birth(caller, given),
    loadBalancerId: loadBalancer.id,
  } as unknown as FakePool;
  if (listener) checkPoolOfListener(listener.protocol, pool.protocol);
  if (listener && listener.default_pool_id !== null) {
    throw octaviaRefusal(409, 'This listener already has a default pool');
  }
  checkPool(pool, loadBalancer);
  store.addPool(pool);
  if (listener) {
    listener.default_pool_id = pool.id;
    listener.updated_at = octavia.timestamp();
  }
  return pool;
}

/** What a POST of a load balancer or of a pool names below the pool. */
export function addPoolChildren(
  octavia: Octavia,
  loadBalancer: FakeLoadBalancer,
  pool: FakePool,
  given: Attributes,
  caller: Caller,
): void {
  const members = ((given['members'] as readonly Attributes[] | null | undefined) ?? []).map((member) =>
    newMember(octavia, pool, checkAttributes('member POST', member), caller),
  );
  checkNewMembers(octavia, loadBalancer, pool, members, caller);
  for (const member of members) octavia.store.addMember(member);
  const monitor = given['healthmonitor'];
  if (monitor != null) {
    addMonitor(octavia, loadBalancer, pool, checkAttributes('healthmonitor child', monitor as Attributes), caller);
  }
}

/** What is not said of a member, at its birth or in a batch that names it again. */
export const memberDefaults = { weight: 1, backup: false, monitor_address: null, monitor_port: null };

export function newMember(octavia: Octavia, pool: FakePool, given: Attributes, caller: Caller): FakeMember {
  needed(given, 'address', 'protocol_port');
  const { project_id: _, ...own } = present(given);
  return {
    ...memberDefaults,
    subnet_id: null,
    ...own,
    ...octavia.birth(caller, given),
    operating_status: octavia.store.monitorOf(pool.id) ? 'OFFLINE' : 'NO_MONITOR',
    poolId: pool.id,
  } as unknown as FakeMember;
}

/** Throws for members that are there already, in a subnet that is not, above the quota or of the wrong family. */
export function checkNewMembers(
  octavia: Octavia,
  loadBalancer: FakeLoadBalancer,
  pool: FakePool,
  members: readonly FakeMember[],
  caller: Caller,
): void {
  const { store, networking } = octavia;
  const taken = new Set(store.membersOf(pool.id).map(keyOf));
  for (const member of members) {
    if (taken.has(keyOf(member))) {
      throw octaviaRefusal(
        409,
        `Another member on this pool is already using ip ${member.address} on protocol_port ${member.protocol_port}`,
      );
    }
    taken.add(keyOf(member));
    if (member.subnet_id !== null && !networking.networks.subnets.get(member.subnet_id)) {
      throw octaviaRefusal(400, `Subnet ${member.subnet_id} not found.`);
    }
  }
  checkMembers(members, pool, loadBalancer);
  octavia.checkQuota('Member', store.members, caller, members.length);
}

export const keyOf = ({ address, protocol_port }: Pick<FakeMember, 'address' | 'protocol_port'>): string =>
  `${address} ${protocol_port}`;

export function addMonitor(
  octavia: Octavia,
  loadBalancer: FakeLoadBalancer,
  pool: FakePool,
  given: Attributes,
  caller: Caller,
): FakeHealthMonitor {
  const { store } = octavia;
  needed(given, 'type', 'delay', 'timeout', 'max_retries');
  octavia.checkQuota('Health Monitor', store.monitors, caller);
  if (store.monitorOf(pool.id)) throw octaviaRefusal(409, 'This pool already has a health monitor');
  const { pool_id: _, project_id: __, ...own } = present(given);
  const isHttp = given['type'] === 'HTTP' || given['type'] === 'HTTPS';
  const monitor = {
    max_retries_down: 3,
    http_method: isHttp ? 'GET' : null,
    url_path: isHttp ? '/' : null,
    expected_codes: isHttp ? '200' : null,
    ...own,
    ...octavia.birth(caller, given),
    poolId: pool.id,
  } as unknown as FakeHealthMonitor;
  checkMonitor(monitor, pool, loadBalancer);
  store.addMonitor(monitor);
  return monitor;
}
