/** One load balancer as Octavia and Neutron describe it, in a form that a test can state what it expects of. */
import type { LabCloud } from './lab-cloud.ts';

export interface OctaviaTree {
  readonly id: string;
  readonly name: string;
  readonly provisioningStatus: string;
  readonly flavorId: string | null;
  readonly availabilityZone: string | null;
  readonly tags: readonly string[];
  readonly vip: string;
  readonly vipPortId: string;
  readonly vipSubnetId: string;
  readonly additionalVips: readonly string[];
  /** Of the VIP's port. */
  readonly floatingIP: string | undefined;
  /** By protocol and port. */
  readonly listeners: readonly OctaviaListener[];
}

export interface OctaviaListener {
  /** `TCP 80`. */
  readonly at: string;
  readonly provisioningStatus: string;
  readonly tags: readonly string[];
  readonly allowedCidrs: readonly string[];
  readonly connectionLimit: number;
  readonly clientTimeoutMs: number;
  readonly insertHeaders: Readonly<Record<string, string>>;
  readonly pool: OctaviaPool | undefined;
}

interface OctaviaPool {
  readonly protocol: string;
  readonly algorithm: string;
  readonly persistence: string | undefined;
  readonly provisioningStatus: string;
  /** `10.20.0.7:30080`, sorted. */
  readonly members: readonly string[];
  /** `HTTP /healthz`, `TCP`. */
  readonly monitor: string | undefined;
}

interface Ref {
  readonly id: string;
}

interface Status {
  readonly provisioning_status: string;
}

interface LoadBalancerRow extends Ref, Status {
  readonly name: string;
  readonly flavor_id: string | null;
  readonly availability_zone: string | null;
  readonly tags: readonly string[];
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly vip_subnet_id: string;
  readonly additional_vips: readonly { readonly ip_address: string }[];
}

interface ListenerRow extends Ref, Status {
  readonly protocol: string;
  readonly protocol_port: number;
  readonly tags: readonly string[];
  readonly allowed_cidrs: readonly string[] | null;
  readonly connection_limit: number;
  readonly timeout_client_data: number;
  readonly insert_headers: Readonly<Record<string, string>>;
  readonly default_pool_id: string | null;
}

interface PoolRow extends Ref, Status {
  readonly protocol: string;
  readonly lb_algorithm: string;
  readonly session_persistence: { readonly type: string } | null;
  /** Not there where there is none. */
  readonly healthmonitor_id?: string | null;
}

interface MemberRow extends Status {
  readonly address: string;
  readonly protocol_port: number;
}

interface MonitorRow {
  readonly type: string;
  readonly url_path: string | null;
}

/** All of the user's project. */
export async function octaviaTrees(cloud: LabCloud): Promise<readonly OctaviaTree[]> {
  const rows = await cloud.list<LoadBalancerRow>('load-balancer', '/loadbalancers');
  return Promise.all(rows.map((row) => treeOf(cloud, row)));
}

async function treeOf(cloud: LabCloud, row: LoadBalancerRow): Promise<OctaviaTree> {
  const [listeners, floating] = await Promise.all([
    cloud.list<ListenerRow>('load-balancer', `/listeners?loadbalancer_id=${row.id}`),
    cloud.list<{ readonly floating_ip_address: string }>('network', `/floatingips?port_id=${row.vip_port_id}`),
  ]);
  const described = await Promise.all(listeners.map((listener) => listenerOf(cloud, listener)));
  return {
    id: row.id,
    name: row.name,
    provisioningStatus: row.provisioning_status,
    flavorId: row.flavor_id,
    availabilityZone: row.availability_zone,
    tags: row.tags,
    vip: row.vip_address,
    vipPortId: row.vip_port_id,
    vipSubnetId: row.vip_subnet_id,
    additionalVips: row.additional_vips.map(({ ip_address }) => ip_address),
    floatingIP: floating[0]?.floating_ip_address,
    listeners: described.toSorted((one, other) => (one.at < other.at ? -1 : 1)),
  };
}

async function listenerOf(cloud: LabCloud, row: ListenerRow): Promise<OctaviaListener> {
  return {
    at: `${row.protocol} ${row.protocol_port}`,
    provisioningStatus: row.provisioning_status,
    tags: row.tags,
    allowedCidrs: (row.allowed_cidrs ?? []).toSorted(),
    connectionLimit: row.connection_limit,
    clientTimeoutMs: row.timeout_client_data,
    insertHeaders: row.insert_headers,
    pool: row.default_pool_id === null ? undefined : await poolOf(cloud, row.default_pool_id),
  };
}

/** `undefined` when it goes just now. */
async function poolOf(cloud: LabCloud, id: string): Promise<OctaviaPool | undefined> {
  const gone = { accept: [404] };
  const { pool } = await cloud.request<{ pool?: PoolRow }>('load-balancer', 'GET', `/pools/${id}`, gone);
  const answer = await cloud.request<{ members?: readonly MemberRow[] }>(
    'load-balancer',
    'GET',
    `/pools/${id}/members`,
    gone,
  );
  const { members } = answer;
  if (!pool || !members) return undefined;
  return {
    protocol: pool.protocol,
    algorithm: pool.lb_algorithm,
    persistence: pool.session_persistence?.type,
    provisioningStatus:
      [pool, ...members].find((part) => part.provisioning_status !== 'ACTIVE')?.provisioning_status ?? 'ACTIVE',
    members: members.map(({ address, protocol_port }) => `${address}:${protocol_port}`).toSorted(),
    monitor: pool.healthmonitor_id == null ? undefined : await monitorOf(cloud, pool.healthmonitor_id),
  };
}

async function monitorOf(cloud: LabCloud, id: string): Promise<string | undefined> {
  const path = `/healthmonitors/${id}`;
  const answer = await cloud.request<{ healthmonitor?: MonitorRow }>('load-balancer', 'GET', path, { accept: [404] });
  if (!answer.healthmonitor) return undefined;
  const { type, url_path } = answer.healthmonitor;
  return type === 'HTTP' ? `${type} ${url_path}` : type;
}

/** Whether the load balancer and all that hangs on it are ACTIVE. */
export function isActive({ listeners, provisioningStatus }: OctaviaTree): boolean {
  const parts = listeners.flatMap((listener) => [
    listener.provisioningStatus,
    listener.pool?.provisioningStatus ?? 'ACTIVE',
  ]);
  return [provisioningStatus, ...parts].every((status) => status === 'ACTIVE');
}
