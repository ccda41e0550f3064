/** `address-sort-order`: which of a node's addresses come first. */
import { BlockList, isIP } from 'node:net';
import type { NodeAddress } from '@outrigger/cloud-provider';

/**
 * Those in the first range come first, and so on, in each range by number; what is in none stays behind them as it was. A range
 * that is none is passed over. Order of kubernetes/cloud-provider-openstack, `sortNodeAddresses` in pkg/openstack/instances_addresses.go.
 */
export function inSortOrder(addresses: readonly NodeAddress[], ranges: readonly string[]): readonly NodeAddress[] {
  const lists = ranges.map(blockListOf).filter((list) => list !== undefined);
  const ranked = addresses.map((item) => ({ item, ...rankOf(item.address, lists) }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank || (a.rank < lists.length ? compare(a.number, b.number) : 0))
    .map(({ item }) => item);
}

function rankOf(address: string, lists: readonly BlockList[]): { readonly rank: number; readonly number: bigint } {
  const family = isIP(address);
  if (family === 0) return { rank: lists.length, number: 0n };
  const at = lists.findIndex((list) => list.check(address, family === 4 ? 'ipv4' : 'ipv6'));
  return at === -1 ? { rank: lists.length, number: 0n } : { rank: at, number: numberOf(address) };
}

function blockListOf(range: string): BlockList | undefined {
  const [address = '', bits = '', ...more] = range.trim().split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return undefined;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

/** Only compared within one range, so within one family. */
function numberOf(address: string): bigint {
  if (isIP(address) === 4) return BigInt(address.split('.').reduce((number, part) => number * 256 + Number(part), 0));
  // The URL parser writes each IPv6 address in one way: hexadecimal groups, none dotted.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].reduce((number, group) => (number << 16n) | BigInt(`0x${group}`), 0n);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
