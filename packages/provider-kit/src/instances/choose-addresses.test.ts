import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr, type Cidr } from '@outrigger/cloud-provider';
import { chooseAddresses, usableAddresses, type AddressRules, type MachineInterface } from './choose-addresses.ts';

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
const two: readonly MachineInterface[] = [
  { network: 'lan', addresses: ['10.0.0.5', 'FD00::5'] },
  { network: 'Dmz', addresses: ['192.168.7.5'] },
];

function chosen(rules: Partial<AddressRules> = {}, first: readonly string[] = []): readonly string[] {
  const { usable } = usableAddresses(two);
  const { addresses, missing } = chooseAddresses(usable, { ...none, ...rules }, first);
  return [...addresses.map(({ address, type }) => `${type} ${address}`), ...missing.map((one) => `no ${one}`)];
}

test('a subnet counts more than a network, that more than the order; what is excluded on one side may serve on the other', () => {
  assert.deepEqual(chosen(), ['InternalIP 10.0.0.5', 'ExternalIP 10.0.0.5']);
  assert.deepEqual(chosen({ families: ['ipv6', 'ipv4'] }).slice(0, 3), [
    'InternalIP FD00::5',
    'ExternalIP FD00::5',
    'InternalIP 10.0.0.5',
  ]);
  assert.deepEqual(
    chosen({ internalSubnets: cidrs('192.168.0.0/16'), internalNetwork: 'lan', externalNetwork: 'LAN' }),
    ['InternalIP 192.168.7.5', 'ExternalIP 10.0.0.5'],
  );
  // A rule that has matched on one side leaves the other without an address.
  assert.deepEqual(chosen({ externalNetwork: 'dmz' }), ['ExternalIP 192.168.7.5']);
  assert.deepEqual(chosen({ excludedInternalSubnets: cidrs('10.0.0.0/8') }), [
    'InternalIP 192.168.7.5',
    'ExternalIP 10.0.0.5',
  ]);
  assert.deepEqual(chosen({}, ['192.168.7.5']), ['InternalIP 192.168.7.5', 'ExternalIP 192.168.7.5']);
  const all = cidrs('0.0.0.0/0');
  assert.deepEqual(chosen({ excludedInternalSubnets: all, excludedExternalSubnets: all }), ['no ipv4']);
});

test('a sentence for each address says why it was taken or dropped', () => {
  const { notes, usable } = usableAddresses([
    ...two,
    { addresses: ['127.0.0.1', '::1', '169.254.1.1', 'fe80::1', '0.0.0.0', '224.0.0.5', 'x'] },
    { addresses: ['172.17.0.1'], ignored: 'it is a bridge of the guest' },
  ]);
  assert.deepEqual(notes, [
    '127.0.0.1 is dropped: it is a loopback address.',
    '::1 is dropped: it is a loopback address.',
    '169.254.1.1 is dropped: it is link-local.',
    'fe80::1 is dropped: it is link-local.',
    '0.0.0.0 is dropped: it is unspecified.',
    '224.0.0.5 is dropped: it is link-local multicast.',
    'x is dropped: it is no IP address.',
    '172.17.0.1 is dropped: it is a bridge of the guest.',
  ]);
  const rules = { ...none, internalSubnets: cidrs('10.0.0.0/8'), excludedExternalSubnets: cidrs('10.0.0.0/8') };
  assert.deepEqual(chooseAddresses(usable, rules).notes, [
    '10.0.0.5 in the network lan cannot be ExternalIP: 10.0.0.0/8 is excluded, and is InternalIP: it is in the subnet 10.0.0.0/8.',
    'FD00::5 in the network lan is dropped: its family is not among ipv4.',
    '192.168.7.5 in the network Dmz is dropped: another address came first.',
  ]);
});

// Were each looked for among those that come first, it would be 2 s.
test('many addresses, and many that come first, cost no more than their number', () => {
  const { usable } = usableAddresses([
    { addresses: Array.from({ length: 20_000 }, (_, i) => `10.1.${i >> 8}.${i & 255}`) },
  ]);
  const first = Array.from({ length: 20_000 }, (_, i) => `10.2.${i >> 8}.${i & 255}`);
  const before = process.threadCpuUsage();
  const { addresses } = chooseAddresses(usable, none, [...first, '10.1.7.7', '10.1.3.3', '10.1.7.7']);
  const { user } = process.threadCpuUsage(before);
  assert.equal(addresses[0]?.address, '10.1.7.7');
  assert.ok(user < 500_000, `${user / 1000} ms of CPU`);
});
