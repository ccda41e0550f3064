/** What a test puts into the account without asking an API: networks, instances, volumes, addresses, and what happens to them. */
import type { AwsAccount } from './aws-account.ts';
import { canonicalRange } from './ec2/ip-range.ts';
import { privateDomainOf, privateNameOf, publicNameOf } from './ec2/interface-view.ts';
import type { Instance, InstanceState, NetworkInterface, Subnet, Tags } from './things.ts';

export interface NewInterface {
  /** Default: the instance's. */
  readonly subnetId?: string;
  /** Default: the instance's. */
  readonly groupIds?: readonly string[];
  /** Default: 1. */
  readonly privateIpCount?: number;
  /** Default: false. */
  readonly hasPublicIp?: boolean;
  /** Default: 1 where the subnet has IPv6, else 0. */
  readonly ipv6Count?: number;
  readonly ipv4Prefixes?: readonly string[];
  readonly ipv6Prefixes?: readonly string[];
}

export interface NewInstance {
  readonly subnetId: string;
  readonly groupIds: readonly string[];
  readonly tags?: Tags;
  /** Default: `m5.large`. */
  readonly type?: string;
  /** Default: `running`. */
  readonly state?: InstanceState;
  /** Default: now. Milliseconds since the Unix epoch. */
  readonly launchedAt?: number;
  /** By device index. Default: one. */
  readonly interfaces?: readonly NewInterface[];
  /** Default: as its subnet says. */
  readonly namesBy?: Subnet['namesBy'];
  /** Default: of no topology. */
  readonly networkNodes?: readonly string[];
  /** True: the lag of EC2 hides it at first, as an instance that was just launched. Default: false. */
  readonly isLaunched?: boolean;
}

export interface ClusterSeed {
  /** Of the tag `kubernetes.io/cluster/<id>`. Default: `kubernetes`. */
  readonly clusterId?: string;
  /** Over the zones in turn. Default: 3. */
  readonly nodes?: number;
  /** How many of the account's zones it has. Default: 2. */
  readonly zones?: number;
  /** Default: false. */
  readonly hasIpv6?: boolean;
  /** Whether nodes are in public subnets with public addresses. Default: false. */
  readonly hasPublicNodes?: boolean;
  /** Whether the subnets have the tags of roles (`kubernetes.io/role/elb`, `…/internal-elb`). Default: true. */
  readonly hasRoleTags?: boolean;
  /** Default: `ip-name`. */
  readonly namesBy?: Subnet['namesBy'];
}

export interface SeededCluster {
  readonly clusterId: string;
  readonly vpcId: string;
  readonly internetGatewayId: string;
  /** With a route to the internet gateway; one in each zone. */
  readonly publicSubnets: readonly string[];
  readonly privateSubnets: readonly string[];
  readonly publicRouteTableId: string;
  /** The main one, with the cluster's tag: of the private subnets, and of pods' routes. */
  readonly routeTableId: string;
  readonly nodeGroupId: string;
  readonly instances: readonly Instance[];
}

export class AwsWorld {
  /** All that there is, for a test's asserts: `account.rules.all()`. */
  readonly account: AwsAccount;

  constructor(account: AwsAccount) {
    this.account = account;
  }

  addVpc({
    cidr = '10.0.0.0/16',
    ipv6Cidr,
    tags = {},
  }: { readonly cidr?: string; readonly ipv6Cidr?: string; readonly tags?: Tags } = {}): string {
    const id = this.account.newId('vpc');
    this.account.vpcs.seed({ id, cidr, ipv6Cidr, tags });
    return id;
  }

  addSubnet({
    cidr,
    ipv6Cidr,
    namesBy = 'ip-name',
    tags = {},
    vpcId,
    zone,
  }: {
    readonly vpcId: string;
    readonly zone: string;
    readonly cidr: string;
    /** `2001:db8:0:1::/64` */
    readonly ipv6Cidr?: string | undefined;
    readonly namesBy?: Subnet['namesBy'] | undefined;
    readonly tags?: Tags;
  }): string {
    const id = this.account.newId('subnet');
    const range = ipv6Cidr === undefined ? undefined : (canonicalRange(ipv6Cidr, 'ipv6') ?? ipv6Cidr);
    this.account.subnets.seed({ id, vpcId, zone, cidr, ipv6Cidr: range, namesBy, tags });
    return id;
  }

