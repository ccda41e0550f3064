/** Where a load balancer's address comes from: a port, a network or a subnet. */
import { Refusal, type Caller } from '../fake-http.ts';
import { isInCidr } from '../ip-range.ts';
import type { FixedIp } from '../neutron/networks.ts';
import type { Networking } from '../neutron/networking.ts';
import { invalid, octaviaRefusal } from './octavia-error.ts';
import type { AdditionalVip } from './octavia-objects.ts';

/** The VIP's port is in a group of octavia's own project, which the owner of the load balancer does not see. */
const OCTAVIA_PROJECT = 'octavia';

export interface VipRequest {
  readonly vip_port_id?: string;
  readonly vip_network_id?: string;
  readonly vip_subnet_id?: string;
  readonly vip_address?: string;
  readonly additional_vips?: readonly AdditionalVip[];
}

export interface Vip {
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly vip_subnet_id: string;
  readonly vip_network_id: string;
  readonly additional_vips: readonly AdditionalVip[];
  readonly ownsPort: boolean;
}

/** Octavia's own order of refusals (octavia/api/v2/controllers/load_balancer.py, `_validate_vip_request_object`). */
export function takeVip(
  networking: Networking,
  request: VipRequest,
  caller: Caller,
  loadBalancerId: string,
  provider: string,
): Vip {
  const { vip_port_id, vip_subnet_id, vip_address } = request;
  const others = request.additional_vips ?? [];
  if (vip_port_id !== undefined) return vipOfPort(networking, vip_port_id, request, caller);
  const subnetId = vip_subnet_id ?? subnetOf(networking, request, caller);
  const subnet = networking.networks.subnets.get(subnetId);
  const network = subnet && networking.networks.networks.get(subnet.network_id);
  if (!subnet || !network) throw octaviaRefusal(400, `Subnet ${subnetId} not found.`);
  checkSubnets(networking, subnetId, others);
  const wanted: Partial<FixedIp>[] = [
    { subnet_id: subnetId, ...(vip_address === undefined ? {} : { ip_address: vip_address }) },
    ...others.map(({ subnet_id, ip_address }) => ({ subnet_id, ...(ip_address === undefined ? {} : { ip_address }) })),
  ];
  try {
    const port = networking.ports.add({
      network_id: network.id,
      project_id: caller.projectId,
      name: `octavia-lb-${loadBalancerId}`,
      device_id: `lb-${loadBalancerId}`,
      device_owner: 'Octavia',
      admin_state_up: false,
      status: 'DOWN',
      security_groups: [networking.securityGroups.addGroup(OCTAVIA_PROJECT, `lb-${loadBalancerId}`).id],
      fixed_ips: wanted,
    });
    return {
      vip_address: port.fixed_ips[0]?.ip_address ?? '',
      vip_port_id: port.id,
      vip_subnet_id: subnetId,
      vip_network_id: network.id,
      additional_vips: others.map(({ subnet_id }) => ({
        subnet_id,
        ip_address: port.fixed_ips.find((each) => each.subnet_id === subnet_id)?.ip_address ?? '',
      })),
      ownsPort: true,
    };
  } catch (error) {
    // What neutron says to the driver comes out as the driver's error (seen on Zed with a quota of ports).
    if (!(error instanceof Refusal)) throw error;
    const { message = '' } = (error.response.body as { NeutronError?: { message: string } }).NeutronError ?? {};
    throw octaviaRefusal(500, `Provider '${provider}' reports error: ${message}`);
  }
}

/** What `takeVip` took, given back: a port of the user's own stays. */
export function releaseVip({ ports, securityGroups }: Networking, { vip_port_id, ownsPort }: Vip): void {
  if (!ownsPort) return;
  const groups = ports.ports.get(vip_port_id)?.security_groups ?? [];
  ports.remove(vip_port_id);
  for (const id of groups) {
    const group = securityGroups.groups.get(id);
    if (group?.project_id === OCTAVIA_PROJECT) securityGroups.removeGroup(group);
  }
}

function vipOfPort(
  { ports }: Networking,
  portId: string,
  { vip_subnet_id, vip_address }: VipRequest,
  caller: Caller,
): Vip {
  const port = ports.ports.get(portId);
  if (!port || !ports.ports.isVisible(port, caller)) throw octaviaRefusal(400, `Port ${portId} not found.`);
  if (port.device_id !== '') throw invalid(`Port ${portId} is already used by another device ${port.device_id}.`);
  const fixed =
    vip_subnet_id === undefined && vip_address === undefined
      ? port.fixed_ips.slice(0, port.fixed_ips.length === 1 ? 1 : 0)
      : port.fixed_ips.filter(
          ({ subnet_id, ip_address }) =>
            (vip_subnet_id === undefined || subnet_id === vip_subnet_id) &&
            (vip_address === undefined || ip_address === vip_address),
        );
  const [first] = fixed;
  if (!first)
    throw invalid("VIP port's subnet could not be determined. Please specify either a VIP subnet or address.");
  return {
    vip_address: first.ip_address,
    vip_port_id: port.id,
    vip_subnet_id: first.subnet_id,
    vip_network_id: port.network_id,
    additional_vips: [],
    ownsPort: false,
  };
}

function subnetOf(networking: Networking, { vip_network_id, vip_address }: VipRequest, caller: Caller): string {
  const { networks, subnets } = networking.networks;
  if (vip_network_id === undefined) {
    throw invalid('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.');
  }
  const network = networks.get(vip_network_id);
  if (!network || !networks.isVisible(network, caller)) {
    throw octaviaRefusal(400, `Network ${vip_network_id} not found.`);
  }
  const all = subnets.where('network_id', network.id);
  // The first of IPv4, else the first at all.
  const found =
    vip_address === undefined
      ? (all.find(({ ip_version }) => ip_version === 4) ?? all[0])
      : all.find(({ cidr }) => isInCidr(cidr, vip_address));
  if (found) return found.id;
  throw invalid(
    vip_address === undefined
      ? 'Supplied network does not contain a subnet.'
      : 'Supplied network does not contain a subnet for VIP address specified.',
  );
}

function checkSubnets({ networks }: Networking, subnetId: string, others: readonly AdditionalVip[]): void {
  const ids = [subnetId, ...others.map(({ subnet_id }) => subnet_id)];
  if (new Set(ids).size < ids.length) {
    throw invalid('Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.');
  }
  const owners = ids.map((id) => {
    const subnet = networks.subnets.get(id);
    if (!subnet) throw octaviaRefusal(400, `Subnet ${id} not found.`);
    return subnet.network_id;
  });
  if (new Set(owners).size > 1) throw invalid('All VIP subnets must belong to the same network.');
}
