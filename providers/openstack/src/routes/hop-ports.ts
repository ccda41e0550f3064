/** The ports that next hops are the addresses of, on the networks of the router. */
import { canonicalAddress, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { asQuery, chunksOf } from '../client/query-chunks.ts';
import { groupPairs } from '../group-pairs.ts';
import type { HopPort } from './neutron-router.ts';

const FIELDS = [
  'id',
  'device_id',
  'device_owner',
  'fixed_ips',
  'allowed_address_pairs',
  'port_security_enabled',
  'revision_number',
];

const LIST = { service: 'network', operation: 'GET /ports', path: '/v2.0/ports', collection: 'ports' } as const;

/** By next hop, in canonical form. One address may be on several networks. All of them or an error, never a part. */
export async function findHopPorts(
  client: ApiClient,
  routerId: string,
  hops: Iterable<string>,
  call: CallContext,
): Promise<ReadonlyMap<string, readonly HopPort[]>> {
  const wanted = [...new Set(hops)];
  if (wanted.length === 0) return new Map();
  const interfaces = await client.list<{ readonly network_id: string }>(call, {
    ...LIST,
    query: [
      ['device_id', routerId],
      ['fields', 'network_id'],
    ],
  });
  const networks = [...new Set(interfaces.map(({ network_id: id }) => id))];
  // A filter of no network would be none at all.
  if (networks.length === 0) return new Map();
  const ports: HopPort[] = [];
  for (const some of chunksOf(wanted.map((hop) => `ip_address=${hop}`))) {
    const query = [...asQuery('fixed_ips', some), ...asQuery('network_id', networks), ...asQuery('fields', FIELDS)];
    ports.push(...(await client.list<HopPort>(call, { ...LIST, query })));
  }
  return groupPairs(
    ports.flatMap((port) => port.fixed_ips.map(({ ip_address: text }) => [canonicalAddress(text), port] as const)),
  );
}

/**
 * `undefined`: of a router, a load balancer or nothing at all. A kubelet may have registered with the ID of any of these. Ironic writes its own
 * owner onto the ports of its machines.
 */
export const serverOfPort = ({ device_id: id, device_owner: owner }: HopPort): string | undefined =>
  /^(?:compute|baremetal):/u.test(owner) ? id : undefined;

export const isSubport = ({ device_owner: owner }: HopPort): boolean => owner === 'trunk:subport';

interface ParentPort {
  readonly device_id: string;
  /** Of the extension `trunk-details`. */
  readonly trunk_details?: { readonly sub_ports: readonly { readonly port_id: string }[] } | null;
}

/** By subport, which itself names no server: the one whose port carries it, among these. */
export async function findServersOfSubports(
  client: ApiClient,
  servers: readonly string[],
  call: CallContext,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const some of chunksOf([...new Set(servers)])) {
    const query = [...asQuery('device_id', some), ...asQuery('fields', ['device_id', 'trunk_details'])];
    for (const { device_id: server, trunk_details: trunk } of await client.list<ParentPort>(call, { ...LIST, query })) {
      for (const { port_id: id } of trunk?.sub_ports ?? []) found.set(id, server);
    }
  }
  return found;
}
