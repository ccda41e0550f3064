/**
 * Every annotation of a Service that CPO reads or writes (its `pkg/openstack/loadbalancer.go`), and what becomes of it here. The
 * contract's list, the check of values and the page `docs/annotations.md` are made from this table.
 */
import { ANNOTATION_LENGTH } from '@outrigger/cloud-provider';
import { lbMethods } from './desired-tree.ts';

export interface AnnotationRow {
  readonly name: string;
  readonly values: 'boolean' | 'string' | 'uuid' | 'integer' | readonly string[];
  /** Of an integer; both inclusive. */
  readonly range?: readonly [least: number, most: number];
  /** Characters, of what lists things. Default: 255. */
  readonly maxLength?: number;
  /** What it asks for, and what it is without it. */
  readonly description: string;
  /**
   * What becomes of a value that is none. `always`: as if it were not set, with a warning, as CPO does. `once-served`: so only of a
   * Service that has its load balancer, which stays as it is: CPO asks no more, or would give one that was to be internal a floating IP.
   * None is made then, and none of another's joined. Default: it is refused, since CPO sends it on to OpenStack.
   */
  readonly orDefault?: 'always' | 'once-served';
  /** The provider writes it, and does not read what stands there. */
  readonly written?: true;
  /** It names something of the cloud that may be another's, and what one could do by that: see the contract's `ServiceAnnotation`. */
  readonly dangerous?: string;
}

const PREFIX = 'loadbalancer.openstack.org/';

/** Octavia's `MAX_TIMEOUT`, 24 days: HAProxy's timers have 31 bits of milliseconds. */
const TIMEOUT_RANGE = [0, 24 * 24 * 60 * 60 * 1000] as const;
const RETRIES_RANGE = [1, 10] as const;
const COUNT_RANGE = [0, 2 ** 31 - 1] as const;

type Flag = 'internal' | 'keepFloatingIP' | 'xForwardedFor' | 'enableHealthMonitor';
type Count =
  | 'connectionLimit'
  | `timeout${'ClientData' | 'MemberConnect' | 'MemberData' | 'TcpInspect'}`
  | `healthMonitor${'Delay' | 'Timeout' | 'MaxRetries' | 'MaxRetriesDown'}`;
type Id =
  | 'floatingNetworkId'
  | 'floatingSubnetId'
  | 'networkId'
  | 'subnetId'
  | 'memberSubnetId'
  | 'portId'
  | 'flavorId'
  | 'loadBalancerId';
type Text =
  | 'nodeSelector'
  | 'class'
  | 'floatingSubnet'
  | 'floatingSubnetTags'
  | 'availabilityZone'
  | 'tlsContainerRef'
  | 'hostname'
  | 'loadBalancerAddress';
type Word = 'proxyProtocol' | 'lbMethod';

export type AnnotationKey = Flag | Count | Id | Text | Word;
type AnnotationTable = Readonly<
  Record<Flag, AnnotationRow & { readonly values: 'boolean' }> &
    Record<Count, AnnotationRow & { readonly values: 'integer'; readonly range: readonly [number, number] }> &
    Record<Id, AnnotationRow & { readonly values: 'uuid' }> &
    Record<Text, AnnotationRow & { readonly values: 'string' }> &
    Record<Word, AnnotationRow & { readonly values: readonly string[] }>
>;
/** What has been set and checked; an annotation that is not set is `undefined`. */
export type AnnotationValues = Readonly<
  Record<Flag, boolean | undefined> & Record<Count, number | undefined> & Record<Id | Text | Word, string | undefined>
>;

