/** Ports: addresses on a network, of a server, a router, a load balancer. */
import type { Identifiers } from '../identifiers.ts';
import { parseRange, parseAddress } from '../ip-range.ts';
import { Collection, type StandardAttributes } from './collection.ts';
import { badRequest, neutronRefusal } from './neutron-error.ts';
import type { FixedIp, Networks } from './networks.ts';
import type { Quotas } from './quotas.ts';

interface AddressPair {
  readonly ip_address: string;
  readonly mac_address?: string;
}

export interface FakePort extends StandardAttributes {
  readonly name: string;
  readonly network_id: string;
  readonly mac_address: string;
  readonly admin_state_up: boolean;
  readonly status: 'ACTIVE' | 'DOWN' | 'BUILD' | 'ERROR';
  readonly device_id: string;
  readonly device_owner: string;
  readonly fixed_ips: readonly FixedIp[];
  readonly allowed_address_pairs: readonly AddressPair[];
  readonly security_groups: readonly string[];
  readonly port_security_enabled: boolean;
}

export type NewPort = Pick<FakePort, 'network_id' | 'project_id'> &
  Partial<Omit<FakePort, 'fixed_ips' | 'id' | 'created_at' | 'updated_at' | 'revision_number' | 'tenant_id'>> & {
    /** By subnet, by address or by both. Default: one address of each family that the network has. */
    readonly fixed_ips?: readonly Partial<FixedIp>[];
  };

/** Neutron's `max_allowed_address_pair`. */
const MOST_PAIRS = 10;

export interface PortsOptions {
  readonly ids: Identifiers;
  readonly networks: Networks;
  readonly quotas: Quotas;
  /** The group that a port is in when none is named. */
  readonly defaultGroup: (projectId: string) => string;
  readonly hasGroup: (id: string) => boolean;
  /** Told before a port goes: floating IPs leave it. */
  readonly onRemove: (port: FakePort) => void;
}

export class Ports {
  readonly ports: Collection<FakePort>;
  readonly #options: PortsOptions;

  constructor(options: PortsOptions) {
    this.#options = options;
    this.ports = new Collection({
      ids: options.ids,
      kind: 'Port',
      notFound: (id) => `Port ${id} could not be found.`,
      indexed: ['device_id', 'network_id'],
    });
  }

  /** Default: ACTIVE, with port security, in the project's default group. */
  add(port: NewPort): FakePort {
    const { ids, networks, quotas } = this.#options;
    if (quotas.limits.port !== undefined) quotas.check('port', this.ports.where('project_id', port.project_id).length);
    const network = networks.networks.get(port.network_id);
    if (!network) throw networks.networks.missing(port.network_id);
    const mac = port.mac_address ?? ids.mac();
    const isSecured = port.port_security_enabled ?? network.port_security_enabled;
    const fixed = port.fixed_ips
      ? [...port.fixed_ips.map((each) => this.#allocate(network.id, mac, each)), ...this.#ownAddresses(port, mac)]
      : networks.allocateAll(network.id, mac);
    return this.ports.add({
      name: '',
      admin_state_up: true,
      status: 'ACTIVE',
      device_id: '',
      device_owner: '',
      ...port,
      mac_address: mac,
      fixed_ips: fixed,
      port_security_enabled: isSecured,
      security_groups: port.security_groups ?? (isSecured ? [this.#options.defaultGroup(port.project_id)] : []),
      allowed_address_pairs: checkedPairs(port.allowed_address_pairs ?? [], mac, isSecured),
    });
  }

  change(port: FakePort, change: Partial<FakePort>): FakePort {
    const isSecured = change.port_security_enabled ?? port.port_security_enabled;
    for (const id of change.security_groups ?? []) {
      if (!this.#options.hasGroup(id)) {
        throw neutronRefusal(404, 'SecurityGroupNotFound', `Security group ${id} does not exist`);
      }
    }
    if (!isSecured && (change.security_groups ?? []).length > 0) {
      throw neutronRefusal(
        400,
        'PortSecurityAndIPRequiredForSecurityGroups',
        'Port security must be enabled and port must have an IP address in order to use security groups.',
      );
    }
    const pairs = change.allowed_address_pairs;
    return this.ports.change(port.id, {
      ...change,
      ...(change.security_groups ? { security_groups: [...new Set(change.security_groups)].sort() } : {}),
      ...(pairs ? { allowed_address_pairs: checkedPairs(pairs, port.mac_address, isSecured) } : {}),
    });
  }

  remove(id: string): boolean {
    const port = this.ports.get(id);
    if (!port) return false;
    this.#options.onRemove(port);
    for (const each of port.fixed_ips) this.#options.networks.release(each);
    return this.ports.remove(id);
  }

  /** A port has an address in each SLAAC subnet of its network, whichever are asked for (seen on Zed); a router's has not. */
  #ownAddresses({ network_id, device_owner = '', fixed_ips = [] }: NewPort, mac: string): readonly FixedIp[] {
    if (device_owner.startsWith('network:')) return [];
    const { networks } = this.#options;
    const asked = new Set(fixed_ips.map(({ subnet_id }) => subnet_id));
    return networks.subnets
      .where('network_id', network_id)
      .filter(({ id, ipv6_address_mode }) => ipv6_address_mode === 'slaac' && !asked.has(id))
      .map((subnet) => networks.allocate(subnet, mac));
  }

  #allocate(networkId: string, mac: string, { subnet_id, ip_address }: Partial<FixedIp>): FixedIp {
    const { networks } = this.#options;
    const subnets = networks.subnets.where('network_id', networkId);
    const subnet =
      subnet_id === undefined
        ? subnets.find((each) => ip_address === undefined || networks.contains(each, ip_address))
        : subnets.find(({ id }) => id === subnet_id);
    if (subnet) return networks.allocate(subnet, mac, ip_address);
    if (subnet_id !== undefined) throw networks.subnets.missing(subnet_id);
    throw neutronRefusal(
      400,
      'InvalidIpForNetwork',
      `IP address ${ip_address} is not a valid IP for any of the subnets on the specified network.`,
    );
  }
}

/** Host bits are kept as they are given (seen on Zed). */
function checkedPairs(pairs: readonly AddressPair[], mac: string, isSecured: boolean): readonly AddressPair[] {
  if (pairs.length > 0 && !isSecured) {
    throw neutronRefusal(
      409,
      'AddressPairAndPortSecurityRequired',
      'Port Security must be enabled in order to have allowed address pairs on a port.',
    );
  }
  for (const { ip_address } of pairs) {
    if (!parseAddress(ip_address) && !parseRange(ip_address))
      throw badRequest(`'${ip_address}' is not a valid IP address`);
  }
  if (pairs.length > MOST_PAIRS) {
    throw neutronRefusal(
      400,
      'AllowedAddressPairExhausted',
      `The number of allowed address pair exceeds the maximum ${MOST_PAIRS}.`,
    );
  }
  return pairs.map(({ ip_address, mac_address = mac }) => ({ mac_address, ip_address }));
}
