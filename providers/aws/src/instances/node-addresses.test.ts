/** Held to what the unit tests of cloud-provider-aws (v1.37.0, `aws_test.go`) expect of `extractIPv4NodeAddresses` and `extractIPv6NodeAddresses`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IpFamily } from '@outrigger/provider-kit';
import type { Instance, InstanceNetworkInterface } from '../client/generated/ec2.ts';
import { interfacesOf, nodeAddresses } from './node-addresses.ts';

function eni(
  ips: readonly string[],
  {
    card,
    device,
    status = 'in-use',
    v6 = [],
  }: {
    readonly card?: number;
    readonly device?: number;
    readonly status?: string;
    readonly v6?: readonly string[];
  } = {},
): InstanceNetworkInterface {
  return {
    NetworkInterfaceId: `eni-${ips[0] ?? ''}`,
    Status: status,
    PrivateIpAddresses: ips.map((PrivateIpAddress) => ({ PrivateIpAddress })),
    Ipv6Addresses: v6.map((Ipv6Address) => ({ Ipv6Address })),
    ...(device !== undefined && {
      Attachment: { DeviceIndex: device, ...(card !== undefined && { NetworkCardIndex: card }) },
    }),
  };
}

function shown(instance: Instance, ...families: readonly IpFamily[]): readonly string[] {
  return nodeAddresses(instance, families).map(({ address, type }) => `${type} ${address}`);
}

const NAMED: Instance = {
  InstanceId: 'i-1',
  PublicIpAddress: '1.2.3.4',
  PrivateDnsName: 'ip-192-168-0-1.ec2.internal',
  PublicDnsName: 'instance-same.ec2.external',
};

test('an instance with all names, and interfaces that are in use, by device index', () => {
  const instance = {
    ...NAMED,
    NetworkInterfaces: [
      eni(['192.168.0.2'], { device: 1, v6: ['2001:DB8::2'] }),
      eni(['192.168.0.9'], { device: 2, status: 'available', v6: ['2001:db8::9'] }),
      eni(['192.168.0.1', '192.168.0.7'], { device: 0, v6: ['2001:db8::1', '2001:db8::7'] }),
    ],
  };
  const ipv4 = [
    'InternalIP 192.168.0.1',
    'InternalIP 192.168.0.7',
    'InternalIP 192.168.0.2',
    'ExternalIP 1.2.3.4',
    'InternalDNS ip-192-168-0-1.ec2.internal',
    'Hostname ip-192-168-0-1.ec2.internal',
    'ExternalDNS instance-same.ec2.external',
  ];
  const ipv6 = ['InternalIP 2001:db8::1', 'InternalIP 2001:db8::2'];
  assert.deepEqual(shown(instance, 'ipv4'), ipv4);
  assert.deepEqual(shown(instance, 'ipv6'), ipv6);
  assert.deepEqual(shown(instance, 'ipv4', 'ipv6'), [...ipv4, ...ipv6]);
  assert.deepEqual(shown(instance, 'ipv6', 'ipv4'), [...ipv6, ...ipv4]);
});

test('what there is not is left out', () => {
  assert.deepEqual(shown({}, 'ipv4', 'ipv6'), []);
  assert.deepEqual(shown({ ...NAMED, PublicIpAddress: '', PublicDnsName: '', PrivateDnsName: '' }, 'ipv4'), []);
  assert.deepEqual(shown({ PrivateIpAddress: '10.0.0.1', NetworkInterfaces: [eni([''])] }, 'ipv4', 'ipv6'), []);
});

test('interfaces of several network cards: the primary one first, those without an attachment last', () => {
  const all = [
    eni(['c'], { card: 1, device: 1 }),
    eni(['d']),
    eni(['b'], { card: 0, device: 1 }),
    eni(['a'], { card: 0, device: 0 }),
  ];
  assert.deepEqual(
    interfacesOf({ NetworkInterfaces: all }).map(({ NetworkInterfaceId }) => NetworkInterfaceId),
    ['eni-a', 'eni-b', 'eni-c', 'eni-d'],
  );
});

test('what is no address is an error', () => {
  const wrong = [
    { NetworkInterfaces: [eni(['not-an-address'])] },
    { PublicIpAddress: '1.2.3' },
    { NetworkInterfaces: [eni([], { v6: ['zz::'] })] },
  ];
  for (const instance of wrong)
    assert.throws(() => nodeAddresses({ InstanceId: 'i-1', ...instance }, ['ipv4', 'ipv6']), {
      code: 'invalid',
      message: /i-1/u,
    });
});
