/**
 * Every key of `cloud.conf` that cloud-provider-openstack reads, and what becomes of it here: the one table from which the
 * file is read and its page is made. Source: pkg/client/client.go, pkg/openstack/openstack.go, pkg/util/metadata/metadata.go.
 */
import type {
  GlobalConfig,
  LoadBalancerClassConfig,
  LoadBalancerConfig,
  MetadataConfig,
  NetworkingConfig,
  RouteConfig,
} from './cloud-config.ts';
import {
  bool,
  cidrs,
  duration,
  endpointType,
  metadataSources,
  repeated,
  text,
  textOr,
  trueOrFalse,
  wholeNumber,
  type ValueKind,
} from './value-kinds.ts';

/** A key that is served. */
export interface ServedKey<T> {
  /** As in `cloud.conf`. */
  readonly key: string;
  readonly kind: ValueKind<T>;
  readonly byDefault: T;
  readonly meaning: string;
  /** Its value is never shown. */
  readonly secret?: true;
  /** Upstream has no such key, and reads over it. */
  readonly own?: true;
}

/** A key of upstream that changes nothing here. */
export interface UnservedKey {
  readonly key: string;
  /** `ignored`: with a warning. `refused`: the config is not taken. */
  readonly status: 'ignored' | 'refused';
  /** Values with which it says what holds anyway: neither warned of nor refused. */
  readonly harmless: readonly string[];
  readonly why: string;
}

/** One section: the keys that make up its part of the config, and those that do not. */
export interface Section<S> {
  readonly name: string;
  readonly keys: { readonly [Member in keyof S]-?: ServedKey<S[Member]> };
  readonly unserved: readonly UnservedKey[];
}

const optional = (key: string, meaning: string): ServedKey<string | undefined> => ({
  key,
  kind: text,
  byDefault: undefined,
  meaning,
});
const secret = (key: string, meaning: string): ServedKey<string | undefined> => ({
  ...optional(key, meaning),
  secret: true,
});
const flag = (key: string, byDefault: boolean, meaning: string): ServedKey<boolean> => ({
  key,
  kind: bool,
  byDefault,
  meaning,
});

export const globalSection: Section<GlobalConfig> = {
  name: 'Global',
  keys: {
    authUrl: optional('auth-url', "Keystone's URL, with `/v3` or without. Required, here or in `clouds.yaml`"),
    userId: optional('user-id', 'The user, by ID; goes before `username`'),
    username: optional('username', 'The user, by name; needs a domain'),
    password: secret('password', "The user's password"),
    tenantId: optional('tenant-id', 'The project, by ID; goes before `tenant-name`'),
    tenantName: optional('tenant-name', 'The project, by name; needs a domain'),
    trustId: optional('trust-id', 'A trust, in place of a project'),
    trusteeId: optional('trustee-id', 'With `trust-id`: the user that is trusted. Else `user-id` or `username`'),
    trusteePassword: secret('trustee-password', 'With `trust-id`: its password. Else `password`'),
    domainId: optional('domain-id', 'The domain of user and project, where they have none of their own'),
    domainName: optional('domain-name', 'The same, by name'),
    tenantDomainId: optional('tenant-domain-id', "The project's domain, by ID"),
    tenantDomainName: optional('tenant-domain-name', "The project's domain, by name"),
    userDomainId: optional('user-domain-id', "The user's domain, by ID"),
    userDomainName: optional('user-domain-name', "The user's domain, by name"),
    region: optional('region', 'Whose end points are used. Required where the catalogue has several'),
    osEndpointType: {
      key: 'os-endpoint-type',
      kind: endpointType,
      byDefault: 'public',
      meaning: 'Which end points of the catalogue are used',
    },
    caFile: optional('ca-file', "PEM bundle of the authorities to believe, in place of the system's"),
    certFile: optional('cert-file', 'Client certificate, PEM; with `key-file`'),
    keyFile: optional('key-file', 'Its private key, PEM'),
    tlsInsecure: {
      key: 'tls-insecure',
      kind: trueOrFalse,
      byDefault: false,
      meaning: "Does not check the servers' certificates; warned of",
    },
    token: secret('token', 'A token of keystone, in place of a password. Cannot be renewed once it has expired'),
    applicationCredentialId: optional('application-credential-id', 'An application credential, by ID'),
    applicationCredentialName: optional('application-credential-name', 'The same, by name; needs the user'),
    applicationCredentialSecret: secret('application-credential-secret', 'Its secret'),
    useClouds: flag('use-clouds', false, 'Reads `clouds.yaml` too; what stands here goes before it'),
    cloudsFile: optional('clouds-file', 'Where `clouds.yaml` is. Else see below'),
    cloud: optional('cloud', 'Which of its clouds. May be left out where there is only one'),
  },
  unserved: [
    {
      key: 'cafilecontents',
      status: 'refused',
      harmless: [''],
      why: 'another program’s option that the file format lets through by chance; put the certificates into a file and name it with ca-file',
    },
  ],
};

