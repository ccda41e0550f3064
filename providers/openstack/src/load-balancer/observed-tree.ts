/** What was seen of one load balancer, in the words of the plan. JSON: it is the attributes of a part, logged and shown. */
import type { LoadBalancerPart, Owner } from '@outrigger/cloud-provider';
import type { ProvisioningStatus } from './octavia-wire.ts';

/**
 * For how long something is not what it was asked to become: `finish` and `rebuild` are to be acted on. In its time, and once
 * it is ACTIVE, `no`. Of what is in ERROR: what is to be done about that now; `no`: nothing yet for the wish that was `tried` a short while ago.
 */
export type Lateness = 'no' | 'finish' | 'rebuild';

export interface ObservedChild {
  readonly id: string;
  readonly name: string;
  readonly status: ProvisioningStatus;
  readonly late: Lateness;
  /** Of what is in ERROR: for which wish (`wishOf`) a change was tried last. `late` is of that wish. */
  readonly tried?: string | undefined;
  /** Of what is in ERROR: the last change of it was refused. */
  readonly wasRefused?: true | undefined;
  /** Its removal was tried a short while ago, and it is there. */
  readonly isRemovalHeld?: true | undefined;
  /** Its last removal was refused. */
  readonly wasRemovalRefused?: true | undefined;
  /** Of what is in ERROR: it was ACTIVE before. Known to this process alone. */
  readonly wasActive?: true | undefined;
}

export interface ObservedMember extends ObservedChild {
  readonly address: string;
  readonly port: number;
  readonly monitorPort: number | null;
  readonly subnetId: string | null;
}

export interface ObservedMonitor extends ObservedChild {
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number | null;
  readonly http: { readonly method: string; readonly urlPath: string; readonly expectedCodes: string } | null;
}

export interface ObservedPool extends ObservedChild {
  readonly protocol: string;
  readonly lbMethod: string;
  readonly sessionPersistence: string | null;
  readonly tags: readonly string[];
  readonly members: readonly ObservedMember[];
  readonly monitor: ObservedMonitor | null;
}

export interface ObservedListener extends ObservedChild {
  readonly protocol: string;
  readonly port: number;
  readonly connectionLimit: number | null;
  /** Sorted. */
  readonly allowedCidrs: readonly string[];
  readonly timeouts: {
    readonly clientData: number | null;
    readonly memberConnect: number | null;
    readonly memberData: number | null;
    readonly tcpInspect: number | null;
  };
  readonly insertHeaders: Readonly<Record<string, string>>;
  readonly tlsContainerRef: string | null;
  readonly tags: readonly string[];
  readonly pool: ObservedPool | null;
}

export interface ObservedFloatingIP {
  readonly id: string;
  readonly address: string;
  /** The external one, whose address it is. */
  readonly networkId: string;
  readonly portId: string | null;
  /** It has port forwardings: on no port, and in use. */
  readonly forwards?: true;
  /** On which a change of it rests. `undefined`: Neutron shows none. */
  readonly revision?: number | undefined;
}

/** What hangs below a load balancer. */
export interface ObservedChildren {
  readonly listeners: readonly ObservedListener[];
  /** Without a listener: what a half-done change left. */
  readonly loosePools: readonly ObservedPool[];
  /** The CIDR of each subnet in which its VIPs and members lie; without those that nobody asked about, and that are not there. */
  readonly subnetCidrs: Readonly<Record<string, string>>;
}

/** Where a floating IP can be made. */
export interface FloatingNetwork {
  /** The one that is named, else the first external one with a subnet; `null`: the project sees none. */
  readonly networkId: string | null;
  /** Where the Service chooses between its subnets: those that the project is shown. */
  readonly subnets: readonly { readonly id: string; readonly name: string; readonly tags: readonly string[] }[];
}

