/** What is asked of the official provider, so that ours answers the same: machines under several configurations. */
import type { LabGuest, LabHardware, LabNic } from './lab.ts';

export interface GoldenCase {
  readonly name: string;
  readonly guest: LabGuest;
  readonly hardware?: LabHardware;
  /** What the node says instead of the machine's BIOS UUID. */
  readonly systemUuid?: (biosUuid: string) => string;
}

export interface GoldenGroup {
  readonly name: string;
  /** Sections after `[VirtualCenter]`. */
  readonly config: string;
  /** `ip-family` of the vCenter. Default: none, which is `ipv4`. */
  readonly families?: string;
  readonly cases: readonly GoldenCase[];
}

function nic(network: string, ...addresses: readonly string[]): LabNic {
  return {
    network,
    addresses: addresses.map((address) => ({ address, prefixLength: address.includes(':') ? 64 : 24 })),
  };
}

function guest(...nics: readonly LabNic[]): LabGuest {
  return { hostName: 'guest-name', ipAddress: nics[0]?.addresses[0]?.address ?? '', nics };
}

function metadata(yaml: string): LabHardware {
  return {
    extraConfig: {
      'guestinfo.metadata': Buffer.from(yaml).toString('base64'),
      'guestinfo.metadata.encoding': 'base64',
    },
  };
}

/** The first three fields of an SMBIOS UUID, read in the other byte order. */
export function swapped(uuid: string): string {
  const digits = uuid.replaceAll('-', '');
  const reversed = (from: number, to: number): string =>
    (digits.slice(from, to).match(/../g) ?? []).toReversed().join('');
  const rest = `${digits.slice(16, 20)}-${digits.slice(20)}`;
  return `${reversed(0, 8)}-${reversed(8, 12)}-${reversed(12, 16)}-${rest}`;
}

const BOTH_NETWORKS = guest(nic('inside', '10.1.0.7'), nic('outside', '192.0.2.7'));

