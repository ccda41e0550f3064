/** The addresses of a node, from its server and the server's ports. Pure. */
import { familyOf, type NodeAddress, type NodeAddressType } from '@outrigger/cloud-provider';
import type { NetworkingConfig } from '../config/cloud-config.ts';
import { inSortOrder } from './address-order.ts';
import type { ServerPorts } from './server-ports.ts';
import type { Server } from './server.ts';

/** The key of a server's metadata that names the node (`TypeHostName` of kubernetes/cloud-provider-openstack). */
const HOSTNAME_KEY = 'hostname';

/**
 * In the order of kubernetes/cloud-provider-openstack (`nodeAddresses`, pkg/openstack/instances_addresses.go), since the first of
 * a type is the one that others use: fixed IPs of ACTIVE ports, accessIPv4 and accessIPv6, the host name of the metadata; then
 * what nova says, by network name: floating IPs and those of a `public-network-name` are external, others internal. An address of
 * a public network is not internal too; one of a network that is not among `internal-network-name` is none, wherever else it
 * stood before.
 */
export function nodeAddresses(
  server: Server,
  { ports, subports }: ServerPorts,
  options: NetworkingConfig,
): readonly NodeAddress[] {
  /** By type and address: a server may have thousands. */
  const addresses = new Map<string, NodeAddress>();
  const add = (type: NodeAddressType, address: string): void => {
    if (options.ipv6SupportDisabled && type !== 'Hostname' && familyOf(address) === 6) return;
    const key = `${type} ${address}`;
    if (!addresses.has(key)) addresses.set(key, { type, address });
  };
  const drop = (address: string): void => {
    for (const type of ['InternalIP', 'ExternalIP', 'Hostname']) addresses.delete(`${type} ${address}`);
  };

  for (const { status, fixed_ips: fixed } of ports) {
    if (status === 'ACTIVE') for (const { ip_address: address } of fixed) add('InternalIP', address);
  }
  for (const address of [server.accessIPv4, server.accessIPv6]) if (address) add('ExternalIP', address);
  const hostname = server.metadata?.[HOSTNAME_KEY];
  if (hostname) add('Hostname', hostname);

  for (const { network, address, floating } of byNetwork(server, subports)) {
    if (floating) {
      add('ExternalIP', address);
    } else if (options.publicNetworkName.includes(network)) {
      drop(address);
      add('ExternalIP', address);
    } else if (options.internalNetworkName.length === 0 || options.internalNetworkName.includes(network)) {
      add('InternalIP', address);
    } else {
      drop(address);
    }
  }
  return inSortOrder([...addresses.values()], options.addressSortOrder);
}

interface NetworkAddress {
  readonly network: string;
  readonly address: string;
  readonly floating: boolean;
}

/** What nova names; on each network, those of subports after its own. */
function byNetwork({ addresses = {} }: Server, subports: ServerPorts['subports']): readonly NetworkAddress[] {
  const named = Object.entries(addresses).flatMap(([network, list]) =>
    list.map(({ addr: address, 'OS-EXT-IPS:type': type }) => ({ network, address, floating: type === 'floating' })),
  );
  const all = [...named, ...subports.map((subport) => ({ ...subport, floating: false }))];
  return all.toSorted((a, b) => (a.network < b.network ? -1 : a.network > b.network ? 1 : 0));
}
