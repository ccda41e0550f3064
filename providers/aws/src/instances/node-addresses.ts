/** The addresses of a node, by the same rules and in the same order as cloud-provider-aws. Pure. */
import { canonicalIp, CloudError, type NodeAddress } from '@outrigger/cloud-provider';
import type { IpFamily } from '@outrigger/provider-kit';
import type { Instance, InstanceNetworkInterface, NetworkInterface } from '../client/generated/ec2.ts';

/** Throws `invalid` for what is no IP address. `families`: in order. */
export function nodeAddresses(instance: Instance, families: readonly IpFamily[]): readonly NodeAddress[] {
  const interfaces = interfacesOf(instance);
  return families.flatMap((family) => (family === 'ipv4' ? ipv4(instance, interfaces) : ipv6(instance, interfaces)));
}

/** Those in use, the primary one first. */
export function interfacesOf({ NetworkInterfaces = [] }: Instance): readonly InstanceNetworkInterface[] {
  const order = ({ Attachment }: InstanceNetworkInterface): readonly [card: number, device: number] => [
    Attachment?.NetworkCardIndex ?? (Attachment ? 0 : Infinity),
    Attachment?.DeviceIndex ?? Infinity,
  ];
  return NetworkInterfaces.filter(({ Status }) => Status === 'in-use').toSorted((one, other) => {
    const [a, b] = [order(one), order(other)];
    return compare(a[0], b[0]) || compare(a[1], b[1]);
  });
}

/** A node of Fargate. */
export function fargateAddresses(
  { Ipv6Addresses = [], NetworkInterfaceId = '', PrivateDnsName = '', PrivateIpAddress }: NetworkInterface,
  families: readonly IpFamily[],
): readonly NodeAddress[] {
  return families.flatMap((family): readonly NodeAddress[] => {
    const address = family === 'ipv4' ? PrivateIpAddress : Ipv6Addresses[0]?.Ipv6Address;
    if (address === undefined) return [];
    const internal = { type: 'InternalIP', address: ip(address, NetworkInterfaceId) } as const;
    return PrivateDnsName === '' ? [internal] : [internal, { type: 'InternalDNS', address: PrivateDnsName }];
  });
}

function ipv4(
  { InstanceId = '', PrivateDnsName = '', PublicDnsName = '', PublicIpAddress = '' }: Instance,
  interfaces: readonly InstanceNetworkInterface[],
): readonly NodeAddress[] {
  const addresses = interfaces.flatMap(({ PrivateIpAddresses = [] }) =>
    PrivateIpAddresses.flatMap(({ PrivateIpAddress = '' }) => (PrivateIpAddress === '' ? [] : [PrivateIpAddress])),
  );
  const named: readonly (readonly [NodeAddress['type'], string])[] = [
    ['InternalDNS', PrivateDnsName],
    ['Hostname', PrivateDnsName],
    ['ExternalDNS', PublicDnsName],
  ];
  return [
    ...addresses.map((address) => ({ type: 'InternalIP', address: ip(address, InstanceId) }) as const),
    ...(PublicIpAddress === '' ? [] : [{ type: 'ExternalIP', address: ip(PublicIpAddress, InstanceId) } as const]),
    ...named.flatMap(([type, address]) => (address === '' ? [] : [{ type, address }])),
  ];
}

/** All are internal, even those that are reached from outside; EC2 has no names for them. */
function ipv6({ InstanceId = '' }: Instance, interfaces: readonly InstanceNetworkInterface[]): readonly NodeAddress[] {
  return interfaces.flatMap(({ Ipv6Addresses: [first] = [] }) =>
    first === undefined ? [] : [{ type: 'InternalIP', address: ip(first.Ipv6Address ?? '', InstanceId) } as const],
  );
}

function ip(text: string, id: string): string {
  const address = canonicalIp(text);
  if (address === undefined)
    throw new CloudError('invalid', `EC2 says that ${id} has the address ${text}, which is none`);
  return address;
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