export interface ObservedLoadBalancer {
  readonly id: string;
  readonly name: string;
  readonly status: ProvisioningStatus;
  readonly late: Lateness;
  readonly createdAt: string;
  /** The driver that has made it, whatever makes load balancers by now. */
  readonly provider?: string | undefined;
  readonly tags: readonly string[];
  readonly vipAddress: string | null;
  readonly vipPortId: string | null;
  readonly vipSubnetId: string | null;
  readonly additionalVips: readonly { readonly address: string; readonly subnetId: string }[];
  /** On the VIP's port, whoever made them. */
  readonly floatingIPs: readonly ObservedFloatingIP[];
  /** The one with the address that the Service asks for, whoever's it is. */
  readonly requestedFloatingIP: ObservedFloatingIP | null;
  /** `undefined`: not looked at, since no floating IP is to be made. */
  readonly floatingNetwork?: FloatingNetwork | undefined;
  /** `undefined`: not looked at, since nothing can be changed before it is ACTIVE. */
  readonly children?: ObservedChildren;
}

/** What is known of floating IP and security group as parts. */
interface ObservedMark {
  readonly description: string;
  /** The tags say whose it is too; or it has none to write, or that was tried a while ago. */
  readonly tagged: boolean;
}

interface ObservedOwnFloatingIP extends ObservedFloatingIP, ObservedMark {
  readonly keep: boolean;
  /** Of the load balancer on whose VIP it is, by its tag: that Service is served by it. */
  readonly loadBalancerOwner: Owner | null;
}

export interface ObservedRule {
  readonly id: string;
  readonly protocol: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly portMin: number | null;
  readonly portMax: number | null;
  readonly cidr: string | null;
}

export interface ObservedSecurityGroup {
  readonly id: string;
  /** Incoming, without those from another group. */
  readonly rules: readonly ObservedRule[];
  /** Ports that have the group. */
  readonly ports: readonly { readonly id: string; readonly addresses: readonly string[] }[];
  /** Members that did not get it. */
  readonly without: readonly MemberWithoutGroup[];
}

/**
 * `no-port`: none is seen, or one without port security. `strange`: nova has no server behind the port that is called as the node. `unnamed`:
 * nova does not say now what this server is called. `failed`: it is not known yet.
 */
export type WhyWithout = 'no-port' | 'strange' | 'unnamed' | 'failed';

export interface MemberWithoutGroup {
  readonly address: string;
  readonly why: WhyWithout;
}

/** The kinds of parts. `shared-load-balancer`: our listeners on a load balancer that is another Service's, or nobody's. */
export type PartKind = 'load-balancer' | 'shared-load-balancer' | 'floating-ip' | 'security-group';

export const isLoadBalancer = ({ kind }: LoadBalancerPart): boolean =>
  kind === 'load-balancer' || kind === 'shared-load-balancer';

// The attributes of a part are what `observe` put there: one of these, by its kind.
export const loadBalancerIn = ({ attributes }: LoadBalancerPart): ObservedLoadBalancer =>
  attributes.loadBalancer as ObservedLoadBalancer;
export const floatingIPIn = ({ attributes }: LoadBalancerPart): ObservedOwnFloatingIP =>
  attributes.floatingIP as ObservedOwnFloatingIP;
export const securityGroupIn = ({ attributes }: LoadBalancerPart): ObservedSecurityGroup & ObservedMark =>
  attributes.securityGroup as ObservedSecurityGroup & ObservedMark;

/** Parts in Neutron that say whose they are, in their description and in their tags. */
export type MarkedCollection = 'floatingips' | 'security-groups';

export const KIND_OF: Readonly<Record<MarkedCollection, PartKind>> = {
  floatingips: 'floating-ip',
  'security-groups': 'security-group',
};

interface MarkedPart extends ObservedMark {
  readonly collection: MarkedCollection;
  readonly keep: boolean;
  /** For people: `floating IP 203.0.113.7`. */
  readonly what: string;
}

export function markedIn(part: LoadBalancerPart): MarkedPart | undefined {
  if (part.kind === 'floating-ip') {
    const { address, ...one } = floatingIPIn(part);
    return { ...one, collection: 'floatingips', what: `floating IP ${address}` };
  }
  if (part.kind !== 'security-group') return undefined;
  return { ...securityGroupIn(part), collection: 'security-groups', keep: false, what: `security group ${part.id}` };
}
