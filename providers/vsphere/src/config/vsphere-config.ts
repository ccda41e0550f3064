/** The configuration of the provider, whichever of its file formats it was read from. */
import type { AddressRules, IpFamily } from '@outrigger/provider-kit';
import type { VcenterConnection } from '../inventory/open-vcenter.ts';

/** One vCenter. */
export interface VcenterSettings extends VcenterConnection {
  /** The section's name: `[VirtualCenter "<name>"]`, or a key of `vcenter`. */
  readonly name: string;
  /** Names or inventory paths. Empty: all. */
  readonly datacenters: readonly string[];
  /** Of its nodes' addresses, in this order. */
  readonly families: readonly IpFamily[];
}

/** Names of tag categories. */
export interface ZoneCategories {
  readonly zone: string;
  readonly region: string;
}

export interface VsphereConfig {
  /** One at least, in the order of the file. */
  readonly vcenters: readonly VcenterSettings[];
  /** Absent unless both categories are named, as upstream (`zones.go`). */
  readonly zones: ZoneCategories | undefined;
  /** Without the families, which each vCenter has. */
  readonly addresses: Omit<AddressRules, 'families'>;
  /** Files whose change is a change of the configuration: credentials, certificate authorities. */
  readonly files: readonly string[];
}
