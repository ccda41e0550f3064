/** What the routes read of Neutron, as it answers. */

/** Both exactly as they are stored: a route is removed by the same text, host bits included. */
export interface ExtraRoute {
  readonly destination: string;
  readonly nexthop: string;
}

export interface Router {
  readonly id: string;
  readonly routes: readonly ExtraRoute[];
  /** Of the extension `standard-attr-revisions`. */
  readonly revision_number?: number;
}

export interface AddressPair {
  /** An address or a range, as given. */
  readonly ip_address: string;
  readonly mac_address?: string;
}

export interface HopPort {
  readonly id: string;
  /** The server's ID where `device_owner` is `compute:<zone>`. */
  readonly device_id: string;
  readonly device_owner: string;
  readonly fixed_ips: readonly { readonly ip_address: string }[];
  /** Of the extension `allowed-address-pairs`. */
  readonly allowed_address_pairs?: readonly AddressPair[];
  /** Of the extension `port-security`. Without it, every port has it. */
  readonly port_security_enabled?: boolean;
  readonly revision_number?: number;
}
