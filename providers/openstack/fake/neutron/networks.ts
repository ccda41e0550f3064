/** Networks and subnets, and the addresses that are handed out of them. */
import { formatAddress, isWithin, parseAddress, parseRange, type IpRange } from '../ip-range.ts';
import type { Identifiers } from '../identifiers.ts';
import { Collection, type New, type StandardAttributes } from './collection.ts';
import { neutronRefusal } from './neutron-error.ts';

export interface FakeNetwork extends StandardAttributes {
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly mtu: number;
  readonly status: string;
  readonly subnets: readonly string[];
  readonly shared: boolean;
  readonly 'router:external': boolean;
  readonly port_security_enabled: boolean;
  readonly is_default?: boolean;
}

export interface FakeSubnet extends StandardAttributes {
  readonly name: string;
  readonly network_id: string;
  readonly ip_version: 4 | 6;
  readonly enable_dhcp: boolean;
  readonly ipv6_ra_mode: string | null;
  readonly ipv6_address_mode: string | null;
  readonly gateway_ip: string | null;
  readonly cidr: string;
  readonly allocation_pools: readonly { readonly start: string; readonly end: string }[];
}

export interface FixedIp {
  readonly subnet_id: string;
  readonly ip_address: string;
}

export class Networks {
  readonly networks: Collection<FakeNetwork>;
  readonly subnets: Collection<FakeSubnet>;
  readonly #used = new Map<string, Set<string>>();
  readonly #next = new Map<string, bigint>();
  readonly #ranges = new Map<string, IpRange>();

  constructor(ids: Identifiers) {
    // External networks are everyone's to see (the extension `external-net`).
    const isShared = (network: FakeNetwork): boolean => network.shared || network['router:external'];
    this.networks = new Collection({
      ids,
      kind: 'Network',
      notFound: (id) => `Network ${id} could not be found.`,
      isShared,
    });
    this.subnets = new Collection({
      ids,
      kind: 'Subnet',
      notFound: (id) => `Subnet ${id} could not be found.`,
      indexed: ['network_id'],
      isShared: ({ network_id }) => this.networks.get(network_id)?.shared === true,
    });
  }

  addNetwork(network: Pick<FakeNetwork, 'name' | 'project_id'> & Partial<New<FakeNetwork>>): FakeNetwork {
    return this.networks.add({
      admin_state_up: true,
      mtu: 1450,
      status: 'ACTIVE',
      subnets: [],
      shared: false,
      'router:external': false,
      port_security_enabled: true,
      ...network,
    });
  }

  /** A subnet of either family; of IPv6, one whose addresses come from the machines' own (SLAAC). */
  addSubnet(network: FakeNetwork, subnet: Pick<FakeSubnet, 'cidr'> & Partial<New<FakeSubnet>>): FakeSubnet {
    const range = parseRange(subnet.cidr);
    if (!range) throw new Error(`${subnet.cidr} is no range`);
    const { family, first, last } = range;
    const made = this.subnets.add({
      name: '',
      project_id: network.project_id,
      network_id: network.id,
      ip_version: family,
      enable_dhcp: true,
      ipv6_ra_mode: family === 6 ? 'slaac' : null,
      ipv6_address_mode: family === 6 ? 'slaac' : null,
      gateway_ip: formatAddress(family, first + 1n),
      allocation_pools: [{ start: formatAddress(family, first + 2n), end: formatAddress(family, last - 1n) }],
      ...subnet,
    });
    this.#ranges.set(made.id, range);
    const subnets = [...(this.networks.get(network.id)?.subnets ?? []), made.id];
    this.networks.change(network.id, { subnets });
    return made;
  }

  contains(subnet: FakeSubnet, address: string): boolean {
    const range = this.#ranges.get(subnet.id);
    return range !== undefined && isWithin(range, address);
  }

  /** One address of each of the network's families: the first subnet of IPv4, and all of SLAAC. */
  allocateAll(networkId: string, mac: string): readonly FixedIp[] {
    const subnets = this.subnets.where('network_id', networkId);
    const v4 = subnets.filter(({ ip_version }) => ip_version === 4).slice(0, 1);
    const v6 = subnets.filter(({ ip_version }) => ip_version === 6);
    return [...v4, ...v6].map((subnet) => this.allocate(subnet, mac));
  }

  allocate(subnet: FakeSubnet, mac: string, wanted?: string): FixedIp {
    const used = this.#used.get(subnet.id) ?? new Set();
    this.#used.set(subnet.id, used);
    const address =
      wanted ?? (subnet.ipv6_address_mode === 'slaac' ? this.#slaac(subnet, mac) : this.#free(subnet, used));
    if (used.has(address)) {
      throw neutronRefusal(
        409,
        'IpAddressAlreadyAllocated',
        `IP address ${address} already allocated in subnet ${subnet.id}`,
      );
    }
    if (!this.contains(subnet, address)) {
      throw neutronRefusal(
        400,
        'InvalidIpForSubnet',
        `IP address ${address} is not a valid IP for the specified subnet.`,
      );
    }
    used.add(address);
    return { subnet_id: subnet.id, ip_address: address };
  }

  release({ subnet_id, ip_address }: FixedIp): void {
    this.#used.get(subnet_id)?.delete(ip_address);
  }

  #free(subnet: FakeSubnet, used: ReadonlySet<string>): string {
    const [pool] = subnet.allocation_pools;
    const start = parseAddress(pool?.start ?? '');
    const end = parseAddress(pool?.end ?? '');
    if (!start || !end) throw new Error(`${subnet.id} has no allocation pool`);
    // Round and round, so that an address that was given back is not the next to be given out.
    const size = end.value - start.value + 1n;
    const from = this.#next.get(subnet.id) ?? 0n;
    for (let step = 0n; step < size; step++) {
      const offset = (from + step) % size;
      const address = formatAddress(subnet.ip_version, start.value + offset);
      if (used.has(address) || address === subnet.gateway_ip) continue;
      this.#next.set(subnet.id, offset + 1n);
      return address;
    }
    throw neutronRefusal(
      409,
      'IpAddressGenerationFailure',
      `No more IP addresses available on network ${subnet.network_id}.`,
    );
  }

  /** EUI-64 (RFC 4291, appendix A): the second-lowest bit of the first octet flipped, `ff:fe` in the middle. */
  #slaac(subnet: FakeSubnet, mac: string): string {
    const octets = mac.split(':').map((octet) => Number.parseInt(octet, 16));
    const [a = 0, b = 0, c = 0, ...rest] = octets;
    const id = [a ^ 2, b, c, 0xff, 0xfe, ...rest].reduce((value, octet) => value * 256n + BigInt(octet), 0n);
    return formatAddress(6, (this.#ranges.get(subnet.id)?.first ?? 0n) + id);
  }
}
