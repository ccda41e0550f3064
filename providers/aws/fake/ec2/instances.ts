/** Instances: how EC2 describes them, and what it knows of the network that they are in. */
import type { Operations } from '../../src/client/generated/ec2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { Instance, InstanceState, NetworkInterface } from '../things.ts';
import { described, filtered, page, tagList, type DescribeKind, type FilterTable } from './describe.ts';
import { groupsView, interfacesOf, privateNameOf, publicNameOf, seenInterfaces, statusOf } from './interface-view.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html */
const STATE_CODES: Readonly<Record<InstanceState, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

function instanceFilters(
  account: AwsAccount,
  interfaces: ReadonlyMap<string, readonly NetworkInterface[]>,
): FilterTable<Instance> {
  const enis = ({ id }: Instance): readonly NetworkInterface[] => interfaces.get(id) ?? [];
  const zone = ({ subnetId }: Instance): string => account.subnets.get(subnetId)?.zone ?? '';
  return {
    'availability-zone': (one) => [zone(one)],
    'availability-zone-id': (one) => [account.zoneId(zone(one))],
    'instance-id': ({ id }) => [id],
    'instance-type': ({ type }) => [type],
    'instance-state-name': ({ state }) => [state],
    'instance-state-code': ({ state }) => [String(STATE_CODES[state])],
    'private-dns-name': ({ privateDnsName }) => [privateDnsName],
    'dns-name': ({ publicDnsName }) => [publicDnsName],
    'private-ip-address': (one) =>
      enis(one)
        .slice(0, 1)
        .flatMap(({ privateIps }) => privateIps.slice(0, 1)),
    'ip-address': (one) =>
      enis(one)
        .slice(0, 1)
        .map(({ publicIp }) => publicIp),
    'ipv6-address': (one) =>
      enis(one)
        .slice(0, 1)
        .flatMap(({ ipv6 }) => ipv6.slice(0, 1)),
    'subnet-id': ({ subnetId }) => [subnetId],
    'vpc-id': ({ subnetId }) => [account.vpcOf(subnetId)],
    'instance.group-id': (one) =>
      enis(one)
        .slice(0, 1)
        .flatMap(({ groupIds }) => groupIds),
    'network-interface.addresses.private-ip-address': (one) => enis(one).flatMap(({ privateIps }) => privateIps),
    'network-interface.addresses.association.public-ip': (one) => enis(one).map(({ publicIp }) => publicIp),
    'network-interface.group-id': (one) => enis(one).flatMap(({ groupIds }) => groupIds),
    'network-interface.ipv6-addresses.ipv6-address': (one) => enis(one).flatMap(({ ipv6 }) => ipv6),
    'network-interface.network-interface-id': (one) => enis(one).map(({ id }) => id),
    'network-interface.private-dns-name': (one) =>
      enis(one).map(({ privateIps }) => privateNameOf(account, privateIps[0] ?? '')),
    'network-interface.subnet-id': (one) => enis(one).map(({ subnetId }) => subnetId),
    'network-interface.vpc-id': (one) => enis(one).map(({ subnetId }) => account.vpcOf(subnetId)),
  };
}

function kindOf(
  account: AwsAccount,
  interfaces: ReadonlyMap<string, readonly NetworkInterface[]>,
): DescribeKind<Instance> {
  return {
    store: account.instances,
    filters: instanceFilters(account, interfaces),
    errors: 'InvalidInstanceID',
    prefix: 'i',
    noun: 'instance ID',
    mostNamed: account.knobs.mostUnknownNamed,
  };
}

