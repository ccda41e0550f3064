/** The ports that next hops are the addresses of, on the networks of the router. */
import { canonicalIp, type CallContext } from '@outrigger/cloud-provider';
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

/** By next hop, in canonical form. One address may be on several networks. All of them or an error, never a part. */
export async function findHopPorts(
  client: ApiClient,
  routerId: string,
  hops: Iterable<string>,
  call: CallContext,
): Promise<ReadonlyMap<string, readonly HopPort[]>> {
  const wanted = [...new Set(hops)];
  if (wanted.length === 0) return new Map();
  const list = { service: 'network', operation: 'GET /ports', path: '/v2.0/ports', collection: 'ports' } as const;
  const interfaces = await client.list<{ readonly network_id: string }>(call, {
    ...list,
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
    ports.push(...(await client.list<HopPort>(call, { ...list, query })));
  }
  return groupPairs(
    ports.flatMap((port) => port.fixed_ips.map(({ ip_address: text }) => [canonicalIp(text) ?? text, port] as const)),
  );
}
