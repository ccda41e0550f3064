/**
 * The pod CIDRs in `allowed_address_pairs` of a node's port: without them Neutron drops what pods send. Others write there too:
 * each change rests on the revision that was read.
 */
import { isCloudError, parseCidr, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import type { AddressPair, HopPort } from './neutron-router.ts';

/** Someone who changes a port without end is not waited for here: the host tries again with back-off. */
const MOST_ATTEMPTS = 5;

/** Ranges in canonical form. */
export interface PairChange {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** The pairs as they should be; `undefined` when they are. Pairs of others stay as they are, in their order. */
export function changePairs(
  pairs: readonly AddressPair[],
  { add = [], remove = [] }: PairChange,
): readonly AddressPair[] | undefined {
  const kept = pairs.filter((pair) => !remove.includes(rangeOf(pair)));
  const there = new Set(kept.map(rangeOf));
  const added = add.filter((range) => !there.has(range)).map((range) => ({ ip_address: range }));
  return kept.length === pairs.length && added.length === 0 ? undefined : [...kept, ...added];
}

/** Writes the change, on what the port has by then. A port without port security has no pairs, and lets everything through. */
export async function writePairs(
  client: ApiClient,
  port: HopPort,
  change: PairChange,
  call: CallContext,
): Promise<void> {
  let current = port;
  for (let attempt = 1; ; attempt++) {
    if (current.port_security_enabled === false) return;
    const pairs = changePairs(current.allowed_address_pairs ?? [], change);
    if (!pairs) return;
    const { revision_number: revision } = current;
    try {
      await client.request(call, {
        service: 'network',
        operation: 'PUT /ports/{id}',
        method: 'PUT',
        path: pathOf(port),
        body: { port: { allowed_address_pairs: pairs } },
        ...(revision !== undefined && { revision }),
      });
      return;
    } catch (error) {
      if (!isCloudError(error, 'conflict') || attempt === MOST_ATTEMPTS) throw error;
    }
    const answer = await client.request<{ readonly port: HopPort }>(call, {
      service: 'network',
      operation: 'GET /ports/{id}',
      method: 'GET',
      path: pathOf(port),
    });
    current = answer.port;
  }
}

function pathOf({ id }: HopPort): string {
  return `/v2.0/ports/${encodeURIComponent(id)}`;
}

/** `10.0.1.7/24` and `10.0.1.0/24` are one range; a pair of one address is left as it is written. */
function rangeOf({ ip_address: text }: AddressPair): string {
  return parseCidr(text)?.text ?? text;
}
