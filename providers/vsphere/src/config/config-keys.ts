/**
 * Every key of the configuration, in each of its formats: cloud-provider-vsphere's YAML and INI (pkg/common/config/types_*.go,
 * pkg/cloudprovider/vsphere/config/types_*.go), and what the in-tree provider's `vsphere.conf` has beside. The file is read by these, and its page is made of them.
 */
import type { Cidr } from '@outrigger/cloud-provider';
import {
  bool,
  cidr,
  listOf,
  named,
  optional,
  secret,
  text,
  thumbprint,
  unused,
  wholeNumber,
  type ConfigKey,
  type IpFamily,
  type NamedSections,
  type ValueKind,
} from '@outrigger/provider-kit';

type Optional<T> = ConfigKey<T | undefined>;
type Unused = Optional<true>;

export type VcenterKeys = {
  readonly server: Optional<string>;
  readonly port: Optional<number>;
  readonly user: Optional<string>;
  readonly password: Optional<string>;
  readonly insecureFlag: Optional<boolean>;
  readonly datacenters: Optional<readonly string[]>;
  readonly caFile: Optional<string>;
  readonly thumbprint: Optional<string>;
  readonly ipFamily: Optional<readonly IpFamily[]>;
  readonly secretName: Optional<string>;
  readonly secretNamespace: Optional<string>;
  readonly soapRoundtripCount: Unused;
};

type GlobalKeys = VcenterKeys & {
  readonly secretsDirectory: Optional<string>;
  readonly apiDisable: Unused;
  readonly apiBinding: Unused;
};

type CommonKeys = {
  readonly labels: { readonly zone: Optional<string>; readonly region: Optional<string> };
  readonly nodes: {
    readonly internalNetworkSubnetCidr: ConfigKey<readonly Cidr[]>;
    readonly externalNetworkSubnetCidr: ConfigKey<readonly Cidr[]>;
    readonly internalVmNetworkName: Optional<string>;
    readonly externalVmNetworkName: Optional<string>;
    readonly excludeInternalNetworkSubnetCidr: ConfigKey<readonly Cidr[]>;
    readonly excludeExternalNetworkSubnetCidr: ConfigKey<readonly Cidr[]>;
  };
  readonly loadBalancer: Unused;
  readonly loadBalancerClass: Unused;
  readonly nsxt: Unused;
  readonly route: Unused;
};

type InTreeKeys = {
  readonly global: {
    readonly datacenter: Optional<readonly string[]>;
    readonly datastore: Unused;
    readonly workingDir: Unused;
    readonly vmUuid: Unused;
    readonly vmName: Unused;
  };
  readonly workspace: Unused;
  readonly network: Unused;
  readonly disk: Unused;
};

const cidrs: ValueKind<readonly Cidr[]> = listOf(cidr);

const family: ValueKind<IpFamily> = {
  name: 'ipv4 or ipv6',
  read: (value) => (['ipv4', 'ipv6'] as const).find((one) => one === String(value).toLowerCase()),
};

const NSX = 'load balancers and routes of NSX-T are not supported yet';
const SECRET = 'The Secret is not read through the API: mount it as files, see `secretsDirectory`';

const vcenterKeys: VcenterKeys = {
  server: optional(text, 'Host name or IP address. In INI, the name of the section where it is not set'),
  port: optional(wholeNumber(1, 65_535), 'Default: 443'),
  user: optional(text, 'The user; or a certificate in PEM, for a SAML token'),
  password: secret(optional(text, "The user's password; or the private key of the certificate in PEM")),
  insecureFlag: optional(bool, "Does not verify the server's certificate; logs a warning"),
  datacenters: optional(
    listOf(text),
    'Names or inventory paths of the datacenters that the nodes are in. Default: all',
  ),
  caFile: optional(text, "PEM bundle of the certificate authorities to trust, in place of the system's"),
  thumbprint: optional(thumbprint, 'Fingerprint of the one certificate to trust'),
  ipFamily: optional(
    listOf(family),
    "Families of the nodes' addresses, the preferred first; each node has to have them all. Default: ipv4",
  ),
  secretName: optional(text, SECRET),
  secretNamespace: optional(text, SECRET),
  soapRoundtripCount: unused('requests are tried again as `--cloud-call-limits` and the priority of a call say'),
};

const globalKeys: GlobalKeys = {
  ...vcenterKeys,
  server: optional(text, 'The vCenter, where there are no sections of vCenters'),
  secretsDirectory: optional(
    text,
    'Folder of a mounted Secret with `<server>.username` and `<server>.password`, or with `server_<x>`, `username_<x>` and `password_<x>`, or with `<server>.vc-session-manager-url` and `<server>.vc-session-manager-token`. Watched: a rotation needs no restart. Default: /etc/cloud/secrets, where it exists',
  ),
  apiDisable: unused('there is no such API'),
  apiBinding: unused('there is no such API'),
};

const NO_CIDRS: readonly Cidr[] = [];

const commonKeys: CommonKeys = {
  labels: {
    zone: optional(text, 'Category of the tags that name zones. Needs `region`'),
    region: optional(text, 'Category of the tags that name regions. Needs `zone`'),
  },
  nodes: {
    internalNetworkSubnetCidr: optional(cidrs, 'An address in the first of these subnets is the InternalIP', NO_CIDRS),
    externalNetworkSubnetCidr: optional(cidrs, 'An address in the first of these subnets is the ExternalIP', NO_CIDRS),
    internalVmNetworkName: optional(text, 'Else the first address in the network of this name is the InternalIP'),
    externalVmNetworkName: optional(text, 'Else the first address in the network of this name is the ExternalIP'),
    excludeInternalNetworkSubnetCidr: optional(cidrs, 'Addresses in these subnets are no InternalIP', NO_CIDRS),
    excludeExternalNetworkSubnetCidr: optional(cidrs, 'Addresses in these subnets are no ExternalIP', NO_CIDRS),
  },
  loadBalancer: unused(NSX),
  loadBalancerClass: unused(NSX),
  nsxt: unused(NSX),
  route: unused(NSX),
};

/** Of YAML. */
export const yamlKeys: CommonKeys & {
  readonly global: GlobalKeys;
  readonly vcenter: NamedSections<VcenterKeys>;
} = {
  global: globalKeys,
  vcenter: named(vcenterKeys, 'One vCenter. What it does not set is as in `global`'),
  ...commonKeys,
};

const VOLUMES = 'the CSI driver manages volumes';
const BY_UUID = 'machines are found by UUID in all folders';

/** What only the in-tree provider's file has. */
export const inTreeKeys: InTreeKeys = {
  global: {
    datacenter: optional(listOf(text), 'As `datacenters`'),
    datastore: unused(VOLUMES),
    workingDir: unused(BY_UUID),
    vmUuid: unused(BY_UUID),
    vmName: unused(BY_UUID),
  },
  workspace: unused(VOLUMES),
  network: unused('the addresses of nodes are by `nodes`'),
  disk: unused(VOLUMES),
};

/** Of INI, where keys are written `ca-file`, and sections `[Global]`, `[VirtualCenter "name"]`. */
export const iniKeys: CommonKeys &
  InTreeKeys & {
    readonly global: GlobalKeys;
    readonly virtualCenter: NamedSections<VcenterKeys>;
  } = {
  ...inTreeKeys,
  global: { ...globalKeys, ...inTreeKeys.global },
  virtualCenter: named(vcenterKeys, 'One vCenter. What it does not set is as in `[Global]`'),
  ...commonKeys,
};
