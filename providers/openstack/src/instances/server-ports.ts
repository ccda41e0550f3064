/** The Neutron ports of servers, as far as node addresses need them. */

interface FixedIP {
  readonly ip_address: string;
  readonly subnet_id?: string;
}

export interface Port {
  readonly id: string;
  readonly device_id: string;
  readonly network_id: string;
  readonly status: string;
  readonly fixed_ips: readonly FixedIP[];
  /** Of a port that is the parent of a trunk; extension `trunk-details`. */
  readonly trunk_details?: { readonly sub_ports: readonly { readonly port_id: string }[] } | null;
}

/** An address that a server has through a subport of a trunk. */
export interface SubportAddress {
  /** The network's name. */
  readonly network: string;
  readonly address: string;
}

export interface ServerPorts {
  /** In the order of their IDs. */
  readonly ports: readonly Port[];
  readonly subports: readonly SubportAddress[];
}