export const networkingSection: Section<NetworkingConfig> = {
  name: 'Networking',
  keys: {
    ipv6SupportDisabled: flag('ipv6-support-disabled', false, 'Nodes get no IPv6 addresses'),
    publicNetworkName: {
      key: 'public-network-name',
      kind: repeated,
      byDefault: [],
      meaning: "Addresses in this network are a node's ExternalIP",
    },
    internalNetworkName: {
      key: 'internal-network-name',
      kind: repeated,
      byDefault: [],
      meaning: "Addresses in this network are a node's InternalIP, and others are not",
    },
    addressSortOrder: {
      key: 'address-sort-order',
      kind: cidrs,
      byDefault: [],
      meaning: "Orders a node's addresses: those in the first CIDR first",
    },
  },
  unserved: [],
};

export const loadBalancerSection: Section<LoadBalancerConfig> = {
  name: 'LoadBalancer',
  keys: {
    enabled: flag('enabled', true, 'Services get load balancers'),
    subnetId: optional('subnet-id', "The subnet of the load balancer's address"),
    memberSubnetId: optional('member-subnet-id', 'The subnet in which the nodes are reached'),
    networkId: optional('network-id', "The network of the load balancer's address, where no subnet is named"),
    floatingNetworkId: optional('floating-network-id', 'The external network of floating IPs'),
    floatingSubnetId: optional('floating-subnet-id', 'The subnet of floating IPs'),
    floatingSubnet: optional(
      'floating-subnet',
      'The same by name: a glob, or a regular expression after `~`; `!` in front negates',
    ),
    floatingSubnetTags: optional('floating-subnet-tags', 'The same by tags, separated by commas'),
    lbMethod: {
      key: 'lb-method',
      kind: textOr('ROUND_ROBIN'),
      byDefault: 'ROUND_ROBIN',
      meaning:
        'How a member is chosen: `ROUND_ROBIN`, `LEAST_CONNECTIONS`, `SOURCE_IP`; `ovn` has `SOURCE_IP_PORT` in place of what it has not',
    },
    lbProvider: {
      key: 'lb-provider',
      kind: textOr('amphora', ['amphora', 'octavia', 'ovn', 'f5', 'amphorav2']),
      byDefault: 'amphora',
      meaning: "Octavia's provider; `ovn` is *fake only*: never run on a real one",
    },
    createMonitor: flag('create-monitor', false, 'Load balancers have health monitors'),
    monitorDelayMs: { key: 'monitor-delay', kind: duration(), byDefault: 5000, meaning: 'Time between two probes' },
    monitorTimeoutMs: {
      key: 'monitor-timeout',
      kind: duration(),
      byDefault: 3000,
      meaning: 'Time for which a probe waits',
    },
    monitorMaxRetries: {
      key: 'monitor-max-retries',
      kind: wholeNumber(1, 10),
      byDefault: 1,
      meaning: 'Good probes after which a member is ONLINE',
    },
    monitorMaxRetriesDown: {
      key: 'monitor-max-retries-down',
      kind: wholeNumber(1, 10),
      byDefault: 3,
      meaning: 'Bad probes after which a member is in ERROR',
    },
    manageSecurityGroups: flag(
      'manage-security-groups',
      false,
      'A security group for each Service opens its node ports',
    ),
    internalLb: flag('internal-lb', false, 'Load balancers have no floating IP, unless the Service says so'),
    nodeSelector: optional('node-selector', 'Only nodes with these labels are members: `env=production, region`'),
    cascadeDelete: flag('cascade-delete', true, 'A load balancer is deleted with all of its parts in one request'),
    flavorId: optional('flavor-id', "Octavia's flavor"),
    availabilityZone: optional('availability-zone', "Octavia's availability zone"),
    enableIngressHostname: flag(
      'enable-ingress-hostname',
      false,
      'With the PROXY protocol: the status has a host name in place of the address',
    ),
    ingressHostnameSuffix: {
      key: 'ingress-hostname-suffix',
      kind: textOr('nip.io'),
      byDefault: 'nip.io',
      meaning: 'What that host name ends in',
    },
    maxSharedLb: {
      key: 'max-shared-lb',
      kind: wholeNumber(1, Infinity),
      byDefault: 2,
      meaning: 'Services to one load balancer, at most',
    },
    containerStore: {
      key: 'container-store',
      kind: textOr('barbican', ['barbican', 'external']),
      byDefault: 'barbican',
      meaning:
        'Where TLS containers are: of `barbican` a reference ends in `/containers/…` or `/secrets/…`. *Fake only*: never run on a real Barbican',
    },
    providerRequiresSerialApiCalls: flag(
      'provider-requires-serial-api-calls',
      false,
      'Load balancers are built in many requests, never in one',
    ),
    defaultTlsContainerRef: optional(
      'default-tls-container-ref',
      'The TLS container of Services that name none: they get TERMINATED_HTTPS. *Fake only*',
    ),
    allowAllNamedResources: {
      ...flag(
        'allow-all-named-resources',
        false,
        'Services may name any free floating IP, any port, network, subnet and load balancer of nobody’s of the project, as with cloud-provider-openstack. Without it: what has the tag `outrigger-namespace=<their namespace>`',
      ),
      own: true,
    },
    previousClusterName: {
      ...optional(
        'previous-cluster-name',
        '`--cluster-name` of the manager whose load balancers are taken over, where it was another',
      ),
      own: true,
    },
  },
  unserved: [
    {
      key: 'lb-version',
      status: 'refused',
      harmless: ['', 'v2'],
      why: 'there is no other version than v2; take the line out',
    },
  ],
};

