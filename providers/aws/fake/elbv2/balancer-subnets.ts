/** Where a network load balancer stands: its subnets, addresses, security groups, and an interface in each subnet. */
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import { canonicalRange } from '../ec2/ip-range.ts';
import type { Subnet } from '../things.ts';
import type { BalancerSubnet, LoadBalancer } from './things.ts';

interface Mapping {
  readonly SubnetId?: string;
  readonly AllocationId?: string;
  readonly PrivateIPv4Address?: string;
  readonly IPv6Address?: string;
}

const MOST_GROUPS = 5;

export function keyOfSubnet({ allocationId, privateIp, subnetId }: BalancerSubnet): string {
  return `${subnetId}/${allocationId ?? ''}/${privateIp ?? ''}`;
}

export function mappingsOf({
  SubnetMappings: mappings,
  Subnets: subnets,
}: {
  readonly Subnets?: readonly string[];
  readonly SubnetMappings?: readonly Mapping[];
}): readonly Mapping[] {
  if (mappings && subnets)
    throw refused('ValidationError', 'You must specify either subnets or subnet mappings, not both');
  const all = mappings ?? subnets?.map((SubnetId) => ({ SubnetId })) ?? [];
  if (all.length === 0) throw refused('ValidationError', 'At least one subnet must be specified');
  return all;
}

/** The VPC of the subnets. */
export function checkPlaces(
  account: AwsAccount,
  mappings: readonly Mapping[],
  {
    balancer,
    ipAddressType,
    scheme,
  }: { readonly scheme: string; readonly ipAddressType: string; readonly balancer?: LoadBalancer },
): string {
  const subnets = mappings.map(({ SubnetId: id = '' }): Subnet => {
    const subnet = account.subnets.get(id);
    if (subnet) return subnet;
    throw refused('SubnetNotFound', `The subnet ID '${id}' does not exist`);
  });
  const vpcs = new Set([...subnets.map(({ vpcId }) => vpcId), ...(balancer ? [balancer.vpcId] : [])]);
  if (vpcs.size > 1) throw refused('InvalidSubnet', 'All subnets must belong to the same VPC');
  if (new Set(subnets.map(({ zone }) => zone)).size < subnets.length) {
    throw refused(
      'InvalidConfigurationRequest',
      'A load balancer cannot be attached to multiple subnets in the same Availability Zone',
    );
  }
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/network/availability-zones.html, "Considerations"
  const elsewhere = subnets.find(
    ({ zone }) => account.zones.find(({ name }) => name === zone)?.type !== 'availability-zone',
  );
  if (elsewhere) throw refused('InvalidSubnet', `The subnet ${elsewhere.id} is not in an Availability Zone`);
  const [vpcId = ''] = vpcs;
  const routes = account.routeTables
    .all()
    .filter((table) => table.vpcId === vpcId)
    .flatMap((table) => table.routes);
  if (scheme === 'internet-facing' && !routes.some(({ gatewayId }) => gatewayId?.startsWith('igw-'))) {
    throw refused('InvalidSubnet', `VPC ${vpcId} has no internet gateway`);
  }
  if (ipAddressType !== 'ipv4' && subnets.some(({ ipv6Cidr }) => ipv6Cidr === undefined)) {
    throw refused('InvalidSubnet', 'You must specify subnets with an associated IPv6 CIDR block.');
  }
  const withAddress = mappings.filter(({ AllocationId: id }) => id !== undefined);
  if (withAddress.length > 0 && scheme === 'internal')
    throw refused('InvalidConfigurationRequest', 'An internal load balancer cannot have Elastic IP addresses');
  if (withAddress.length > 0 && withAddress.length < mappings.length) {
    throw refused('InvalidConfigurationRequest', 'Either all subnets have an Elastic IP address, or none');
  }
  for (const { AllocationId: id } of withAddress) {
    const address = account.addresses.get(id ?? '');
    if (!address) throw refused('AllocationIdNotFound', `The allocation ID '${id ?? ''}' does not exist`);
    const isOwn = balancer?.subnets.some((one) => one.allocationId === id) ?? false;
    if (address.associationId !== undefined && !isOwn)
      throw refused('ResourceInUse', `The allocation ID '${address.id}' is in use`);
  }
  for (const { PrivateIPv4Address: ip, SubnetId: id } of mappings) {
    if (ip === undefined) continue;
    if (scheme !== 'internal')
      throw refused('InvalidConfigurationRequest', 'Private IPv4 addresses are for internal load balancers');
    const { cidr = '' } = subnets.find((subnet) => subnet.id === id) ?? {};
    if (canonicalRange(`${ip}/${cidr.split('/')[1] ?? ''}`, 'ipv4') !== cidr) {
      throw refused('InvalidConfigurationRequest', `The address ${ip} is not in the subnet ${id ?? ''}`);
    }
    const user = account.liveInterfaces().find(({ privateIps }) => privateIps.includes(ip));
    if (user && !balancer?.subnets.some(({ interfaceId }) => interfaceId === user.id)) {
      throw refused('InvalidConfigurationRequest', `The address ${ip} is in use`);
    }
  }
  return vpcId;
}

