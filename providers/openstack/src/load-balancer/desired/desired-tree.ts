/**
 * What should be in Octavia and Neutron for one Service: the goal that a plan compares with what was observed. JSON; lists are
 * in a fixed order, so that equal goals are equal texts. An absent member is left to the API's own default, and not compared.
 */
import type { CloudError, IPFamily, LoadBalancerWarning } from '@outrigger/cloud-provider';
import type { LoadBalancerNames } from './load-balancer-names.ts';

/** Either the whole goal or the one reason why there is none; never a goal that leaves out a part of what was asked for. */
export type DesiredTreeResult =
  | { readonly kind: 'tree'; readonly tree: DesiredTree; readonly warnings: readonly LoadBalancerWarning[] }
  /** Code `invalid` (a value that can never be served) or `unsupported` (this cloud does not offer it). */
  | { readonly kind: 'refused'; readonly error: CloudError };

export interface DesiredTree {
  readonly loadBalancer: DesiredOctaviaLoadBalancer;
  /** Too much is asked for: nothing of it is here, and what a predecessor has made is taken over, no more. */
  readonly refused?: CloudError;
  /** In the order of the Service's ports; no two with one port number of one transport protocol. */
  readonly listeners: readonly DesiredListener[];
  readonly floatingIP: FloatingIPWish;
  /** Absent: none, and one that is there goes (`manage-security-groups` was turned off). */
  readonly securityGroup?: SecurityGroupWish;
  readonly status: StatusWish;
  /** What of it the Service itself has named. */
  readonly places: readonly NamedPlace[];
}

/** By an annotation, and not by the cloud config. */
export interface NamedPlace {
  readonly kind: 'port' | 'network' | 'subnet';
  readonly id: string;
}

interface DesiredOctaviaLoadBalancer {
  readonly names: LoadBalancerNames;
  /** At creation, for people. */
  readonly description: string;
  /** `amphora`, `ovn`, `octavia` …; at creation. */
  readonly provider: string;
  /** At creation. */
  readonly flavorId?: string;
  /** At creation. */
  readonly availabilityZone?: string;
  readonly vip: VipWish;
  /** At creation, API ≥ 2.26, one for the second family. Never where a listener has `allowedCidrs`: the pair ends in ERROR. */
  readonly additionalVips: readonly AdditionalVipWish[];
  /** One thing a call: no populated POST, no batch of members (`provider-requires-serial-api-calls`). */
  readonly serial: boolean;
  /** Listeners, pools and members go one by one before it, as CPO does with `cascade-delete=false`. */
  readonly cascadeDelete: boolean;
  /** Why none is made and none of another's is joined. */
  readonly refusedAnew?: CloudError;
  /** The load balancer that the Service names (`load-balancer-id`): its own, another Service's, or one of nobody's making. */
  readonly existing?: ExistingLoadBalancer;
}

/** A load balancer that is there, or was: it is used, and never made again under this ID. */
export interface ExistingLoadBalancer {
  readonly id: string;
  /** Most Services that may share it, its owner included (`max-shared-lb`). */
  readonly maxShared: number;
  /** An internal Service joins none that is another's. */
  readonly mayShare: boolean;
}

/** Where the virtual IP comes from; at creation. */
export interface VipWish {
  /** Of the address. Of a network alone Octavia takes an IPv4 subnet where it has one: for IPv6 it has to be told which. */
  readonly family: IPFamily;
  /** Alone. */
  readonly portId?: string;
  readonly subnetId?: string;
  /** Of `subnetId`, where that is known: of the other family, nothing is made in it. */
  readonly subnetFamily?: IPFamily;
  /** With `subnetId`: the subnet's. */
  readonly networkId?: string;
  /** This very address (`loadBalancerIP` of an internal or IPv6 Service). */
  readonly address?: string;
  /** With none of the three IDs: the subnet in which most of these back ends' addresses lie, the oldest node's first. Absent too: nothing can be made yet. */
  readonly subnetOf?: readonly BackEndAddress[];
}

/** In the subnet of this family of the first VIP's network; without exactly one, or where Octavia has none, the Service is served with one VIP, and a warning. */
interface AdditionalVipWish {
  readonly family: IPFamily;
  /** The one of the network in which it may lie. Absent: any. */
  readonly subnetId?: string;
}

/** An address of a node, by which a subnet is found (the port of that server which has it). */
export interface BackEndAddress {
  readonly nodeName: string;
  readonly providerID?: string;
  readonly address: string;
}

export type ListenerProtocol = 'TCP' | 'UDP' | 'SCTP' | 'HTTP' | 'TERMINATED_HTTPS';

