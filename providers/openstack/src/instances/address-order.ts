/** `address-sort-order`: which of a node's addresses come first. */
import { canonicalIp, contains, familyOf, parseCidr, type Cidr, type NodeAddress } from '@outrigger/cloud-provider';

/**
 * Those in the first range come first, and so on, in each range by number; what is in none stays behind them as it was. A range
 * that is none is passed over. Order of kubernetes/cloud-provider-openstack, `sortNodeAddresses` in pkg/openstack/instances_addresses.go.
 */
export function inSortOrder(addresses: readonly NodeAddress[], order: readonly string[]): readonly NodeAddress[] {
  const ranges = order.map((range) => parseCidr(range.trim())).filter((range) => range !== undefined);
  return addresses
    .map((item) => ({ item, ...rankOf(item.address, ranges) }))
    .toSorted((a, b) => a.rank - b.rank || (a.number < b.number ? -1 : a.number > b.number ? 1 : 0))
    .map(({ item }) => item);
}

function rankOf(text: string, ranges: readonly Cidr[]): { readonly rank: number; readonly number: bigint } {
  const address = asRange(text);
  const rank = address ? ranges.findIndex((range) => contains(range, address)) : -1;
  return address && rank !== -1 ? { rank, number: address.first } : { rank: ranges.length, number: 0n };
}

function asRange(text: string): Cidr | undefined {
  const ip = canonicalIp(text);
  return ip === undefined ? undefined : parseCidr(`${ip}/${familyOf(ip) === 4 ? 32 : 128}`);
}
