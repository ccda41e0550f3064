/** Floating IPs: an address of the outside, and the port that it leads to. */
import type { Identifiers } from '../identifiers.ts';
import { Collection, type StandardAttributes } from './collection.ts';
import { neutronRefusal } from './neutron-error.ts';
import type { FixedIp, Networks } from './networks.ts';
import type { FakePort, Ports } from './ports.ts';
import type { Quotas } from './quotas.ts';
import type { Routers } from './routers.ts';

export interface FakeFloatingIp extends StandardAttributes {
  readonly floating_ip_address: string;
  readonly floating_network_id: string;
  readonly router_id: string | null;
  readonly port_id: string | null;
  readonly fixed_ip_address: string | null;
  readonly status: 'ACTIVE' | 'DOWN' | 'ERROR';
  /** Such a floating IP is on no port itself. Default: none. */
  readonly port_forwardings?: readonly object[];
}

export interface NewFloatingIp {
  readonly floating_network_id: string;
  readonly project_id: string;
  readonly subnet_id?: string;
  readonly floating_ip_address?: string;
  readonly port_id?: string | null;
  readonly fixed_ip_address?: string;
  readonly description?: string;
}

interface Association {
  readonly router_id: string | null;
  readonly port_id: string | null;
  readonly fixed_ip_address: string | null;
  readonly status: 'ACTIVE' | 'DOWN';
}

const NOWHERE: Association = { router_id: null, port_id: null, fixed_ip_address: null, status: 'DOWN' };

const bad = (message: string): Error => neutronRefusal(400, 'BadRequest', `Bad floatingip request: ${message}.`);

export interface FloatingIpsOptions {
  readonly ids: Identifiers;
  readonly networks: Networks;
  readonly ports: Ports;
  readonly routers: Routers;
  readonly quotas: Quotas;
}

export class FloatingIps {
  readonly floatingIps: Collection<FakeFloatingIp>;
  readonly #options: FloatingIpsOptions;
  readonly #fixed = new Map<string, FixedIp>();

  constructor(options: FloatingIpsOptions) {
    this.#options = options;
    this.floatingIps = new Collection({
      ids: options.ids,
      kind: 'FloatingIP',
      notFound: (id) => `Floating IP ${id} could not be found`,
      indexed: ['port_id'],
    });
  }

  add(given: NewFloatingIp): FakeFloatingIp {
    const { networks, quotas, ids } = this.#options;
    const { floating_network_id, subnet_id, floating_ip_address, port_id, fixed_ip_address, description = '' } = given;
    const network = networks.networks.get(floating_network_id);
    if (!network) throw networks.networks.missing(floating_network_id);
    if (!network['router:external']) throw bad(`Network ${network.id} is not a valid external network`);
    const subnets = networks.subnets.where('network_id', network.id);
    const subnet = subnets.find(({ id, ip_version }) =>
      subnet_id === undefined ? ip_version === 4 : id === subnet_id,
    );
    if (!subnet) throw bad(`Cannot allocate floating IP from subnet ${subnet_id} of network ${network.id}`);
    quotas.check('floatingip', this.floatingIps.where('project_id', given.project_id).length);
    const id = ids.uuid();
    const address = networks.allocate(subnet, ids.mac(), floating_ip_address);
    try {
      const way = this.#associate(id, address.ip_address, network.id, port_id ?? null, fixed_ip_address);
      this.#fixed.set(id, address);
      return this.floatingIps.add({
        id,
        project_id: given.project_id,
        floating_ip_address: address.ip_address,
        floating_network_id: network.id,
        description,
        ...way,
      });
    } catch (error) {
      networks.release(address);
      throw error;
    }
  }

  change(
    item: FakeFloatingIp,
    change: { readonly description?: string; readonly port_id?: string | null; readonly fixed_ip_address?: string },
  ): FakeFloatingIp {
    const { port_id, description, fixed_ip_address } = change;
    const { id, floating_ip_address, floating_network_id } = item;
    if (port_id) this.refuseForwarding(item);
    const way =
      port_id === undefined
        ? {}
        : this.#associate(id, floating_ip_address, floating_network_id, port_id, fixed_ip_address);
    return this.floatingIps.change(id, { ...way, ...(description === undefined ? {} : { description }) });
  }

  remove(id: string): boolean {
    const fixed = this.#fixed.get(id);
    if (fixed) this.#options.networks.release(fixed);
    this.#fixed.delete(id);
    return this.floatingIps.remove(id);
  }

  /** To a port and to its end alike (neutron/services/portforwarding/pf_plugin.py, `_check_floatingip_request`). */
  refuseForwarding({ id, port_forwardings = [] }: FakeFloatingIp): void {
    if (port_forwardings.length === 0) return;
    const text = `Floating IP ${id} in use by Port Forwarding resources.`;
    throw neutronRefusal(409, 'FipInUseByPortForwarding', text);
  }

  /** What a port's end does: its floating IPs stay, and lead nowhere. */
  leave(port: FakePort): void {
    for (const { id } of this.floatingIps.where('port_id', port.id)) this.floatingIps.change(id, NOWHERE);
  }

  /** Neutron's own order of refusals (neutron/db/l3_db.py, `_check_and_get_fip_assoc`). */
  #associate(
    id: string,
    address: string,
    externalNetworkId: string,
    portId: string | null,
    wanted: string | undefined,
  ): Association {
    const { ports, networks, routers } = this.#options;
    if (portId === null) {
      if (wanted !== undefined) throw bad('fixed_ip_address cannot be specified without a port_id');
      return NOWHERE;
    }
    const port = ports.ports.get(portId);
    if (!port) throw ports.ports.missing(portId);
    const v4 = port.fixed_ips.filter(({ ip_address }) => !ip_address.includes(':'));
    const fixed = wanted === undefined ? v4[0] : v4.find(({ ip_address }) => ip_address === wanted);
    if (!fixed) {
      throw bad(
        wanted === undefined
          ? `Cannot add floating IP to port ${port.id} that has no fixed IPv4 addresses`
          : `Port ${port.id} does not have fixed ip ${wanted}`,
      );
    }
    if (wanted === undefined && v4.length > 1) {
      throw bad(
        `Port ${port.id} has multiple fixed IPv4 addresses.  Must provide a specific IPv4 address when assigning a floating IP`,
      );
    }
    const router = routers.between(fixed.subnet_id, externalNetworkId);
    if (!router && networks.subnets.get(fixed.subnet_id)) {
      throw neutronRefusal(
        404,
        'ExternalGatewayForFloatingIPNotFound',
        `External network ${externalNetworkId} is not reachable from subnet ${fixed.subnet_id}.  Therefore, cannot associate Port ${port.id} with a Floating IP.`,
      );
    }
    const other = this.floatingIps
      .where('port_id', port.id)
      .find((each) => each.id !== id && each.fixed_ip_address === fixed.ip_address);
    if (other?.floating_network_id === externalNetworkId) {
      throw neutronRefusal(
        409,
        'FloatingIPPortAlreadyAssociated',
        `Cannot associate floating IP ${address} (${id}) with port ${port.id} using fixed IP ${fixed.ip_address}, as that fixed IP already has a floating IP on external network ${externalNetworkId}.`,
      );
    }
    return {
      router_id: router?.id ?? null,
      port_id: port.id,
      fixed_ip_address: fixed.ip_address,
      status: 'ACTIVE',
    };
  }
}
