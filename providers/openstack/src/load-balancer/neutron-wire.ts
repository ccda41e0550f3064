/** What Neutron v2.0 answers, as far as load balancers need it. Source: https://docs.openstack.org/api-ref/network/v2/ */

export interface WireFloatingIP {
  readonly id: string;
  readonly floating_ip_address: string;
  readonly floating_network_id: string;
  readonly port_id: string | null;
  /** Of the extension `expose-port-forwarding-in-fip`: the ports of other addresses to which those of this one lead, while `port_id` is null. */
  readonly port_forwardings?: readonly object[];
  readonly description?: string;
  /** Of the extension `standard-attr-revisions`. */
  readonly revision_number?: number;
  readonly tags?: readonly string[];
}

export interface WireSecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security_group_rules?: readonly WireRule[];
}

interface WireRule {
  readonly id: string;
  readonly direction: string;
  readonly ethertype: string;
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly remote_group_id?: string | null;
}

export interface WirePort {
  readonly id: string;
  readonly device_id: string;
  readonly fixed_ips: readonly { readonly subnet_id: string; readonly ip_address: string }[];
  readonly security_groups: readonly string[];
  readonly port_security_enabled?: boolean;
  readonly revision_number?: number;
}

/** A port, network or subnet that a Service names. */
export interface WireNamed extends Partial<Pick<WirePort, 'fixed_ips'>> {
  readonly id: string;
  readonly tags?: readonly string[];
  /** Of a port or subnet. */
  readonly network_id?: string;
}

export interface WireSubnet {
  readonly id: string;
  readonly name: string;
  readonly network_id: string;
  readonly cidr: string;
  readonly ip_version: 4 | 6;
  readonly tags?: readonly string[];
}
