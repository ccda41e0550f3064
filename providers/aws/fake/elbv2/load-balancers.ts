/** Network load balancers: what AWS accepts, which interfaces hang on them, and what is left for a while when they are gone. */
import type { Operations } from '../../src/client/generated/elbv2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import {
  attach,
  checkGroups,
  checkPlaces,
  detach,
  ipv6In,
  keyOfSubnet,
  mappingsOf,
  zonesView,
} from './balancer-subnets.ts';
import { elbPage } from '../elb-page.ts';
import { tagsOf } from './elb-tags.ts';
import type { LoadBalancer } from './things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_LoadBalancerAttribute.html */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  'access_logs.s3.bucket': '',
  'access_logs.s3.enabled': 'false',
  'access_logs.s3.prefix': '',
  'deletion_protection.enabled': 'false',
  'dns_record.client_routing_policy': 'any_availability_zone',
  'ipv6.deny_all_igw_traffic': 'false',
  'load_balancing.cross_zone.enabled': 'false',
  'secondary_ips.auto_assigned.per_subnet': '0',
  'zonal_shift.config.enabled': 'false',
};

export const balancerOperations = {
  CreateLoadBalancer: (input: Input<'CreateLoadBalancer'>, account: AwsAccount): object => {
    const { IpAddressType: ipAddressType = 'ipv4', Name: name, Scheme: scheme = 'internet-facing', Type: type } = input;
    if (type !== 'network')
      throw refused(
        'ValidationError',
        `the fake has network load balancers alone, and no ${type ?? 'application'} one`,
      );
    checkName(name, 'Load balancer');
    if (name.startsWith('internal-'))
      throw refused('ValidationError', `Load balancer name '${name}' cannot start with 'internal-'`);
    const groupIds = input.SecurityGroups ?? [];
    const mappings = mappingsOf(input);
    const prefixForSourceNat = input.EnablePrefixForIpv6SourceNat ?? 'off';
    const same = account.balancers.all().find((one) => one.name === name);
    if (same) {
      const isSame =
        same.scheme === scheme &&
        same.ipAddressType === ipAddressType &&
        same.prefixForSourceNat === prefixForSourceNat &&
        sameSet(same.groupIds, groupIds) &&
        sameSet(
          same.subnets.map(keyOfSubnet),
          mappings.map(
            ({ AllocationId, PrivateIPv4Address, SubnetId }) =>
              `${SubnetId ?? ''}/${AllocationId ?? ''}/${PrivateIPv4Address ?? ''}`,
          ),
        );
      if (isSame) return { LoadBalancers: [view(account, same)] };
      throw refused(
        'DuplicateLoadBalancerName',
        `A load balancer with the same name '${name}' exists, but with different settings`,
      );
    }
    if (account.balancers.all().length >= account.knobs.mostNetworkLoadBalancers) {
      throw refused('TooManyLoadBalancers', `The maximum number of load balancers has been reached`);
    }
    const vpcId = checkPlaces(account, mappings, { scheme, ipAddressType });
    checkGroups(account, groupIds, vpcId);
    if (prefixForSourceNat === 'on' && ipAddressType === 'ipv4') {
      throw refused('InvalidConfigurationRequest', 'EnablePrefixForIpv6SourceNat needs the IP address type dualstack');
    }
    const hex = account.newHex('load-balancer', 16);
    const arn = `arn:aws:elasticloadbalancing:${account.region}:${account.accountId}:loadbalancer/net/${name}/${hex}`;
    const balancer: LoadBalancer = {
      id: arn,
      name,
      scheme: scheme === 'internal' ? 'internal' : 'internet-facing',
      vpcId,
      dnsName: `${name}-${hex}.elb.${account.region}.amazonaws.com`,
      subnets: mappings.map((mapping) => attach(account, mapping, { name, hex, groupIds, ipAddressType })),
      groupIds,
      ipAddressType,
      prefixForSourceNat,
      createdAt: account.clock.now(),
      activeAt: account.clock.monotonic() + account.knobs.provisioningMs,
      attributes: ATTRIBUTES,
      tags: tagsOf(input.Tags),
    };
    account.balancers.put(balancer);
    return { LoadBalancers: [view(account, balancer, 'provisioning')] };
  },

  DescribeLoadBalancers: (input: Input<'DescribeLoadBalancers'>, account: AwsAccount): object => {
    const { LoadBalancerArns: arns = [], Names: names = [] } = input;
    const all = account.balancers.list();
    for (const arn of arns)
      if (!account.balancers.seen(arn)) throw refused('LoadBalancerNotFound', `Load balancer '${arn}' not found`);
    const unknown = names.filter((name) => !all.some((one) => one.name === name));
    if (unknown.length > 0) throw refused('LoadBalancerNotFound', `Load balancers '[${unknown.join(', ')}]' not found`);
    const isAsked = ({ id, name }: LoadBalancer): boolean =>
      arns.length + names.length === 0 ? true : arns.includes(id) || names.includes(name);
    const { items, next } = elbPage(all.filter(isAsked), input, ({ id }) => id);
    return { LoadBalancers: items.map((one) => view(account, one)), ...next };
  },

  /** Of one that is gone it succeeds (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_DeleteLoadBalancer.html). */
  DeleteLoadBalancer: ({ LoadBalancerArn: arn }: Input<'DeleteLoadBalancer'>, account: AwsAccount): object => {
    const balancer = account.balancers.get(arn);
    if (!balancer) return {};
    if (balancer.attributes['deletion_protection.enabled'] === 'true') {
      throw refused(
        'OperationNotPermitted',
        `Load balancer '${arn}' cannot be deleted because deletion protection is enabled`,
      );
    }
    // So AWS says it of one that is in a VPC endpoint service.
    if (balancer.isAssociated) {
      throw refused(
        'ResourceInUse',
        `Load balancer '${arn}' cannot be deleted because it is currently associated with another service`,
      );
    }
    for (const { balancerId, id } of account.listeners.all()) if (balancerId === arn) account.listeners.remove(id);
    for (const subnet of balancer.subnets) detach(account, subnet);
    account.balancers.remove(arn);
    return {};
  },

  DescribeLoadBalancerAttributes: (
    { LoadBalancerArn: arn }: Input<'DescribeLoadBalancerAttributes'>,
    account: AwsAccount,
  ): object => ({
    Attributes: attributeList(existingBalancer(account, arn, 'seen').attributes),
  }),

  ModifyLoadBalancerAttributes: (input: Input<'ModifyLoadBalancerAttributes'>, account: AwsAccount): object => {
    const balancer = existingBalancer(account, input.LoadBalancerArn);
    const attributes = changedAttributes(balancer.attributes, input.Attributes, 'Load balancer');
    if (attributes['access_logs.s3.enabled'] === 'true' && attributes['access_logs.s3.bucket'] === '') {
      throw refused('InvalidConfigurationRequest', 'The access logs S3 bucket must be specified');
    }
    account.balancers.put({ ...balancer, attributes });
    return { Attributes: attributeList(attributes) };
  },

  SetSecurityGroups: (input: Input<'SetSecurityGroups'>, account: AwsAccount): object => {
    const balancer = existingBalancer(account, input.LoadBalancerArn);
    const { SecurityGroups: groupIds } = input;
    // https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_SetSecurityGroups.html
    if (balancer.groupIds.length === 0) {
      throw refused(
        'InvalidConfigurationRequest',
        `Security groups cannot be set on '${balancer.name}', which was created without any`,
      );
    }
    if (groupIds.length === 0) throw refused('ValidationError', 'At least one security group must be specified');
    checkGroups(account, groupIds, balancer.vpcId);
    account.balancers.put({ ...balancer, groupIds });
    for (const { interfaceId } of balancer.subnets) {
      const one = account.interfaces.get(interfaceId);
      if (one) account.interfaces.put({ ...one, groupIds });
    }
    return { SecurityGroupIds: groupIds };
  },

  SetSubnets: (input: Input<'SetSubnets'>, account: AwsAccount): object => {
    const balancer = existingBalancer(account, input.LoadBalancerArn);
    const { IpAddressType: ipAddressType = balancer.ipAddressType } = input;
    const mappings = mappingsOf(input);
    checkPlaces(account, mappings, { scheme: balancer.scheme, ipAddressType, balancer });
    const kept = balancer.subnets.filter(({ subnetId }) => mappings.some(({ SubnetId }) => SubnetId === subnetId));
    for (const one of kept) {
      const mapping = mappings.find(({ SubnetId }) => SubnetId === one.subnetId);
      // What a zone has, it keeps (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_SetSubnets.html).
      if (input.SubnetMappings && mapping?.AllocationId !== one.allocationId) {
        throw refused('InvalidConfigurationRequest', `The address of the subnet ${one.subnetId} cannot be changed`);
      }
    }
    const zones = new Set(balancer.subnets.map(({ subnetId }) => account.subnets.get(subnetId)?.zone));
    const added = mappings.filter(({ SubnetId: id }) => !kept.some(({ subnetId }) => subnetId === id));
    for (const { SubnetId: id = '' } of added) {
      if (zones.has(account.subnets.get(id)?.zone)) {
        throw refused('InvalidConfigurationRequest', `The zone of the subnet ${id} is enabled with another subnet`);
      }
    }
    for (const one of balancer.subnets) if (!kept.includes(one)) detach(account, one);
    const hex = balancer.id.split('/').at(-1) ?? '';
    const next: LoadBalancer = {
      ...balancer,
      ipAddressType,
      prefixForSourceNat: input.EnablePrefixForIpv6SourceNat ?? balancer.prefixForSourceNat,
      subnets: [...kept, ...added.map((mapping) => attach(account, mapping, { ...balancer, hex, ipAddressType }))],
    };
    account.balancers.put(next);
    return {
      AvailabilityZones: zonesView(account, next),
      IpAddressType: ipAddressType,
      EnablePrefixForIpv6SourceNat: next.prefixForSourceNat,
    };
  },

  SetIpAddressType: (input: Input<'SetIpAddressType'>, account: AwsAccount): object => {
    const balancer = existingBalancer(account, input.LoadBalancerArn);
    const { IpAddressType: ipAddressType } = input;
    const mappings = balancer.subnets.map(({ subnetId }) => ({ SubnetId: subnetId }));
    checkPlaces(account, mappings, { scheme: balancer.scheme, ipAddressType, balancer });
    const listeners = account.listeners.all().filter(({ balancerId }) => balancerId === balancer.id);
    const groups = listeners.flatMap(({ targetGroupIds }) =>
      targetGroupIds.flatMap((id) => account.targetGroups.get(id) ?? []),
    );
    if (ipAddressType === 'ipv4' && groups.some((group) => group.ipAddressType === 'ipv6')) {
      throw refused(
        'InvalidConfigurationRequest',
        'A load balancer with IPv6 target groups cannot be of the IP address type ipv4',
      );
    }
    if (
      ipAddressType !== 'ipv4' &&
      balancer.prefixForSourceNat === 'off' &&
      listeners.some(({ protocol }) => protocol.includes('UDP'))
    ) {
      throw refused(
        'InvalidConfigurationRequest',
        'A dualstack load balancer with UDP listeners needs EnablePrefixForIpv6SourceNat',
      );
    }
    const subnets = balancer.subnets.map((one) => ({
      ...one,
      ipv6: ipAddressType === 'ipv4' ? undefined : (one.ipv6 ?? ipv6In(account, one.subnetId)),
    }));
    account.balancers.put({ ...balancer, ipAddressType, subnets });
    return { IpAddressType: ipAddressType };
  },
};

