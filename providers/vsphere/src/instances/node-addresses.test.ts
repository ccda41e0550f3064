/** Read off kubernetes/cloud-provider-vsphere's nodemanager.go and its tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseCidr, type Cidr } from '@outrigger/cloud-provider';
import type { AddressRules } from '@outrigger/provider-kit';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import { machine, nic } from './machine.suite.ts';
import { nodeAddresses } from './node-addresses.ts';

const cidrs = (...texts: readonly string[]): readonly Cidr[] => texts.flatMap((text) => parseCidr(text) ?? []);

const none: AddressRules = {
  families: ['ipv4'],
  internalSubnets: [],
  externalSubnets: [],
  excludedInternalSubnets: [],
  excludedExternalSubnets: [],
  internalNetwork: undefined,
  externalNetwork: undefined,
};

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
const metadata = (text: string): Partial<VirtualMachine> => ({
  guestInfo: { 'guestinfo.metadata': base64(text), 'guestinfo.metadata.encoding': 'base64' },
});
const two = [nic('lan', '10.0.0.5', 'fd00::5'), nic('Dmz', '192.168.7.5', '2001:db8::5')];

interface Case {
  readonly machine?: Partial<VirtualMachine>;
  readonly rules?: Partial<AddressRules>;
  /** Without the host name; or a text: what is wrong. */
  readonly expected: string;
}

const table: Readonly<Record<string, Case>> = {
  'the first address of the family is both internal and external': {
    machine: { nics: two },
    expected: 'InternalIP 10.0.0.5, ExternalIP 10.0.0.5',
  },
  'of IPv6 alone': {
    machine: { nics: two },
    rules: { families: ['ipv6'] },
    expected: 'InternalIP fd00::5, ExternalIP fd00::5',
  },
  'of both families, in the order that is configured': {
    machine: { nics: two },
    rules: { families: ['ipv6', 'ipv4'] },
    expected: 'InternalIP fd00::5, ExternalIP fd00::5, InternalIP 10.0.0.5, ExternalIP 10.0.0.5',
  },
  'a family that is missing': {
    rules: { families: ['ipv4', 'ipv6'] },
    expected: 'problem: it has no ipv6 address that can be used',
  },
  'by subnet, in the order of the subnets': {
    machine: { nics: two },
    rules: { internalSubnets: cidrs('192.168.7.0/24', '10.0.0.0/8'), externalSubnets: cidrs('10.0.0.0/8') },
    expected: 'InternalIP 192.168.7.5, ExternalIP 10.0.0.5',
  },
  'by a subnet of one side alone, the other side has none': {
    machine: { nics: two },
    rules: { externalSubnets: cidrs('192.168.7.0/24') },
    expected: 'ExternalIP 192.168.7.5',
  },
  'by the name of the network, in any case': {
    machine: { nics: two },
    rules: { internalNetwork: 'dmz', externalNetwork: 'LAN' },
    expected: 'InternalIP 192.168.7.5, ExternalIP 10.0.0.5',
  },
  'a subnet counts more than a name': {
    machine: { nics: two },
    rules: { internalSubnets: cidrs('10.0.0.0/8'), internalNetwork: 'Dmz', externalNetwork: 'Dmz' },
    expected: 'InternalIP 10.0.0.5, ExternalIP 192.168.7.5',
  },
  'a subnet in which nothing is, and then the name': {
    machine: { nics: two },
    rules: { internalSubnets: cidrs('172.16.0.0/12'), internalNetwork: 'Dmz' },
    expected: 'InternalIP 192.168.7.5',
  },
  'neither subnet nor name match: the first address': {
    machine: { nics: two },
    rules: { internalSubnets: cidrs('172.16.0.0/12'), internalNetwork: 'nowhere' },
    expected: 'InternalIP 10.0.0.5, ExternalIP 10.0.0.5',
  },
  'both names are of networks that the machine is not in': {
    machine: { nics: two },
    rules: { internalNetwork: 'a', externalNetwork: 'b', internalSubnets: cidrs('10.0.0.0/8') },
    expected: 'problem: no network card is in the network a or b',
  },
  'excluded on one side': {
    machine: { nics: two },
    rules: { excludedInternalSubnets: cidrs('10.0.0.0/8') },
    expected: 'InternalIP 192.168.7.5, ExternalIP 10.0.0.5',
  },
  'excluded counts more than a subnet': {
    machine: { nics: [nic('lan', '10.0.0.5', '10.0.0.9')] },
    rules: { internalSubnets: cidrs('10.0.0.0/8'), excludedInternalSubnets: cidrs('10.0.0.5/32') },
    expected: 'InternalIP 10.0.0.9',
  },
  'excluded on both sides': {
    rules: { excludedInternalSubnets: cidrs('10.0.0.0/8'), excludedExternalSubnets: cidrs('10.0.0.0/8') },
    expected: 'problem: it has no ipv4 address that can be used',
  },
  'virtual interfaces, loopback, link-local and multicast addresses are none': {
    machine: {
      nics: [
        { ...nic('cni0', '172.17.0.1'), deviceConfigId: -1 },
        nic(
          'lan',
          '127.0.0.1',
          '169.254.1.2',
          '224.0.0.7',
          '0.0.0.0',
          'fe80::1',
          '::1',
          'ff02::1',
          'nonsense',
          '10.0.0.7',
        ),
      ],
    },
    expected: 'InternalIP 10.0.0.7, ExternalIP 10.0.0.7',
  },
  'nothing is left': {
    machine: { nics: [nic('lan', 'fe80::1')] },
    expected: 'problem: no address of its network interfaces can be used',
  },
  'Tools are not up yet': {
    machine: { nics: [] },
    expected: 'problem: VMware Tools report no network interfaces of the guest yet',
  },
  'no host name yet': {
    machine: { guestHostName: undefined },
    expected: 'problem: VMware Tools report no host name of the guest yet',
  },
  'addresses of guestinfo.metadata come first, in their order': {
    machine: {
      nics: [nic('lan', '10.0.0.200', '10.0.0.6', '10.0.0.5')],
      ...metadata('network:\n  ethernets:\n    id0:\n      addresses: [10.0.0.9/24, 10.0.0.5/24, 10.0.0.6/24]\n'),
    },
    expected: 'InternalIP 10.0.0.5, ExternalIP 10.0.0.5',
  },
  'the network of guestinfo.metadata in base64': {
    machine: {
      nics: [nic('lan', '10.0.0.200', '10.0.0.6')],
      ...metadata(`network: ${base64('ethernets: {id0: {addresses: [10.0.0.6/24]}}')}\nnetwork.encoding: b64\n`),
    },
    expected: 'InternalIP 10.0.0.6, ExternalIP 10.0.0.6',
  },
  'the network of guestinfo.metadata packed': {
    machine: {
      nics: [nic('lan', '10.0.0.200', '10.0.0.6')],
      ...metadata(
        `network: ${base64(gzipSync('ethernets: {id0: {addresses: [10.0.0.6/24]}}'))}\nnetwork.encoding: gzip+base64\n`,
      ),
    },
    expected: 'InternalIP 10.0.0.6, ExternalIP 10.0.0.6',
  },
  'guestinfo.metadata in another encoding is not read': {
    machine: {
      nics: [nic('lan', '10.0.0.200', '10.0.0.6')],
      guestInfo: { 'guestinfo.metadata': 'network: {ethernets: {id0: {addresses: [10.0.0.6/24]}}}' },
    },
    expected: 'InternalIP 10.0.0.200, ExternalIP 10.0.0.200',
  },
  'guestinfo.metadata that is broken': {
    machine: { guestInfo: { 'guestinfo.metadata': '?', 'guestinfo.metadata.encoding': 'base64' } },
    expected: 'problem: its guestinfo.metadata cannot be decoded',
  },
};