export const annotationTable: AnnotationTable = {
  internal: {
    name: 'service.beta.kubernetes.io/openstack-internal-load-balancer',
    values: 'boolean',
    orDefault: 'once-served',
    description: 'No floating IP. Default: `internal-lb`, which, when true, no Service can undo.',
  },
  nodeSelector: {
    name: `${PREFIX}node-selector`,
    values: 'string',
    maxLength: ANNOTATION_LENGTH,
    description: 'Only nodes with all these labels: `env=production, region`. Default: `node-selector`.',
  },
  class: {
    name: `${PREFIX}class`,
    values: 'string',
    description: 'Name of a `[LoadBalancerClass "…"]` of the cloud config.',
  },
  floatingNetworkId: {
    name: `${PREFIX}floating-network-id`,
    values: 'uuid',
    description: 'Network of the floating IP. Default: `floating-network-id`, else the first external network.',
    dangerous: 'takes addresses of a network that is meant for others',
  },
  floatingSubnetId: {
    name: `${PREFIX}floating-subnet-id`,
    values: 'uuid',
    description: 'Subnet of the floating IP; takes precedence over the two below. Default: `floating-subnet-id`.',
    dangerous: 'takes addresses of a subnet that is meant for others',
  },
  floatingSubnet: {
    name: `${PREFIX}floating-subnet`,
    values: 'string',
    description:
      'Name of the subnet: a glob, or a regular expression after `~`; `!` negates. Default: `floating-subnet`.',
    dangerous: 'takes addresses of a subnet that is meant for others',
  },
  floatingSubnetTags: {
    name: `${PREFIX}floating-subnet-tags`,
    values: 'string',
    maxLength: ANNOTATION_LENGTH,
    description: 'Tags of the subnet: one of `a,b`, all of `&a,b`; `!` negates. Default: `floating-subnet-tags`.',
    dangerous: 'takes addresses of a subnet that is meant for others',
  },
  keepFloatingIP: {
    name: `${PREFIX}keep-floatingip`,
    values: 'boolean',
    orDefault: 'always',
    description: 'The floating IP is kept when the Service is deleted. Default: false.',
  },
  networkId: {
    name: `${PREFIX}network-id`,
    values: 'uuid',
    orDefault: 'once-served',
    description: 'Network of the VIP. Default: `network-id`, else the nodes’ own.',
    dangerous: 'puts a load balancer into a network of others',
  },
  subnetId: {
    name: `${PREFIX}subnet-id`,
    values: 'uuid',
    description: 'Subnet of the VIP, and of the members where nothing else names it. Default: `subnet-id`.',
    dangerous: 'puts a load balancer into a network of others',
  },
  memberSubnetId: {
    name: `${PREFIX}member-subnet-id`,
    values: 'uuid',
    description: 'Subnet in which members are reached. Default: `member-subnet-id`, else `subnet-id`.',
    dangerous: 'connects a load balancer to a network of others',
  },
  portId: {
    name: `${PREFIX}port-id`,
    values: 'uuid',
    orDefault: 'once-served',
    description: 'An existing port that has the VIP.',
    dangerous: 'takes the port, and with it the address, of others',
  },
  connectionLimit: {
    name: `${PREFIX}connection-limit`,
    values: 'integer',
    orDefault: 'always',
    range: [-1, 2 ** 31 - 1],
    description: 'Maximum number of concurrent connections to a listener; -1: no limit. Default: -1.',
  },
  proxyProtocol: {
    name: `${PREFIX}proxy-protocol`,
    values: ['true', 'v1', 'v2', 'false'],
    orDefault: 'always',
    description: 'PROXY protocol to the members, `true` is `v1`. TCP ports only; not with `x-forwarded-for`.',
  },
  xForwardedFor: {
    name: `${PREFIX}x-forwarded-for`,
    values: 'boolean',
    orDefault: 'always',
    description: 'HTTP listeners, which add `X-Forwarded-For`. TCP ports only. Default: false.',
  },
  lbMethod: {
    name: `${PREFIX}lb-method`,
    values: lbMethods,
    description: 'How members are chosen. Default: `lb-method`.',
  },
  timeoutClientData: {
    name: `${PREFIX}timeout-client-data`,
    values: 'integer',
    orDefault: 'always',
    range: TIMEOUT_RANGE,
    description: 'Idle time of a client, in milliseconds. Default: 50,000.',
  },
  timeoutMemberConnect: {
    name: `${PREFIX}timeout-member-connect`,
    values: 'integer',
    orDefault: 'always',
    range: TIMEOUT_RANGE,
    description: 'Time to connect to a member, in milliseconds. Default: 5,000.',
  },
  timeoutMemberData: {
    name: `${PREFIX}timeout-member-data`,
    values: 'integer',
    orDefault: 'always',
    range: TIMEOUT_RANGE,
    description: 'Idle time of a member, in milliseconds. Default: 50,000.',
  },
  timeoutTcpInspect: {
    name: `${PREFIX}timeout-tcp-inspect`,
    values: 'integer',
    orDefault: 'always',
    range: TIMEOUT_RANGE,
    description: 'Wait for more packets to inspect, in milliseconds. Default: 0.',
  },
  enableHealthMonitor: {
    name: `${PREFIX}enable-health-monitor`,
    values: 'boolean',
    orDefault: 'always',
    description: 'A health monitor for each pool; `externalTrafficPolicy: Local` needs it. Default: `create-monitor`.',
  },
  healthMonitorDelay: {
    name: `${PREFIX}health-monitor-delay`,
    values: 'integer',
    orDefault: 'always',
    range: COUNT_RANGE,
    description: 'Interval between two probes, in seconds. Default: `monitor-delay`.',
  },
  healthMonitorTimeout: {
    name: `${PREFIX}health-monitor-timeout`,
    values: 'integer',
    orDefault: 'always',
    range: COUNT_RANGE,
    description: 'Timeout of a probe, in seconds. Default: `monitor-timeout`.',
  },
  healthMonitorMaxRetries: {
    name: `${PREFIX}health-monitor-max-retries`,
    values: 'integer',
    orDefault: 'always',
    range: RETRIES_RANGE,
    description: 'Successful probes until a member is up. Default: `monitor-max-retries`.',
  },
  healthMonitorMaxRetriesDown: {
    name: `${PREFIX}health-monitor-max-retries-down`,
    values: 'integer',
    orDefault: 'always',
    range: RETRIES_RANGE,
    description: 'Failed probes until a member is down. Default: `monitor-max-retries-down`.',
  },
  flavorId: {
    name: `${PREFIX}flavor-id`,
    values: 'uuid',
    orDefault: 'once-served',
    description: 'Octavia flavor. Default: `flavor-id`.',
  },
  availabilityZone: {
    name: `${PREFIX}availability-zone`,
    values: 'string',
    description: 'Octavia availability zone. Default: `availability-zone`.',
  },
  tlsContainerRef: {
    name: `${PREFIX}default-tls-container-ref`,
    values: 'string',
    description:
      'TLS ends at the load balancer, with this certificate (fake only: never run on a real Barbican). TCP ports only. Default: `default-tls-container-ref`.',
    dangerous: 'serves with the certificate of others',
  },
  hostname: {
    name: `${PREFIX}hostname`,
    values: 'string',
    description: 'Host name in the status of the Service, instead of the address.',
  },
  loadBalancerId: {
    name: `${PREFIX}load-balancer-id`,
    values: 'uuid',
    description:
      'The load balancer to use; written when one was created. Another Service’s is shared with it: one of its namespace, or as `--load-balancer-sharing` says.',
    dangerous: 'uses the load balancer, and with it the address, of others',
  },
  loadBalancerAddress: {
    name: `${PREFIX}load-balancer-address`,
    values: 'string',
    description: 'The address of the load balancer, also with `hostname`.',
    written: true,
  },
};
