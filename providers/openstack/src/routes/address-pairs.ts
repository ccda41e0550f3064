/**
 * The pod CIDRs in `allowed_address_pairs` of a node's port: without them Neutron drops what pods send. Others write there too:
 * each change rests on the revision that was read.
 */
import { parseCidr, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { changePort } from '../client/change-port.ts';
import type { AddressPair, HopPort } from './neutron-router.ts';

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
export function writePairs(client: ApiClient, port: HopPort, change: PairChange, call: CallContext): Promise<void> {
  const changed = ({ allowed_address_pairs: before = [], port_security_enabled: secure }: HopPort) => {
    const pairs = secure === false ? undefined : changePairs(before, change);
    return pairs && { allowed_address_pairs: pairs };
  };
  return changePort(client, port, changed, call);
}

/** `10.0.1.7/24` and `10.0.1.0/24` are one range; a pair of one address is left as it is written. */
function rangeOf({ ip_address: text }: AddressPair): string {
  return parseCidr(text)?.text ?? text;
}