export const loadBalancerClassSection: Section<LoadBalancerClassConfig> = {
  name: 'LoadBalancerClass',
  keys: {
    floatingNetworkId: optional('floating-network-id', 'As in `[LoadBalancer]`, for Services of this class'),
    floatingSubnetId: optional('floating-subnet-id', 'The same'),
    floatingSubnet: optional('floating-subnet', 'The same'),
    floatingSubnetTags: optional('floating-subnet-tags', 'The same'),
    networkId: optional('network-id', 'The same'),
    subnetId: optional('subnet-id', 'The same'),
    memberSubnetId: optional('member-subnet-id', 'The same'),
  },
  unserved: [],
};

export const routeSection: Section<RouteConfig> = {
  name: 'Route',
  keys: {
    routerId: optional('router-id', "Neutron's router that gets the routes to Pods. Without it there are none"),
  },
  unserved: [],
};

export const metadataSection: Section<MetadataConfig> = {
  name: 'Metadata',
  keys: {
    searchOrder: {
      key: 'search-order',
      kind: metadataSources,
      byDefault: ['configDrive', 'metadataService'],
      meaning: 'Where a node asks which instance it is. Nothing that runs beside the API server asks',
    },
    requestTimeoutMs: {
      key: 'request-timeout',
      kind: duration(60_000),
      byDefault: 60_000,
      meaning: "Time for which any request waits for its answer, OpenStack's too; 0 is the default",
    },
  },
  unserved: [],
};
