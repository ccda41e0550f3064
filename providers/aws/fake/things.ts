/** What the fake keeps of an account: things as plain values, with their tags inside. */

export type Tags = Readonly<Record<string, string>>;

interface Tagged {
  readonly id: string;
  readonly tags: Tags;
}

export interface Zone {
  readonly name: string;
  readonly id: string;
  /** `availability-zone`, `local-zone`, `wavelength-zone`. */
  readonly type: string;
}

export interface Vpc extends Tagged {
  readonly cidr: string;
  readonly ipv6Cidr: string | undefined;
}

export interface Subnet extends Tagged {
  readonly vpcId: string;
  readonly zone: string;
  readonly cidr: string;
  readonly ipv6Cidr: string | undefined;
  readonly namesBy: 'ip-name' | 'resource-name';
}

export interface Route {
  /** Of one of the families. */
  readonly destination: string;
  readonly gatewayId?: string | undefined;
  readonly networkInterfaceId?: string | undefined;
  readonly origin: 'CreateRouteTable' | 'CreateRoute';
}

export interface RouteTable extends Tagged {
  readonly vpcId: string;
  readonly isMain: boolean;
  readonly subnetIds: readonly string[];
  readonly routes: readonly Route[];
}

export interface SecurityGroup extends Tagged {
  readonly vpcId: string;
  readonly name: string;
  readonly description: string;
}

export interface SecurityGroupRule extends Tagged {
  readonly groupId: string;
  readonly isEgress: boolean;
  readonly protocol: string;
  /** -1: all. */
  readonly from: number;
  readonly to: number;
  /** One of these. */
  readonly ipv4?: string | undefined;
  readonly ipv6?: string | undefined;
  readonly prefixListId?: string | undefined;
  readonly referencedGroupId?: string | undefined;
  readonly description: string | undefined;
}

export interface NetworkInterface extends Tagged {
  readonly subnetId: string;
  readonly groupIds: readonly string[];
  /** The first one is the primary one. */
  readonly privateIps: readonly string[];
  readonly publicIp: string | undefined;
  readonly ipv6: readonly string[];
  readonly ipv4Prefixes: readonly string[];
  readonly ipv6Prefixes: readonly string[];
  readonly attachment:
    | {
        readonly id: string;
        readonly instanceId: string | undefined;
        readonly deviceIndex: number;
        readonly status: 'attaching' | 'attached' | 'detaching';
      }
    | undefined;
  readonly description: string;
  /** `interface`, `network_load_balancer`. */
  readonly type: string;
  /** `amazon-elb`: of a load balancer. */
  readonly requesterId: string | undefined;
  readonly sourceDestCheck: boolean;
  /** Of a load balancer that is gone: when it goes too, by the monotonic clock. */
  readonly goneAt: number | undefined;
}

export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';

export interface Instance extends Tagged {
  readonly type: string;
  readonly state: InstanceState;
  readonly subnetId: string;
  readonly privateDnsName: string;
  readonly publicDnsName: string;
  /** Milliseconds since the Unix epoch. */
  readonly launchedAt: number;
  /** Of the network, from the widest on; none: its type has no topology. */
  readonly networkNodes: readonly string[];
}

export interface Volume extends Tagged {
  readonly zone: string;
  readonly state: string;
  readonly type: string;
}

export interface Address extends Tagged {
  readonly publicIp: string;
  readonly associationId: string | undefined;
  readonly networkInterfaceId: string | undefined;
}