export const GOLDEN_GROUPS: readonly GoldenGroup[] = [
  {
    name: 'as it is',
    config: '',
    cases: [
      { name: 'one interface', guest: guest(nic('nodes', '10.1.0.1')) },
      { name: 'two interfaces: the first address is both', guest: BOTH_NETWORKS },
      { name: 'a virtual address beside its own', guest: guest(nic('nodes', '10.1.0.100', '10.1.0.2')) },
      {
        name: 'an interface of the guest alone comes first',
        guest: guest({ ...nic('', '172.17.0.1'), deviceConfigId: -1 }, nic('nodes', '10.1.0.3')),
      },
      {
        name: 'loopback and link-local',
        guest: guest(nic('nodes', '127.0.0.1', '::1', '169.254.1.1', 'fe80::1', '0.0.0.0', '224.0.0.251', '10.1.0.4')),
      },
      { name: 'only link-local', guest: guest(nic('nodes', '169.254.1.1', 'fe80::1')) },
      { name: 'IPv6 first', guest: guest(nic('nodes', '2001:db8::5', '10.1.0.5')) },
      { name: 'only IPv6', guest: guest(nic('nodes', '2001:db8::6')) },
      {
        name: 'an interface that is not connected',
        guest: guest({ ...nic('nodes', '10.1.0.6'), connected: false }, nic('nodes', '10.1.0.7')),
      },
      { name: 'no interfaces yet', guest: { hostName: 'guest-name', ipAddress: '', nics: [] } },
      { name: 'an interface without addresses', guest: guest(nic('nodes')) },
      { name: 'no host name yet', guest: { ...guest(nic('nodes', '10.1.0.8')), hostName: '' } },
      { name: 'capital letters in the host name', guest: { ...guest(nic('nodes', '10.1.0.9')), hostName: 'Node-ONE' } },
      {
        name: 'a host name with its domain',
        guest: { ...guest(nic('nodes', '10.1.0.10')), hostName: 'node-10.example.org' },
      },
      {
        name: 'static addresses come first, in their order',
        guest: guest(nic('nodes', '10.1.0.100', '10.1.0.11', '10.1.0.12')),
        hardware: metadata('network:\n  ethernets:\n    eth0:\n      addresses: [10.1.0.12/24, 10.1.0.11/24]\n'),
      },
      {
        name: 'a static address that no interface has',
        guest: guest(nic('nodes', '10.1.0.13')),
        hardware: metadata('network:\n  ethernets:\n    eth0:\n      addresses: [10.1.0.99/24]\n'),
      },
      {
        name: 'metadata that is not in base64',
        guest: guest(nic('nodes', '10.1.0.100', '10.1.0.14')),
        hardware: {
          extraConfig: {
            'guestinfo.metadata': 'network: {ethernets: {eth0: {addresses: [10.1.0.14/24]}}}',
            'guestinfo.metadata.encoding': '',
          },
        },
      },
      {
        name: 'metadata that cannot be decoded',
        guest: guest(nic('nodes', '10.1.0.15')),
        hardware: { extraConfig: { 'guestinfo.metadata': '%%%', 'guestinfo.metadata.encoding': 'base64' } },
      },
      {
        name: 'metadata that is no YAML',
        guest: guest(nic('nodes', '10.1.0.16')),
        hardware: metadata('network: [unclosed'),
      },
      {
        name: 'metadata of something else',
        guest: guest(nic('nodes', '10.1.0.17')),
        hardware: metadata('local-hostname: x\n'),
      },
      {
        name: 'four processors, 16 GiB, Ubuntu',
        guest: guest(nic('nodes', '10.1.0.18')),
        hardware: { cpus: 4, memoryMB: 16_384, guestId: 'ubuntu64Guest' },
      },
      {
        name: 'memory that is no whole GiB, Photon',
        guest: guest(nic('nodes', '10.1.0.19')),
        hardware: { cpus: 1, memoryMB: 1_600, guestId: 'vmwarePhoton64Guest' },
      },
      {
        name: 'a guest without a word',
        guest: guest(nic('nodes', '10.1.0.20')),
        hardware: { guestId: 'otherLinux64Guest' },
      },
      {
        name: 'a UUID in the other byte order',
        guest: guest(nic('nodes', '10.1.0.21')),
        systemUuid: swapped,
      },
      {
        name: 'a UUID in capital letters',
        guest: guest(nic('nodes', '10.1.0.22')),
        systemUuid: (uuid) => uuid.toUpperCase(),
      },
    ],
  },
  {
    name: 'subnets',
    config:
      '[Nodes]\ninternal-network-subnet-cidr = "10.1.0.0/16"\nexternal-network-subnet-cidr = "192.0.2.0/24,198.51.100.0/24"\n',
    cases: [
      { name: 'one address in each', guest: BOTH_NETWORKS },
      { name: 'the other way round', guest: guest(nic('outside', '192.0.2.8'), nic('inside', '10.1.0.8')) },
      { name: 'only an internal one', guest: guest(nic('inside', '172.16.0.1', '10.1.0.9')) },
      { name: 'only an external one', guest: guest(nic('outside', '172.16.0.1', '192.0.2.9')) },
      { name: 'neither', guest: guest(nic('other', '172.16.0.1'), nic('other', '172.16.0.2')) },
      {
        name: 'the order of the subnets counts, not that of the addresses',
        guest: guest(nic('outside', '198.51.100.10', '192.0.2.10'), nic('inside', '10.1.0.10')),
      },
      { name: 'a virtual address in the same subnet', guest: guest(nic('inside', '10.1.0.100', '10.1.0.11')) },
    ],
  },
  {
    name: 'names of networks',
    config: '[Nodes]\ninternal-vm-network-name = "Inside"\nexternal-vm-network-name = "outside"\n',
    cases: [
      { name: 'one of each', guest: guest(nic('other', '172.16.0.1'), ...BOTH_NETWORKS.nics) },
      {
        name: 'in other letters',
        guest: guest(nic('INSIDE', '10.1.0.8'), nic('OutSide', '192.0.2.8')),
      },
      { name: 'only the internal one', guest: guest(nic('other', '172.16.0.1'), nic('Inside', '10.1.0.9')) },
      { name: 'only the external one', guest: guest(nic('other', '172.16.0.1'), nic('outside', '192.0.2.9')) },
      { name: 'neither', guest: guest(nic('other', '172.16.0.1')) },
      {
        name: 'the internal one is an interface of the guest alone',
        guest: guest({ ...nic('Inside', '10.1.0.10'), deviceConfigId: -1 }, nic('other', '172.16.0.1')),
      },
      {
        name: 'the internal one has no address',
        guest: guest(nic('Inside'), nic('other', '172.16.0.1')),
      },
    ],
  },
  {
    name: 'one name of a network',
    config: '[Nodes]\ninternal-vm-network-name = "inside"\n',
    cases: [
      { name: 'it is there', guest: guest(nic('other', '172.16.0.1'), nic('inside', '10.1.0.7')) },
      { name: 'it is not', guest: guest(nic('other', '172.16.0.1')) },
    ],
  },
  {
    name: 'exclusions',
    config:
      '[Nodes]\nexclude-internal-network-subnet-cidr = "10.9.0.0/16,10.8.0.1/32"\nexclude-external-network-subnet-cidr = "10.1.0.0/16"\n',
    cases: [
      { name: 'none of its addresses', guest: guest(nic('nodes', '172.16.0.1')) },
      { name: 'the first as internal', guest: guest(nic('nodes', '10.9.0.1', '10.2.0.1')) },
      { name: 'the first as external', guest: guest(nic('nodes', '10.1.0.1', '10.2.0.1')) },
      { name: 'all as external', guest: guest(nic('nodes', '10.1.0.2')) },
      { name: 'all as internal', guest: guest(nic('nodes', '10.9.0.2', '10.8.0.1')) },
    ],
  },
  {
    name: 'subnets, names and exclusions',
    config:
      '[Nodes]\ninternal-network-subnet-cidr = "10.1.0.0/16"\nexternal-vm-network-name = "outside"\nexclude-internal-network-subnet-cidr = "10.1.0.100/32"\nexclude-external-network-subnet-cidr = "192.0.2.100/32"\n',
    cases: [
      {
        name: 'virtual addresses are left out',
        guest: guest(nic('inside', '10.1.0.100', '10.1.0.7'), nic('outside', '192.0.2.100', '192.0.2.7')),
      },
      { name: 'no external one is left', guest: guest(nic('inside', '10.1.0.8'), nic('outside', '192.0.2.100')) },
      { name: 'all is excluded', guest: guest(nic('inside', '10.1.0.100')) },
    ],
  },
  {
    name: 'IPv6',
    config: '',
    families: 'ipv6',
    cases: [
      { name: 'beside IPv4', guest: guest(nic('nodes', '10.1.0.1', '2001:db8::1')) },
      { name: 'no IPv6', guest: guest(nic('nodes', '10.1.0.2')) },
      { name: 'written in full', guest: guest(nic('nodes', '2001:0db8:0000:0000:0000:0000:0000:0003')) },
    ],
  },
  {
    name: 'two families',
    config:
      '[Nodes]\ninternal-network-subnet-cidr = "10.1.0.0/16,2001:db8:1::/48"\nexternal-network-subnet-cidr = "192.0.2.0/24,2001:db8:2::/48"\n',
    families: 'ipv6,ipv4',
    cases: [
      {
        name: 'one address of each kind',
        guest: guest(nic('inside', '10.1.0.1', '2001:db8:1::1'), nic('outside', '192.0.2.1', '2001:db8:2::1')),
      },
      { name: 'neither subnet of one family', guest: guest(nic('inside', '10.1.0.2', '2001:db8:9::2')) },
      { name: 'no IPv6', guest: guest(nic('inside', '10.1.0.3')) },
    ],
  },
];
