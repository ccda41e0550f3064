/** What neutron has for a server, as nova shows it. */
import type { Networking } from '../neutron/networking.ts';
import type { ServerNetworks } from './compute-api.ts';
import type { FakeServer } from './server.ts';
import type { ServerAddress } from './server-view.ts';

export function networksOfServer(
  { ports, networks, floatingIps, securityGroups }: Networking,
  { id }: FakeServer,
): ServerNetworks {
  const addresses: Record<string, ServerAddress[]> = {};
  const groups = new Set<string>();
  for (const port of ports.ports.where('device_id', id)) {
    const name = networks.networks.get(port.network_id)?.name ?? port.network_id;
    const list = (addresses[name] ??= []);
    const mac = { 'OS-EXT-IPS-MAC:mac_addr': port.mac_address };
    for (const { ip_address: addr } of port.fixed_ips) {
      list.push({ version: addr.includes(':') ? 6 : 4, addr, 'OS-EXT-IPS:type': 'fixed', ...mac });
    }
    for (const { floating_ip_address: addr } of floatingIps.floatingIps.where('port_id', port.id)) {
      list.push({ version: 4, addr, 'OS-EXT-IPS:type': 'floating', ...mac });
    }
    for (const group of port.security_groups) groups.add(securityGroups.groups.get(group)?.name ?? group);
  }
  return { addresses, securityGroups: [...groups] };
}
