/**
 * What the cloud config says, read and checked. One member for each key of `cloud.conf` that is served, by the key's name in
 * camel case; a key that is not set and has no default, or is set to nothing, is `undefined`. Defaults are in `cloud-conf-keys.ts`.
 */

export interface CloudConfig {
  readonly global: GlobalConfig;
  readonly networking: NetworkingConfig;
  readonly loadBalancer: LoadBalancerConfig;
  /** `[LoadBalancerClass "name"]`, by name. */
  readonly loadBalancerClasses: ReadonlyMap<string, LoadBalancerClassConfig>;
  readonly route: RouteConfig;
  readonly metadata: MetadataConfig;
  /** `OS_CCM_REGIONAL=true`: provider IDs are `openstack://<region>/<id>`, else `openstack:///<id>`. */
  readonly regional: boolean;
}

/** Which end points of the catalogue are used. */
export type EndpointType = 'public' | 'internal' | 'admin';

/** `[Global]`: how to reach OpenStack, and as whom. Project is what the keys call tenant. */
export interface GlobalConfig {
  /** Keystone's URL, with `/v3` or without. */
  readonly authUrl: string | undefined;
  readonly userId: string | undefined;
  readonly username: string | undefined;
  /** A secret. */
  readonly password: string | undefined;
  readonly tenantId: string | undefined;
  readonly tenantName: string | undefined;
  readonly trustId: string | undefined;
  readonly trusteeId: string | undefined;
  /** A secret. */
  readonly trusteePassword: string | undefined;
  readonly domainId: string | undefined;
  readonly domainName: string | undefined;
  readonly tenantDomainId: string | undefined;
  readonly tenantDomainName: string | undefined;
  readonly userDomainId: string | undefined;
  readonly userDomainName: string | undefined;
  readonly region: string | undefined;
  readonly osEndpointType: EndpointType;
  /** PEM bundle. */
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly tlsInsecure: boolean;
  /** A secret. */
  readonly token: string | undefined;
  readonly applicationCredentialId: string | undefined;
  readonly applicationCredentialName: string | undefined;
  /** A secret. */
  readonly applicationCredentialSecret: string | undefined;
  /** Default: false. Read `clouds.yaml`; what `cloud.conf` sets goes before it. */
  readonly useClouds: boolean;
  readonly cloudsFile: string | undefined;
  readonly cloud: string | undefined;
}

/** `[Networking]`. */
export interface NetworkingConfig {
  readonly ipv6SupportDisabled: boolean;
  /** Repeatable. */
  readonly publicNetworkName: readonly string[];
  /** Repeatable. */
  readonly internalNetworkName: readonly string[];
  /** CIDRs, the first matters most; in `cloud.conf` separated by commas. */
  readonly addressSortOrder: readonly string[];
}

/** `[LoadBalancer]`. */
export interface LoadBalancerConfig {
  readonly enabled: boolean;
  readonly subnetId: string | undefined;
  readonly memberSubnetId: string | undefined;
  readonly networkId: string | undefined;
  readonly floatingNetworkId: string | undefined;
  readonly floatingSubnetId: string | undefined;
  /** A glob, or a regular expression after `~`; `!` negates. */
  readonly floatingSubnet: string | undefined;
  readonly floatingSubnetTags: string | undefined;
  readonly lbMethod: string;
  readonly lbProvider: string;
  readonly createMonitor: boolean;
  /** Milliseconds. */
  readonly monitorDelayMs: number;
  /** Milliseconds. */
  readonly monitorTimeoutMs: number;
  readonly monitorMaxRetries: number;
  readonly monitorMaxRetriesDown: number;
  readonly manageSecurityGroups: boolean;
  readonly internalLb: boolean;
  /** As written: `env=production, region`. */
  readonly nodeSelector: string | undefined;
  readonly cascadeDelete: boolean;
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly enableIngressHostname: boolean;
  /** Default: `nip.io`. */
  readonly ingressHostnameSuffix: string;
  /** Services to one load balancer, at most. */
  readonly maxSharedLb: number;
  readonly containerStore: string;
  readonly providerRequiresSerialApiCalls: boolean;
  readonly defaultTlsContainerRef: string | undefined;
  /**
   * Services may name any free floating IP, and any port, network, subnet and load balancer of nobody's of the project. Not upstream's,
   * where they may. Default: false.
   */
  readonly allowAllNamedResources: boolean;
  /** Nodes that are no servers of nova are members too: `LoadBalancers.takesForeignNodes`. Not upstream's, where all are. Default: `at-start`. */
  readonly foreignNodes: boolean | 'at-start';
  /** What `--cluster-name` was when cloud-provider-openstack made load balancers that are to be taken over. Not upstream's. */
  readonly previousClusterName?: string | undefined;
}

/** `[LoadBalancerClass "name"]`: what the Services of this class get in place of what `[LoadBalancer]` says. */
export type LoadBalancerClassConfig = Pick<
  LoadBalancerConfig,
  | 'floatingNetworkId'
  | 'floatingSubnetId'
  | 'floatingSubnet'
  | 'floatingSubnetTags'
  | 'networkId'
  | 'subnetId'
  | 'memberSubnetId'
>;

/** `[Route]`. */
export interface RouteConfig {
  /** Without it there are no routes. */
  readonly routerId: string | undefined;
}

/** Where a node asks which instance it is. */
export type MetadataSource = 'configDrive' | 'metadataService';

/** `[Metadata]`. */
export interface MetadataConfig {
  readonly searchOrder: readonly MetadataSource[];
  /** Milliseconds; of every request, OpenStack's too. */
  readonly requestTimeoutMs: number;
}