  addRouteTable({
    internetGatewayId,
    isMain = false,
    subnetIds = [],
    tags = {},
    vpcId,
  }: {
    readonly vpcId: string;
    readonly isMain?: boolean;
    readonly subnetIds?: readonly string[];
    /** Of a default route of each family that the VPC has. */
    readonly internetGatewayId?: string | undefined;
    readonly tags?: Tags;
  }): string {
    const id = this.account.newId('rtb');
    const vpc = this.account.vpcs.get(vpcId);
    const local = [vpc?.cidr, vpc?.ipv6Cidr].flatMap((destination) => destination ?? []);
    const out = ['0.0.0.0/0', ...(vpc?.ipv6Cidr === undefined ? [] : ['::/0'])];
    const routes = [
      ...local.map((destination) => ({ destination, gatewayId: 'local', origin: 'CreateRouteTable' as const })),
      ...(internetGatewayId === undefined
        ? []
        : out.map((destination) => ({ destination, gatewayId: internetGatewayId, origin: 'CreateRoute' as const }))),
    ];
    this.account.routeTables.seed({ id, vpcId, isMain, subnetIds, routes, tags });
    return id;
  }

  addSecurityGroup({
    name,
    tags = {},
    vpcId,
  }: {
    readonly vpcId: string;
    readonly name: string;
    readonly tags?: Tags;
  }): string {
    const id = this.account.newId('sg');
    this.account.groups.seed({ id, vpcId, name, description: name, tags });
    return id;
  }

  addVolume({ tags = {}, zone }: { readonly zone: string; readonly tags?: Tags }): string {
    const id = this.account.newId('vol');
    this.account.volumes.seed({ id, zone, state: 'available', type: 'gp3', tags });
    return id;
  }

  /** An elastic IP address. */
  addAddress({ tags = {} }: { readonly tags?: Tags } = {}): {
    readonly allocationId: string;
    readonly publicIp: string;
  } {
    const id = this.account.newId('eipalloc');
    const publicIp = this.account.newPublicAddress();
    this.account.addresses.seed({ id, publicIp, associationId: undefined, networkInterfaceId: undefined, tags });
    return { allocationId: id, publicIp };
  }

  addInstance({
    groupIds,
    interfaces = [{}],
    isLaunched = false,
    launchedAt = this.account.clock.now(),
    namesBy,
    networkNodes = [],
    state = 'running',
    subnetId,
    tags = {},
    type = 'm5.large',
  }: NewInstance): Instance {
    const id = this.account.newId('i');
    const made = interfaces.map((one, deviceIndex) =>
      this.#interfaceOf(one, { subnetId, groupIds, instanceId: id, deviceIndex }),
    );
    const [primary] = made;
    const byName = (namesBy ?? this.account.subnets.get(subnetId)?.namesBy) === 'resource-name';
    const instance: Instance = {
      id,
      type,
      state,
      subnetId,
      launchedAt,
      networkNodes,
      tags,
      privateDnsName: byName
        ? `${id}.${privateDomainOf(this.account.region)}`
        : privateNameOf(this.account, primary?.privateIps[0] ?? ''),
      publicDnsName: primary?.publicIp === undefined ? '' : publicNameOf(this.account, primary.publicIp),
    };
    for (const one of made) this.account.interfaces[isLaunched ? 'put' : 'seed'](one);
    this.account.instances[isLaunched ? 'put' : 'seed'](instance);
    return instance;
  }

  /** A pod of Fargate: an interface of nobody's instance. */
  addFargatePod({
    groupIds = [],
    subnetId,
  }: {
    readonly subnetId: string;
    readonly groupIds?: readonly string[];
  }): NetworkInterface {
    const made = this.#interfaceOf({}, { subnetId, groupIds, instanceId: undefined, deviceIndex: 1 });
    this.account.interfaces.seed(made);
    return made;
  }

  /** Throws for one that is not there. */
  changeInstance(id: string, change: Partial<Omit<Instance, 'id'>>): void {
    const instance = this.account.instances.get(id);
    if (!instance) throw new Error(`the fake has no instance ${id}`);
    this.account.instances.seed({ ...instance, ...change });
    if (change.state !== 'terminated') return;
    for (const { attachment, id: interfaceId } of this.account.interfaces.all()) {
      if (attachment?.instanceId === id) this.account.interfaces.remove(interfaceId);
    }
  }