export function checkGroups(account: AwsAccount, ids: readonly string[], vpcId: string): void {
  if (ids.length > MOST_GROUPS)
    throw refused('InvalidConfigurationRequest', `At most ${MOST_GROUPS} security groups can be associated`);
  for (const id of ids) {
    const group = account.knobs.writesLag ? account.groups.seen(id) : account.groups.get(id);
    if (group?.vpcId !== vpcId) throw refused('InvalidSecurityGroup', `One or more security groups are invalid: ${id}`);
  }
}

/** An interface in the subnet, that holds the groups. */
export function attach(
  account: AwsAccount,
  { AllocationId: allocationId, IPv6Address: givenIpv6, PrivateIPv4Address: givenIp, SubnetId: subnetId = '' }: Mapping,
  {
    groupIds,
    hex,
    ipAddressType,
    name,
  }: {
    readonly name: string;
    readonly hex: string;
    readonly groupIds: readonly string[];
    readonly ipAddressType: string;
  },
): BalancerSubnet {
  const subnet = account.subnets.get(subnetId);
  if (!subnet) throw refused('SubnetNotFound', `The subnet ID '${subnetId}' does not exist`);
  const interfaceId = account.newId('eni');
  const address = allocationId === undefined ? undefined : account.addresses.get(allocationId);
  const ipv6 = ipAddressType === 'ipv4' ? undefined : (givenIpv6 ?? ipv6In(account, subnetId));
  if (address) {
    account.addresses.put({ ...address, associationId: account.newId('eipassoc'), networkInterfaceId: interfaceId });
  }
  account.interfaces.put({
    id: interfaceId,
    subnetId,
    groupIds,
    privateIps: [givenIp ?? account.newAddress(subnet, 'ipv4')],
    publicIp: address?.publicIp,
    ipv6: ipv6 === undefined ? [] : [ipv6],
    ipv4Prefixes: [],
    ipv6Prefixes: [],
    attachment: { id: account.newId('ela-attach'), instanceId: undefined, deviceIndex: 1, status: 'attached' },
    description: `ELB net/${name}/${hex}`,
    type: 'network_load_balancer',
    requesterId: 'amazon-elb',
    sourceDestCheck: false,
    goneAt: undefined,
    tags: {},
  });
  return { subnetId, allocationId, privateIp: givenIp, ipv6, interfaceId };
}

export function ipv6In(account: AwsAccount, subnetId: string): string | undefined {
  const subnet = account.subnets.get(subnetId);
  return subnet && account.newAddress(subnet, 'ipv6');
}

export function detach(account: AwsAccount, { allocationId, interfaceId }: BalancerSubnet): void {
  releaseInterface(account, interfaceId);
  const address = allocationId === undefined ? undefined : account.addresses.get(allocationId);
  if (address) account.addresses.put({ ...address, associationId: undefined, networkInterfaceId: undefined });
}

/** It stays for a while, and holds its groups. */
export function releaseInterface(account: AwsAccount, id: string): void {
  const { interfaceReleaseMs: afterMs } = account.knobs;
  const one = account.interfaces.get(id);
  if (one && afterMs > 0) account.interfaces.put({ ...one, goneAt: account.clock.monotonic() + afterMs });
  else account.interfaces.remove(id);
}

export function zonesView(account: AwsAccount, { subnets }: LoadBalancer): readonly object[] {
  return subnets.map(({ allocationId, ipv6, privateIp, subnetId }) => {
    const publicIp = allocationId === undefined ? undefined : account.addresses.get(allocationId)?.publicIp;
    const address = {
      ...(publicIp !== undefined && { IpAddress: publicIp, AllocationId: allocationId }),
      ...(privateIp !== undefined && { PrivateIPv4Address: privateIp }),
      ...(ipv6 !== undefined && { IPv6Address: ipv6 }),
    };
    return {
      ZoneName: account.subnets.get(subnetId)?.zone ?? '',
      SubnetId: subnetId,
      LoadBalancerAddresses: Object.keys(address).length > 0 ? [address] : [],
    };
  });
}
