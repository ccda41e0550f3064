/** What lies below instances: VPCs, subnets, zones, addresses, and volumes. */
import type { Operations } from '../../src/client/generated/ec2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { described, filtered, page, tagList, type FilterTable } from './describe.ts';
import type { Address, Subnet, Volume, Vpc, Zone } from '../things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

const vpcFilters: FilterTable<Vpc> = { 'vpc-id': ({ id }) => [id], cidr: ({ cidr }) => [cidr] };

const subnetFilters: FilterTable<Subnet> = {
  'availability-zone': ({ zone }) => [zone],
  'subnet-id': ({ id }) => [id],
  'vpc-id': ({ vpcId }) => [vpcId],
  'cidr-block': ({ cidr }) => [cidr],
  state: () => ['available'],
};

const addressFilters: FilterTable<Address> = {
  'allocation-id': ({ id }) => [id],
  'association-id': ({ associationId }) => [associationId],
  'network-interface-id': ({ networkInterfaceId }) => [networkInterfaceId],
  'public-ip': ({ publicIp }) => [publicIp],
};

const volumeFilters: FilterTable<Volume> = {
  'availability-zone': ({ zone }) => [zone],
  'volume-id': ({ id }) => [id],
  status: ({ state }) => [state],
};

const zoneFilters: FilterTable<Zone & { readonly tags: Record<string, string> }> = {
  'zone-name': ({ name }) => [name],
  'zone-id': ({ id }) => [id],
  'zone-type': ({ type }) => [type],
  state: () => ['available'],
};

export const networkOperations = {
  DescribeVpcs: (input: Input<'DescribeVpcs'>, account: AwsAccount): object => {
    const kind = { store: account.vpcs, filters: vpcFilters, errors: 'InvalidVpcID', prefix: 'vpc', noun: 'vpc ID' };
    const { items, next } = page(described(kind, input.VpcIds, input), input);
    return {
      Vpcs: items.map(({ cidr, id, ipv6Cidr, tags }) => ({
        VpcId: id,
        OwnerId: account.accountId,
        CidrBlock: cidr,
        CidrBlockAssociationSet: [
          { AssociationId: associationOf(id), CidrBlock: cidr, CidrBlockState: { State: 'associated' } },
        ],
        Ipv6CidrBlockAssociationSet: ipv6Association(id, ipv6Cidr),
        Tags: tagList(tags),
      })),
      ...next,
    };
  },

  DescribeSubnets: (input: Input<'DescribeSubnets'>, account: AwsAccount): object => {
    const kind = {
      store: account.subnets,
      filters: subnetFilters,
      errors: 'InvalidSubnetID',
      prefix: 'subnet',
      noun: 'subnet ID',
    };
    const { items, next } = page(described(kind, input.SubnetIds, input), input);
    const used = Map.groupBy(account.liveInterfaces(), ({ subnetId }) => subnetId);
    return {
      Subnets: items.map(({ cidr, id, ipv6Cidr, tags, vpcId, zone }) => ({
        SubnetId: id,
        VpcId: vpcId,
        OwnerId: account.accountId,
        AvailabilityZone: zone,
        AvailabilityZoneId: account.zoneId(zone),
        CidrBlock: cidr,
        AvailableIpAddressCount: 2 ** (32 - Number(cidr.split('/')[1])) - 5 - (used.get(id)?.length ?? 0),
        Ipv6CidrBlockAssociationSet: ipv6Association(id, ipv6Cidr),
        AssignIpv6AddressOnCreation: false,
        Ipv6Native: false,
        State: 'available',
        Tags: tagList(tags),
      })),
      ...next,
    };
  },

  DescribeAvailabilityZones: (input: Input<'DescribeAvailabilityZones'>, account: AwsAccount): object => {
    const { Filters: filters = [], ZoneIds: ids, ZoneNames: names } = input;
    const zones = account.zones
      .filter(({ id, name }) => (ids?.includes(id) ?? true) && (names?.includes(name) ?? true))
      .map((zone) => ({ ...zone, tags: {} }));
    return {
      AvailabilityZones: filtered(zones, zoneFilters, filters).map(({ id, name, type }) => ({
        ZoneName: name,
        ZoneId: id,
        ZoneType: type,
        RegionName: account.region,
        GroupName: account.region,
        NetworkBorderGroup: account.region,
        State: 'available',
      })),
    };
  },

  DescribeAddresses: (input: Input<'DescribeAddresses'>, account: AwsAccount): object => {
    const { AllocationIds: ids, Filters: filters = [], PublicIps: ips } = input;
    const kind = {
      store: account.addresses,
      filters: addressFilters,
      errors: 'InvalidAllocationID',
      prefix: 'eipalloc',
      noun: 'allocation ID',
    };
    const found = described(kind, ids, { Filters: filters }).filter(({ publicIp }) => ips?.includes(publicIp) ?? true);
    return {
      Addresses: found.map(({ associationId, id, networkInterfaceId, publicIp, tags }) => ({
        AllocationId: id,
        PublicIp: publicIp,
        ...(associationId !== undefined && { AssociationId: associationId }),
        ...(networkInterfaceId !== undefined && {
          NetworkInterfaceId: networkInterfaceId,
          NetworkInterfaceOwnerId: account.accountId,
        }),
        Tags: tagList(tags),
      })),
    };
  },

  DescribeVolumes: (input: Input<'DescribeVolumes'>, account: AwsAccount): object => {
    const kind = {
      store: account.volumes,
      filters: volumeFilters,
      errors: 'InvalidVolume',
      prefix: 'vol',
      noun: 'volume',
    };
    const { items, next } = page(described(kind, input.VolumeIds, input), input);
    return {
      Volumes: items.map(({ id, state, tags, type, zone }) => ({
        VolumeId: id,
        AvailabilityZone: zone,
        AvailabilityZoneId: account.zoneId(zone),
        State: state,
        VolumeType: type,
        Tags: tagList(tags),
      })),
      ...next,
    };
  },
};

function ipv6Association(id: string, cidr: string | undefined): readonly object[] {
  if (cidr === undefined) return [];
  return [{ AssociationId: associationOf(id), Ipv6CidrBlock: cidr, Ipv6CidrBlockState: { State: 'associated' } }];
}

function associationOf(id: string): string {
  return `assoc-${id.split('-')[1] ?? ''}`;
}