export const instanceOperations = {
  DescribeInstances: (input: Input<'DescribeInstances'>, account: AwsAccount): object => {
    const interfaces = interfacesOf(account);
    const found = described(kindOf(account, interfaces), input.InstanceIds, input);
    const { items, next } = page(found, input);
    return {
      Reservations: items.map((instance) => ({
        OwnerId: account.accountId,
        Instances: [instanceView(account, instance, interfaces.get(instance.id) ?? [])],
      })),
      ...next,
    };
  },

  DescribeInstanceTopology: (input: Input<'DescribeInstanceTopology'>, account: AwsAccount): object => {
    const { Filters: filters = [], InstanceIds: ids, GroupNames: groups, MaxResults: most, NextToken: token } = input;
    if (groups) throw refused('InvalidParameterValue', 'GroupNames: the fake has no placement groups');
    if (ids && ids.length > 100) throw refused('InvalidParameterValue', 'At most 100 instance IDs can be given');
    const kind = kindOf(account, new Map());
    const table: FilterTable<Instance> = {
      'availability-zone': kind.filters['availability-zone'] ?? (() => []),
      'zone-id': kind.filters['availability-zone-id'] ?? (() => []),
      'instance-type': ({ type }) => [type],
    };
    const all = filtered(described(kind, ids, {}), table, filters);
    // Of types without a topology nothing is said, and neither of what does not run.
    const known = all.filter(({ networkNodes, state }) => networkNodes.length > 0 && state === 'running');
    const { items, next } = page(known, {
      ...(ids ? {} : { MaxResults: most ?? 20 }),
      ...(token !== undefined && { NextToken: token }),
    });
    return {
      Instances: items.map(({ id, networkNodes, subnetId, type }) => {
        const zone = account.subnets.get(subnetId)?.zone ?? '';
        return {
          InstanceId: id,
          InstanceType: type,
          NetworkNodes: networkNodes,
          AvailabilityZone: zone,
          ZoneId: account.zoneId(zone),
        };
      }),
      ...next,
    };
  },

  ModifyInstanceAttribute: (input: Input<'ModifyInstanceAttribute'>, account: AwsAccount): object => {
    const { Groups: groups, InstanceId: id, SourceDestCheck: check } = input;
    const instance = account.instances.get(id);
    if (!instance) throw refused('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
    const interfaces = seenInterfaces(account, id);
    const [primary] = interfaces;
    // With several, each is changed by itself (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyInstanceAttribute.html).
    if (interfaces.length > 1) {
      throw refused(
        'InvalidInstanceID',
        `There are multiple interfaces attached to instance '${id}'. Please specify an interface ID for the operation instead.`,
      );
    }
    if (!primary) return {};
    if (check?.Value !== undefined) account.interfaces.put({ ...primary, sourceDestCheck: check.Value });
    if (groups) account.interfaces.put({ ...primary, groupIds: groups });
    return {};
  },
};

function instanceView(account: AwsAccount, instance: Instance, interfaces: readonly NetworkInterface[]): object {
  const { id, launchedAt, privateDnsName, publicDnsName, state, subnetId, tags, type } = instance;
  const zone = account.subnets.get(subnetId)?.zone ?? '';
  const base = {
    InstanceId: id,
    InstanceType: type,
    LaunchTime: new Date(launchedAt).toISOString(),
    Placement: { AvailabilityZone: zone, AvailabilityZoneId: account.zoneId(zone), Tenancy: 'default' },
    State: { Code: STATE_CODES[state], Name: state },
    Tags: tagList(tags),
  };
  // What is terminated has no network any more, and empty names.
  if (state === 'terminated') return { ...base, PrivateDnsName: '', PublicDnsName: '', NetworkInterfaces: [] };
  const [primary] = interfaces;
  return {
    ...base,
    PrivateDnsName: privateDnsName,
    PublicDnsName: publicDnsName,
    SubnetId: subnetId,
    VpcId: account.vpcOf(subnetId),
    NetworkInterfaces: interfaces.map((one) => interfaceView(account, one)),
    ...(primary && {
      SourceDestCheck: primary.sourceDestCheck,
      SecurityGroups: groupsView(account, primary.groupIds),
      ...(primary.privateIps[0] !== undefined && { PrivateIpAddress: primary.privateIps[0] }),
      ...(primary.publicIp !== undefined && { PublicIpAddress: primary.publicIp }),
      ...(primary.ipv6[0] !== undefined && { Ipv6Address: primary.ipv6[0] }),
    }),
  };
}

function interfaceView(account: AwsAccount, one: NetworkInterface): object {
  const {
    attachment,
    groupIds,
    id,
    ipv4Prefixes,
    ipv6,
    ipv6Prefixes,
    privateIps,
    publicIp,
    sourceDestCheck,
    subnetId,
  } = one;
  return {
    NetworkInterfaceId: id,
    SubnetId: subnetId,
    VpcId: account.vpcOf(subnetId),
    Status: statusOf(one),
    SourceDestCheck: sourceDestCheck,
    Groups: groupsView(account, groupIds),
    ...(attachment && {
      Attachment: {
        AttachmentId: attachment.id,
        DeviceIndex: attachment.deviceIndex,
        NetworkCardIndex: 0,
        Status: attachment.status,
      },
    }),
    Ipv6Addresses: ipv6.map((address) => ({ Ipv6Address: address, IsPrimaryIpv6: false })),
    Ipv4Prefixes: ipv4Prefixes.map((prefix) => ({ Ipv4Prefix: prefix })),
    Ipv6Prefixes: ipv6Prefixes.map((prefix) => ({ Ipv6Prefix: prefix })),
    ...(privateIps[0] !== undefined && {
      PrivateIpAddress: privateIps[0],
      PrivateDnsName: privateNameOf(account, privateIps[0]),
    }),
    PrivateIpAddresses: privateIps.map((ip, index) => ({
      PrivateIpAddress: ip,
      Primary: index === 0,
      PrivateDnsName: privateNameOf(account, ip),
      ...(index === 0 &&
        publicIp !== undefined && {
          Association: { PublicIp: publicIp, PublicDnsName: publicNameOf(account, publicIp), IpOwnerId: 'amazon' },
        }),
    })),
  };
}
