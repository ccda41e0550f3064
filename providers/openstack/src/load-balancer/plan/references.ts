/** What a planned body refers to and only Neutron knows. */
import type { IPFamily } from '@outrigger/cloud-provider';

/** Stands in a planned body for an ID that only Neutron knows: `apply` puts it in its place, and decides nothing. */
export interface Reference {
  readonly lookUp: LookUp;
}

export type LookUp =
  | SubnetLookUp
  /** The port of the virtual IP of the load balancer with this tag, which the same plan makes. */
  | { readonly vipPortOf: string };

export type SubnetLookUp =
  /** The one in which most of the nodes lie that the change names. */
  | { readonly subnetOf: 'nodes' }
  /** The only one of the family in this network. */
  | { readonly family: IPFamily; readonly network: NetworkLookUp };

export type NetworkLookUp =
  | { readonly id: string }
  | { readonly ofPort: string }
  | { readonly ofSubnet: string | Reference | undefined };