export interface DesiredListener {
  /** `listener_<index>_<load balancer's name>`; at creation: that of one that is there is not compared, as CPO does. */
  readonly name: string;
  /** With `port` what a listener is known by: a change of one of them makes another listener. */
  readonly protocol: ListenerProtocol;
  readonly port: number;
  /** Connections; -1: no limit. */
  readonly connectionLimit: number;
  /**
   * Sorted, canonical. Empty: none, and those that are there go. Absent: API or provider has none. Not to be put on a load
   * balancer that has a second VIP, whatever was wanted when it was made: the Service is refused then, and a list of everywhere left out.
   */
  readonly allowedCidrs?: readonly string[];
  /** Absent: not sent (API or provider has none). */
  readonly timeouts?: ListenerTimeouts;
  /** Whole set: `X-Forwarded-For` or nothing. Others that somebody added stay. */
  readonly insertHeaders: { readonly xForwardedFor: boolean };
  /** Absent: none, and one that is there goes. Only with `TERMINATED_HTTPS`. */
  readonly tlsContainerRef?: string;
  readonly pool: DesiredPool;
}

/** In milliseconds. */
export interface ListenerTimeouts {
  readonly clientData: number;
  readonly memberConnect: number;
  readonly memberData: number;
  readonly tcpInspect: number;
}

export type PoolProtocol = 'TCP' | 'UDP' | 'SCTP' | 'HTTP' | 'PROXY' | 'PROXYV2';
export const lbMethods = ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'] as const;
export type LbMethod = (typeof lbMethods)[number];

export interface DesiredPool {
  /** `pool_<index>_<load balancer's name>`; at creation. */
  readonly name: string;
  /** A change makes another pool. */
  readonly protocol: PoolProtocol;
  readonly lbMethod: LbMethod;
  /** `null`: none, and one that is there goes. */
  readonly sessionPersistence: { readonly type: 'SOURCE_IP' } | null;
  /** By node name, then address. Empty with `allocateLoadBalancerNodePorts: false`. */
  readonly members: readonly DesiredMember[];
  /** Absent: none, and one that is there goes. */
  readonly monitor?: DesiredHealthMonitor;
}

export interface DesiredMember {
  /** The node's name. Compared, as are `address`, `port` and `monitorPort`; a member is known by address and port. */
  readonly name: string;
  readonly address: string;
  /** The node port. */
  readonly port: number;
  /** `healthCheckNodePort`, where an HTTP monitor asks it. Absent: the member's own port. */
  readonly monitorPort?: number;
  /** At creation; not compared, as CPO does. Absent: Octavia reaches it from the VIP's subnet. */
  readonly subnetId?: string;
}

export type MonitorType = 'TCP' | 'UDP-CONNECT' | 'SCTP' | 'HTTP';

export interface DesiredHealthMonitor {
  /** `monitor_<index>_<load balancer's name>`; compared, as CPO does. */
  readonly name: string;
  /** A change makes another monitor. */
  readonly type: MonitorType;
  /** Seconds between two probes. */
  readonly delay: number;
  /** Seconds for one probe. */
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number;
  /** Only with `HTTP`. */
  readonly http?: { readonly method: 'GET'; readonly urlPath: string; readonly expectedCodes: string };
}

/**
 * A floating IP of the VIP's port.
 * - `none`: the VIP alone. One that is attached goes: deleted if it is ours and `keep` is false, else detached.
 * - `any`: one that is attached stays, whichever; else one is made in the network.
 * - `address`: this one of the project's if it is there and free (attached elsewhere: refused); else it is made, which Neutron
 *   allows to administrators alone.
 * Where there are two VIPs it belongs to the IPv4 one (`fixed_ip_address`).
 */
export type FloatingIPWish =
  | { readonly kind: 'none'; readonly keep: boolean }
  | (FloatingNetworkWish & { readonly kind: 'any'; readonly subnets?: FloatingSubnets; readonly isThereOnly?: true })
  | (FloatingNetworkWish & { readonly kind: 'address'; readonly address: string; readonly subnetId?: string });

interface FloatingNetworkWish {
  /** Absent: the project's first external network with a subnet; none at all: the VIP alone and a warning, as CPO does. */
  readonly networkId?: string;
  /** `keep-floatingip`: never deleted, only detached. */
  readonly keep: boolean;
  /** CPO deletes what it finds described so, and nothing else. */
  readonly description: string;
}

/** Which subnets of the floating network to try, one after the other: `matchFloatingSubnets`. Both patterns have to match. */
export type FloatingSubnets =
  | { readonly subnetId: string }
  | { readonly subnetId?: undefined; readonly name?: string; readonly tags?: string };

/** One group for the Service, on the ports of its members. */
export interface SecurityGroupWish {
  readonly description: string;
  readonly rules: readonly SecurityGroupRule[];
}

/** Ingress. Sorted by protocol, port, family. */
export interface SecurityGroupRule {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly family: IPFamily;
  readonly port: number;
  /** From where. Absent: the subnets from which the load balancer reaches its members of the family, as they are. */
  readonly cidr?: string;
}

/** What the Service's status says of an address. */
export interface StatusWish {
  /** Said instead of the addresses (`hostname`). */
  readonly hostname?: string;
  /** `<address>.<suffix>` as hostname instead of the address (`enable-ingress-hostname` with PROXY). */
  readonly hostnameSuffix?: string;
  readonly ipMode: 'VIP' | 'Proxy';
}