  /** What is terminated is shown for about an hour, and then it was never there. */
  forgetInstance(id: string): void {
    this.changeInstance(id, { state: 'terminated' });
    this.account.instances.remove(id);
  }

  /** A VPC with public and private subnets, gateway, route tables, a group of the nodes, and nodes: as installers make it. */
  seedCluster({
    clusterId = 'kubernetes',
    hasIpv6 = false,
    hasPublicNodes = false,
    hasRoleTags = true,
    namesBy,
    nodes = 3,
    zones: zoneCount = 2,
  }: ClusterSeed = {}): SeededCluster {
    const shared = { [`kubernetes.io/cluster/${clusterId}`]: 'shared' };
    const owned = { [`kubernetes.io/cluster/${clusterId}`]: 'owned' };
    const zones = this.account.zones.slice(0, zoneCount);
    const vpcId = this.addVpc({ ...(hasIpv6 && { ipv6Cidr: '2001:db8::/56' }), tags: { ...shared, Name: clusterId } });
    const internetGatewayId = this.account.newId('igw');
    const subnetsOf = (kind: 'public' | 'private', at: number): readonly string[] =>
      zones.map(({ name: zone }, n) =>
        this.addSubnet({
          vpcId,
          zone,
          cidr: `10.0.${at + 16 * n}.0/20`,
          ...(hasIpv6 && { ipv6Cidr: `2001:db8:0:${(at / 16 + n).toString(16)}::/64` }),
          namesBy,
          tags: {
            ...shared,
            Name: `${clusterId}-${kind}-${zone}`,
            ...(hasRoleTags && {
              [kind === 'public' ? 'kubernetes.io/role/elb' : 'kubernetes.io/role/internal-elb']: '1',
            }),
          },
        }),
      );
    const publicSubnets = subnetsOf('public', 0);
    const privateSubnets = subnetsOf('private', 128);
    const nodeGroupId = this.addSecurityGroup({ vpcId, name: `${clusterId}-nodes`, tags: owned });
    const nodeSubnets = hasPublicNodes ? publicSubnets : privateSubnets;
    return {
      clusterId,
      vpcId,
      internetGatewayId,
      publicSubnets,
      privateSubnets,
      publicRouteTableId: this.addRouteTable({ vpcId, internetGatewayId, subnetIds: publicSubnets }),
      routeTableId: this.addRouteTable({ vpcId, isMain: true, subnetIds: privateSubnets, tags: owned }),
      nodeGroupId,
      instances: Array.from({ length: nodes }, (_, n) =>
        this.addInstance({
          subnetId: nodeSubnets[n % nodeSubnets.length] ?? '',
          groupIds: [nodeGroupId],
          tags: { ...owned, Name: `${clusterId}-node-${n}` },
          interfaces: [{ hasPublicIp: hasPublicNodes }],
        }),
      ),
    };
  }

  #interfaceOf(
    {
      groupIds,
      hasPublicIp = false,
      ipv4Prefixes = [],
      ipv6Count,
      ipv6Prefixes = [],
      privateIpCount = 1,
      subnetId: given,
    }: NewInterface,
    of: {
      readonly subnetId: string;
      readonly groupIds: readonly string[];
      readonly instanceId: string | undefined;
      readonly deviceIndex: number;
    },
  ): NetworkInterface {
    const subnet = this.account.subnets.get(given ?? of.subnetId);
    if (!subnet) throw new Error(`the fake has no subnet ${given ?? of.subnetId}`);
    const addresses = (count: number, family: 'ipv4' | 'ipv6'): readonly string[] =>
      Array.from({ length: count }, () => this.account.newAddress(subnet, family));
    return {
      id: this.account.newId('eni'),
      subnetId: subnet.id,
      groupIds: groupIds ?? of.groupIds,
      privateIps: addresses(privateIpCount, 'ipv4'),
      publicIp: hasPublicIp ? this.account.newPublicAddress() : undefined,
      ipv6: addresses(ipv6Count ?? (subnet.ipv6Cidr === undefined ? 0 : 1), 'ipv6'),
      ipv4Prefixes,
      ipv6Prefixes,
      attachment: {
        id: this.account.newId('eni-attach'),
        instanceId: of.instanceId,
        deviceIndex: of.deviceIndex,
        status: 'attached',
      },
      description: '',
      type: 'interface',
      requesterId: undefined,
      sourceDestCheck: true,
      goneAt: undefined,
      tags: {},
    };
  }
}
