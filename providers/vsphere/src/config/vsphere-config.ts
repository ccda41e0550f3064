/** The configuration of the provider, whichever of its file formats it was read from. */
import type { AddressRules, IpFamily } from '../instances/node-addresses.ts';

/** How one logs in. A user that is a PEM certificate gets a SAML token for it, and the password is its private key. */
export type VcenterCredentials =
  | { readonly kind: 'user'; readonly user: string; readonly password: string }
  | { readonly kind: 'certificate'; readonly certificate: string; readonly privateKey: string }
  | { readonly kind: 'session-manager'; readonly url: string; readonly token: string };

/** One vCenter. */
export interface VcenterSettings {
  /** The section's name: `[VirtualCenter "<name>"]`, or a key of `vcenter`. */
  readonly name: string;
  /** Host name or IP address. */
  readonly server: string;
  readonly port: number;
  readonly credentials: VcenterCredentials;
  /** The certificate is not verified. */
  readonly insecure: boolean;
  /** Path of the certificate authorities, PEM. Default: the system's. */
  readonly caFile: string | undefined;
  /** SHA-1 or SHA-256 of the certificate, in hexadecimal digits with colons between bytes. */
  readonly thumbprint: string | undefined;
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