for (const [name, { expected, machine: overrides, rules }] of Object.entries(table)) {
  test(name, () => {
    const { addresses, problem } = nodeAddresses(machine(overrides), { ...none, ...rules });
    if (problem !== undefined) {
      assert.deepEqual([`problem: ${problem}`, addresses], [expected, []]);
      return;
    }
    const [first, ...others] = addresses.map(({ address, type }) => `${type} ${address}`);
    assert.deepEqual([first, others.join(', ')], ['Hostname node-1', expected]);
  });
}

test('each address has its reason', () => {
  const nics = [
    { ...nic('', '172.17.0.1'), deviceConfigId: -1 },
    nic('lan', '10.0.0.5', '10.0.0.6', 'fd00::5', 'fe80::5'),
    nic('dmz', '192.168.7.5'),
  ];
  const rules = {
    ...none,
    internalSubnets: cidrs('10.0.0.0/24'),
    externalNetwork: 'dmz',
    excludedExternalSubnets: cidrs('10.0.0.0/8'),
  };
  assert.deepEqual(nodeAddresses(machine({ nics }), rules).notes, [
    '172.17.0.1 is dropped: its interface is no network card of the machine (device -1).',
    'fe80::5 is dropped: it is link-local.',
    '10.0.0.5 in the network lan cannot be ExternalIP: 10.0.0.0/8 is excluded, and is InternalIP: it is in the subnet 10.0.0.0/24.',
    '10.0.0.6 in the network lan cannot be ExternalIP: 10.0.0.0/8 is excluded.',
    'fd00::5 in the network lan is dropped: its family is not among ipv4.',
    '192.168.7.5 in the network dmz is ExternalIP: the first in its network.',
  ]);
});
