/** What Octavia v2 answers, as far as it is read here. Source: https://docs.openstack.org/api-ref/load-balancer/v2/ */

export type ProvisioningStatus =
  | 'ACTIVE'
  | 'DELETED'
  | 'ERROR'
  | 'PENDING_CREATE'
  | 'PENDING_UPDATE'
  | 'PENDING_DELETE';

interface Ref {
  readonly id: string;
}

interface Part {
  readonly id: string;
  readonly name: string;
  readonly provisioning_status: ProvisioningStatus;
  /** Since API 2.5 (Stein). */
  readonly tags?: readonly string[];
}

export interface WireLoadBalancer extends Part {
  readonly created_at?: string;
  /** The driver that has made it: `amphora`, `ovn` … */
  readonly provider?: string;
  readonly vip_address: string | null;
  readonly vip_port_id: string | null;
  readonly vip_subnet_id: string | null;
  readonly vip_network_id?: string | null;
  /** Where one is read by its ID. */
  readonly listeners?: readonly Ref[];
  readonly additional_vips?: readonly { readonly ip_address: string; readonly subnet_id: string }[];
}

export interface WireListener extends Part {
  readonly protocol: string;
  readonly protocol_port: number;
  readonly connection_limit: number | null;
  readonly default_pool_id: string | null;
  readonly default_tls_container_ref?: string | null;
  readonly insert_headers?: Readonly<Record<string, string>> | null;
  readonly allowed_cidrs?: readonly string[] | null;
  readonly timeout_client_data?: number | null;
  readonly timeout_member_connect?: number | null;
  readonly timeout_member_data?: number | null;
  readonly timeout_tcp_inspect?: number | null;
  readonly loadbalancers: readonly Ref[];
}

export interface WirePool extends Part {
  /** Of its last change, or of one of a member: `2026-11-21T17:01:08`. Not there before the first. */
  readonly updated_at?: string | null;
  readonly protocol: string;
  readonly lb_algorithm: string;
  readonly session_persistence: { readonly type: string } | null;
  readonly healthmonitor_id: string | null;
  readonly members: readonly Ref[];
  readonly loadbalancers: readonly Ref[];
  readonly listeners: readonly Ref[];
}

export interface WireMember extends Part {
  readonly address: string;
  readonly protocol_port: number;
  readonly monitor_port: number | null;
  readonly subnet_id: string | null;
}

export interface WireMonitor extends Part {
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly max_retries: number;
  readonly max_retries_down: number | null;
  readonly url_path?: string | null;
  readonly http_method?: string | null;
  readonly expected_codes?: string | null;
  readonly pools: readonly Ref[];
}
