/**
 * Every key of `cloud.conf` that cloud-provider-openstack reads, and what becomes of it here: the one table from which the
 * file is read and, with `scripts/openstack-pages/cloud-conf-meanings.ts`, its page is made. Source: pkg/client/client.go, pkg/openstack/openstack.go,
 * pkg/util/metadata/metadata.go.
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
  boolOrAtStart,
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

const served = <T>(key: string, kind: ValueKind<T>, byDefault: T): ServedKey<T> => ({ key, kind, byDefault });
const optional = (key: string): ServedKey<string | undefined> => served(key, text, undefined);
const secret = (key: string): ServedKey<string | undefined> => ({ ...optional(key), secret: true });
const flag = (key: string, byDefault: boolean): ServedKey<boolean> => served(key, bool, byDefault);

export const globalSection: Section<GlobalConfig> = {
  name: 'Global',
  keys: {
    authUrl: optional('auth-url'),
    userId: optional('user-id'),
    username: optional('username'),
    password: secret('password'),
    tenantId: optional('tenant-id'),
    tenantName: optional('tenant-name'),
    trustId: optional('trust-id'),
    trusteeId: optional('trustee-id'),
    trusteePassword: secret('trustee-password'),
    domainId: optional('domain-id'),
    domainName: optional('domain-name'),
    tenantDomainId: optional('tenant-domain-id'),
    tenantDomainName: optional('tenant-domain-name'),
    userDomainId: optional('user-domain-id'),
    userDomainName: optional('user-domain-name'),
    region: optional('region'),
    osEndpointType: served('os-endpoint-type', endpointType, 'public'),
    caFile: optional('ca-file'),
    certFile: optional('cert-file'),
    keyFile: optional('key-file'),
    tlsInsecure: served('tls-insecure', trueOrFalse, false),
    token: secret('token'),
    applicationCredentialId: optional('application-credential-id'),
    applicationCredentialName: optional('application-credential-name'),
    applicationCredentialSecret: secret('application-credential-secret'),
    useClouds: flag('use-clouds', false),
    cloudsFile: optional('clouds-file'),
    cloud: optional('cloud'),
  },
  unserved: [
    {
      key: 'cafilecontents',
      status: 'refused',
      harmless: [''],
      why: 'an option of another program that the file format happens to accept; put the certificates into a file and name it with ca-file',
    },
  ],
};

export const networkingSection: Section<NetworkingConfig> = {
  name: 'Networking',
  keys: {
    ipv6SupportDisabled: flag('ipv6-support-disabled', false),
    publicNetworkName: served('public-network-name', repeated, []),
    internalNetworkName: served('internal-network-name', repeated, []),
    addressSortOrder: served('address-sort-order', cidrs, []),
  },
  unserved: [],
};

export const loadBalancerSection: Section<LoadBalancerConfig> = {
  name: 'LoadBalancer',
  keys: {
    enabled: flag('enabled', true),
    subnetId: optional('subnet-id'),
    memberSubnetId: optional('member-subnet-id'),
    networkId: optional('network-id'),
    floatingNetworkId: optional('floating-network-id'),
    floatingSubnetId: optional('floating-subnet-id'),
    floatingSubnet: optional('floating-subnet'),
    floatingSubnetTags: optional('floating-subnet-tags'),
    lbMethod: served('lb-method', textOr('ROUND_ROBIN'), 'ROUND_ROBIN'),
    lbProvider: served('lb-provider', textOr('amphora', ['amphora', 'octavia', 'ovn', 'f5', 'amphorav2']), 'amphora'),
    createMonitor: flag('create-monitor', false),
    monitorDelayMs: served('monitor-delay', duration(), 5000),
    monitorTimeoutMs: served('monitor-timeout', duration(), 3000),
    monitorMaxRetries: served('monitor-max-retries', wholeNumber(1, 10), 1),
    monitorMaxRetriesDown: served('monitor-max-retries-down', wholeNumber(1, 10), 3),
    manageSecurityGroups: flag('manage-security-groups', false),
    internalLb: flag('internal-lb', false),
    nodeSelector: optional('node-selector'),
    cascadeDelete: flag('cascade-delete', true),
    flavorId: optional('flavor-id'),
    availabilityZone: optional('availability-zone'),
    enableIngressHostname: flag('enable-ingress-hostname', false),
    ingressHostnameSuffix: served('ingress-hostname-suffix', textOr('nip.io'), 'nip.io'),
    maxSharedLb: served('max-shared-lb', wholeNumber(1, Infinity), 2),
    containerStore: served('container-store', textOr('barbican', ['barbican', 'external']), 'barbican'),
    providerRequiresSerialApiCalls: flag('provider-requires-serial-api-calls', false),
    defaultTlsContainerRef: optional('default-tls-container-ref'),
    allowAllNamedResources: { ...flag('allow-all-named-resources', false), own: true },
    foreignNodes: { ...served('foreign-nodes', boolOrAtStart, 'at-start'), own: true },
    previousClusterName: { ...optional('previous-cluster-name'), own: true },
  },
  unserved: [
    {
      key: 'lb-version',
      status: 'refused',
      harmless: ['', 'v2'],
      why: 'there is no version but v2; remove the line',
    },
  ],
};

export const loadBalancerClassSection: Section<LoadBalancerClassConfig> = {
  name: 'LoadBalancerClass',
  keys: {
    floatingNetworkId: optional('floating-network-id'),
    floatingSubnetId: optional('floating-subnet-id'),
    floatingSubnet: optional('floating-subnet'),
    floatingSubnetTags: optional('floating-subnet-tags'),
    networkId: optional('network-id'),
    subnetId: optional('subnet-id'),
    memberSubnetId: optional('member-subnet-id'),
  },
  unserved: [],
};

export const routeSection: Section<RouteConfig> = {
  name: 'Route',
  keys: {
    routerId: optional('router-id'),
  },
  unserved: [],
};

export const metadataSection: Section<MetadataConfig> = {
  name: 'Metadata',
  keys: {
    searchOrder: served('search-order', metadataSources, ['configDrive', 'metadataService']),
    requestTimeoutMs: served('request-timeout', duration(60_000), 60_000),
  },
  unserved: [],
};