export function existingBalancer(account: AwsAccount, arn: string, how: 'get' | 'seen' = 'get'): LoadBalancer {
  const isSeen = how === 'seen' || account.knobs.writesLag;
  const balancer = isSeen ? account.balancers.seen(arn) : account.balancers.get(arn);
  if (balancer) return balancer;
  throw refused('LoadBalancerNotFound', `Load balancer '${arn}' not found`);
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateLoadBalancer.html#API_CreateLoadBalancer_RequestParameters */
export function checkName(name: string, what: string): void {
  if (name.length > 32)
    throw refused('ValidationError', `${what} name '${name}' cannot be longer than '32' characters`);
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/u.test(name)) {
    throw refused(
      'ValidationError',
      `${what} name '${name}' can only contain characters that are alphanumeric characters and hyphens(-), and not begin or end with a hyphen`,
    );
  }
}

export function changedAttributes(
  old: Readonly<Record<string, string>>,
  change: readonly { readonly Key?: string; readonly Value?: string }[],
  what: string,
): Readonly<Record<string, string>> {
  for (const { Key: key = '' } of change) {
    if (!Object.hasOwn(old, key)) throw refused('ValidationError', `${what} attribute key '${key}' is not recognized`);
  }
  return { ...old, ...Object.fromEntries(change.map(({ Key: key = '', Value: value = '' }) => [key, value])) };
}

export function attributeList(attributes: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(attributes).map(([Key, Value]) => ({ Key, Value }));
}

export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).size === new Set(b).size && a.every((one) => b.includes(one));
}

function view(account: AwsAccount, balancer: LoadBalancer, state?: string): object {
  const { activeAt, createdAt, dnsName, groupIds, id, ipAddressType, name, prefixForSourceNat, scheme, vpcId } =
    balancer;
  return {
    LoadBalancerArn: id,
    DNSName: dnsName,
    CanonicalHostedZoneId: 'Z3F0SRJ5LGBH90',
    CreatedTime: new Date(createdAt).toISOString(),
    LoadBalancerName: name,
    Scheme: scheme,
    VpcId: vpcId,
    State: { Code: state ?? (account.clock.monotonic() < activeAt ? 'provisioning' : 'active') },
    Type: 'network',
    AvailabilityZones: zonesView(account, balancer),
    SecurityGroups: groupIds,
    IpAddressType: ipAddressType,
    EnablePrefixForIpv6SourceNat: prefixForSourceNat,
  };
}
