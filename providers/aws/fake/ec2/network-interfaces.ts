/** Network interfaces, of instances, of load balancers, of Fargate's pods. */
import type { Operations } from '../../src/client/generated/ec2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { NetworkInterface } from '../things.ts';
import { described, page, tagList, type FilterTable } from './describe.ts';
import { canonicalRange } from './ip-range.ts';
import { groupsView, privateNameOf, publicNameOf, statusOf } from './interface-view.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

function filtersOf(account: AwsAccount): FilterTable<NetworkInterface> {
  return {
    'addresses.private-ip-address': ({ privateIps }) => privateIps,
    'association.public-ip': ({ publicIp }) => [publicIp],
    'attachment.device-index': ({ attachment }) => [attachment && String(attachment.deviceIndex)],
    'attachment.instance-id': ({ attachment }) => [attachment?.instanceId],
    'attachment.status': ({ attachment }) => [attachment?.status],
    'availability-zone': ({ subnetId }) => [account.subnets.get(subnetId)?.zone],
    description: ({ description }) => [description],
    'group-id': ({ groupIds }) => groupIds,
    'interface-type': ({ type }) => [type],
    'ipv6-addresses.ipv6-address': ({ ipv6 }) => ipv6,
    'network-interface-id': ({ id }) => [id],
    'owner-id': () => [account.accountId],
    'private-dns-name': ({ privateIps }) => [privateNameOf(account, privateIps[0] ?? '')],
    'private-ip-address': ({ privateIps }) => privateIps.slice(0, 1),
    'requester-id': ({ requesterId }) => [requesterId],
    status: (one) => [statusOf(one)],
    'subnet-id': ({ subnetId }) => [subnetId],
    'vpc-id': ({ subnetId }) => [account.vpcOf(subnetId)],
  };
}

export const interfaceOperations = {
  DescribeNetworkInterfaces: (input: Input<'DescribeNetworkInterfaces'>, account: AwsAccount): object => {
    account.liveInterfaces();
    const kind = {
      store: account.interfaces,
      filters: filtersOf(account),
      errors: 'InvalidNetworkInterfaceID',
      prefix: 'eni',
      noun: 'networkInterface ID',
    };
    const { items, next } = page(described(kind, input.NetworkInterfaceIds, input), input);
    return { NetworkInterfaces: items.map((one) => view(account, one)), ...next };
  },

  ModifyNetworkInterfaceAttribute: (input: Input<'ModifyNetworkInterfaceAttribute'>, account: AwsAccount): object => {
    const { Groups: groups, NetworkInterfaceId: id, SourceDestCheck: check } = input;
    // One attribute a call (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyNetworkInterfaceAttribute.html).
    if (groups && check) throw refused('InvalidParameterCombination', 'Only one attribute can be specified at a time');
    const one = existing(account, id);
    if (check?.Value !== undefined) account.interfaces.put({ ...one, sourceDestCheck: check.Value });
    if (groups) {
      const unknown = groups.find((group) => !account.groups.get(group));
      if (unknown !== undefined)
        throw refused('InvalidGroup.NotFound', `The security group '${unknown}' does not exist`);
      account.interfaces.put({ ...one, groupIds: groups });
    }
    return {};
  },

  AssignIpv6Addresses: (input: Input<'AssignIpv6Addresses'>, account: AwsAccount): object => {
    const {
      Ipv6AddressCount: count,
      Ipv6Addresses: addresses,
      Ipv6PrefixCount: prefixCount,
      Ipv6Prefixes: prefixes,
    } = input;
    const one = existing(account, input.NetworkInterfaceId);
    const subnet = account.subnets.get(one.subnetId);
    if (subnet?.ipv6Cidr === undefined) {
      throw refused('InvalidParameterValue', `The subnet '${one.subnetId}' has no IPv6 CIDR block`);
    }
    const given = [count, addresses, prefixCount, prefixes].filter((each) => each !== undefined);
    if (given.length !== 1)
      throw refused(
        'InvalidParameterCombination',
        'Exactly one of addresses, count, prefixes and prefix count is needed',
      );
    const newAddresses = addresses ?? Array.from({ length: count ?? 0 }, () => account.newAddress(subnet, 'ipv6'));
    const groups = subnet.ipv6Cidr.split('::')[0]?.split(':') ?? [];
    const network = [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
    const newPrefixes =
      prefixes ??
      Array.from(
        { length: prefixCount ?? 0 },
        () => canonicalRange(`${network}:${account.newHex(`prefix/${subnet.id}`, 4)}::/80`, 'ipv6') ?? '',
      );
    account.interfaces.put({
      ...one,
      ipv6: [...new Set([...one.ipv6, ...newAddresses])],
      ipv6Prefixes: [...new Set([...one.ipv6Prefixes, ...newPrefixes])],
    });
    return { NetworkInterfaceId: one.id, AssignedIpv6Addresses: newAddresses, AssignedIpv6Prefixes: newPrefixes };
  },
};

function existing(account: AwsAccount, id: string): NetworkInterface {
  const one = account.interfaces.get(id);
  if (one) return one;
  throw refused('InvalidNetworkInterfaceID.NotFound', `The networkInterface ID '${id}' does not exist`);
}

function view(account: AwsAccount, one: NetworkInterface): object {
  const { attachment, description, groupIds, id, ipv6, privateIps, publicIp, requesterId, sourceDestCheck, subnetId } =
    one;
  const association = publicIp !== undefined && {
    Association: { PublicIp: publicIp, PublicDnsName: publicNameOf(account, publicIp), IpOwnerId: 'amazon' },
  };
  return {
    NetworkInterfaceId: id,
    AvailabilityZone: account.subnets.get(subnetId)?.zone ?? '',
    Description: description,
    Groups: groupsView(account, groupIds),
    InterfaceType: one.type,
    Status: statusOf(one),
    SubnetId: subnetId,
    VpcId: account.vpcOf(subnetId),
    SourceDestCheck: sourceDestCheck,
    TagSet: tagList(one.tags),
    Ipv6Addresses: ipv6.map((address) => ({ Ipv6Address: address })),
    ...(requesterId !== undefined && { RequesterId: requesterId }),
    ...(privateIps[0] !== undefined && {
      PrivateIpAddress: privateIps[0],
      PrivateDnsName: privateNameOf(account, privateIps[0]),
    }),
    PrivateIpAddresses: privateIps.map((ip, index) => ({
      PrivateIpAddress: ip,
      Primary: index === 0,
      PrivateDnsName: privateNameOf(account, ip),
      ...(index === 0 && association),
    })),
    ...(attachment && {
      Attachment: {
        AttachmentId: attachment.id,
        DeviceIndex: attachment.deviceIndex,
        Status: attachment.status,
        InstanceOwnerId: requesterId ?? account.accountId,
        ...(attachment.instanceId !== undefined && { InstanceId: attachment.instanceId }),
      },
    }),
  };
}
