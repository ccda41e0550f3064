/** The ports that next hops are the addresses of, on the networks of the router. */
import { canonicalIp, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { asQuery, chunksOf } from '../client/query-chunks.ts';
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
  const found = new Map<string, HopPort[]>();
  if (wanted.length === 0) return found;
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
  if (networks.length === 0) return found;
  for (const some of chunksOf(wanted.map((hop) => `ip_address=${hop}`))) {
    const ports = await client.list<HopPort>(call, {
      ...list,
      query: [...asQuery('fixed_ips', some), ...asQuery('network_id', networks), ...asQuery('fields', FIELDS)],
    });
    for (const port of ports) {
      for (const { ip_address: text } of port.fixed_ips) {
        const hop = canonicalIp(text) ?? text;
        const there = found.get(hop);
        if (there) there.push(port);
        else found.set(hop, [port]);
      }
    }
  }
  return found;
}
