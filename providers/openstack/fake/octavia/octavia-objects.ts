/** What octavia keeps: load balancers, and below each its listeners, pools, members and health monitors. */

export type ProvisioningStatus = 'ACTIVE' | 'PENDING_CREATE' | 'PENDING_UPDATE' | 'PENDING_DELETE' | 'ERROR';
type OperatingStatus = 'ONLINE' | 'OFFLINE' | 'DEGRADED' | 'ERROR' | 'NO_MONITOR' | 'DRAINING';

export interface OctaviaObject {
  readonly id: string;
  readonly project_id: string;
  name: string;
  admin_state_up: boolean;
  provisioning_status: ProvisioningStatus;
  operating_status: OperatingStatus;
  readonly created_at: string;
  updated_at: string | null;
  tags: readonly string[];
}

export interface AdditionalVip {
  readonly subnet_id: string;
  readonly ip_address?: string;
  readonly port_id?: string;
}

export interface FakeLoadBalancer extends OctaviaObject {
  description: string;
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly vip_subnet_id: string;
  readonly vip_network_id: string;
  readonly additional_vips: readonly AdditionalVip[];
  readonly provider: string;
  readonly flavor_id: string | null;
  readonly availability_zone: string | null;
  /** The VIP's port is octavia's own, and goes with the load balancer. */
  readonly ownsPort: boolean;
}

export interface FakeListener extends OctaviaObject {
  readonly loadBalancerId: string;
  description: string;
  readonly protocol: string;
  readonly protocol_port: number;
  connection_limit: number;
  default_tls_container_ref: string | null;
  sni_container_refs: readonly string[];
  default_pool_id: string | null;
  insert_headers: Readonly<Record<string, string>>;
  timeout_client_data: number;
  timeout_member_connect: number;
  timeout_member_data: number;
  timeout_tcp_inspect: number;
  allowed_cidrs: readonly string[] | null;
}

interface SessionPersistence {
  readonly type: string;
  readonly cookie_name?: string | null;
  readonly persistence_timeout?: number | null;
  readonly persistence_granularity?: string | null;
}

export interface FakePool extends OctaviaObject {
  readonly loadBalancerId: string;
  description: string;
  readonly protocol: string;
  lb_algorithm: string;
  session_persistence: SessionPersistence | null;
}

export interface FakeMember extends OctaviaObject {
  readonly poolId: string;
  readonly address: string;
  readonly protocol_port: number;
  weight: number;
  backup: boolean;
  subnet_id: string | null;
  monitor_address: string | null;
  monitor_port: number | null;
}

export interface FakeHealthMonitor extends OctaviaObject {
  readonly poolId: string;
  readonly type: string;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down: number;
  http_method: string | null;
  url_path: string | null;
  expected_codes: string | null;
}
