/** Neutron ports by the addresses that they have. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { asQuery, chunksOf } from '../../client/query-chunks.ts';
import type { BackEndAddress } from '../desired/desired-tree.ts';
import type { WirePort } from '../neutron-wire.ts';
import { listPorts } from '../observe/read-lists.ts';

/** Ports of any server, and of none: addresses are unique in a network only. */
export async function portsByAddress(
  client: ApiClient,
  addresses: readonly string[],
  call: CallContext,
): Promise<readonly WirePort[]> {
  const ports: WirePort[] = [];
  for (const some of chunksOf(addresses.map((address) => `ip_address=${address}`))) {
    ports.push(...(await listPorts(client, asQuery('fixed_ips', some), call)));
  }
  return ports;
}

/** The one port with this address, of the server where that is known; `undefined` where there is none, or it cannot be told which. */
export function portOf(
  ports: readonly WirePort[],
  { address, providerID }: { readonly address: string; readonly providerID?: string | undefined },
): WirePort | undefined {
  const server = serverIdOf(providerID);
  const found = ports.filter(
    (one) =>
      (server === undefined || one.device_id === server) && one.fixed_ips.some((fixed) => fixed.ip_address === address),
  );
  return server === undefined && found.length > 1 ? undefined : found[0];
}

/** The subnet in which most of these have their addresses; of two with as many, that of the first. */
export function subnetOfMost(ports: readonly WirePort[], nodes: readonly BackEndAddress[]): string | undefined {
  const subnets = nodes.flatMap((node) => {
    const fixed = portOf(ports, node)?.fixed_ips.find((one) => one.ip_address === node.address);
    return fixed ? [fixed.subnet_id] : [];
  });
  const bySubnet = [...Map.groupBy(subnets, (id) => id)].toSorted(([, a], [, b]) => b.length - a.length);
  return bySubnet[0]?.[0];
}

/** `openstack:///<id>` and `openstack://<region>/<id>`. */
const serverIdOf = (providerID: string | undefined): string | undefined =>
  providerID?.slice(providerID.lastIndexOf('/') + 1) || undefined;
