/** The VPC's subnets as they are now: three reads, for all Services. */
import type { CallContext, IPFamily } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { AvailabilityZone, RouteTable, Subnet, Tag } from '../../client/generated/ec2.ts';
import { pages } from '../../client/pages.ts';
import { hasAnyClusterTag, hasClusterTag, type ClusterTags } from '../../cluster/cluster-tags.ts';
import type { ClusterFacts } from '../../cluster/own-cluster.ts';
import { grantedIn } from '../grants.ts';
import type { NetworkFacts, SubnetFacts } from './network-facts.ts';

const PAGE = 1_000;

export async function readNetwork(
  { ec2 }: Pick<AwsClient, 'ec2'>,
  { tags, vpcId }: ClusterFacts,
  call: CallContext,
): Promise<NetworkFacts> {
  const Filters = [{ Name: 'vpc-id', Values: [vpcId] }];
  const [subnets, tables, zones] = await Promise.all([
    pages(ec2, call, 'DescribeSubnets', { Filters, MaxResults: PAGE }),
    pages(ec2, call, 'DescribeRouteTables', { Filters, MaxResults: 100 }),
    ec2(call, 'DescribeAvailabilityZones', {}),
  ]);
  const routes = new RouteTables(tables);
  const zoneTypes = new Map((zones.AvailabilityZones ?? []).map(({ ZoneName, ZoneType }) => [ZoneName, ZoneType]));
  const facts = subnets.map((subnet): SubnetFacts => {
    const { AvailabilityZone: zone = '', AvailableIpAddressCount, SubnetId: id = '', Tags = [] } = subnet;
    const families = familiesOf(subnet);
    const tag = (key: string): string | undefined => Tags.find(({ Key }) => Key === key)?.Value;
    const roles = (['elb', 'internal-elb'] as const).filter((role) => tag(`kubernetes.io/role/${role}`) !== undefined);
    return {
      id,
      zone,
      name: tag('Name'),
      cluster: clusterOf(Tags, tags),
      roles,
      isPublic: routes.isPublic(id),
      isRegular: isRegular(zoneTypes.get(zone)),
      families: families.map(([family]) => family),
      ranges: families.flatMap(([, ranges]) => ranges),
      freeAddresses: AvailableIpAddressCount ?? 0,
      allowed: grantedIn(Tags),
    };
  });
  return { subnets: facts.filter(({ id, zone }) => id !== '' && zone !== '') };
}

function clusterOf(tags: readonly Tag[], own: ClusterTags): SubnetFacts['cluster'] {
  if (hasClusterTag(tags, own)) return 'own';
  return hasAnyClusterTag(tags) ? 'other' : 'none';
}

/** What the list of zones does not name is taken for usual, as upstream. */
function isRegular(type: AvailabilityZone['ZoneType']): boolean {
  return type === undefined || type === 'availability-zone';
}

function familiesOf({
  CidrBlock,
  Ipv6CidrBlockAssociationSet = [],
  Ipv6Native,
}: Subnet): readonly (readonly [IPFamily, ranges: readonly string[]])[] {
  const v6 = Ipv6CidrBlockAssociationSet.filter(({ Ipv6CidrBlockState }) => Ipv6CidrBlockState?.State === 'associated');
  const ranges = v6.flatMap(({ Ipv6CidrBlock }) => Ipv6CidrBlock ?? []);
  return [
    ...(Ipv6Native ? [] : ([['IPv4', CidrBlock === undefined ? [] : [CidrBlock]]] as const)),
    ...(v6.length > 0 ? ([['IPv6', ranges]] as const) : []),
  ];
}

/** A subnet that no table names has the main one. */
class RouteTables {
  readonly #bySubnet = new Map<string, RouteTable>();
  #main: RouteTable | undefined;

  constructor(tables: readonly RouteTable[]) {
    for (const table of tables) {
      for (const { Main, SubnetId } of table.Associations ?? []) {
        if (SubnetId !== undefined) this.#bySubnet.set(SubnetId, table);
        if (Main) this.#main = table;
      }
    }
  }

  isPublic(subnetId: string): boolean {
    const { Routes = [] } = this.#bySubnet.get(subnetId) ?? this.#main ?? {};
    return Routes.some(({ GatewayId }) => GatewayId?.startsWith('igw-'));
  }
}
