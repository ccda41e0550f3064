/** Ranges of pods, compared. */
import { BlockList, isIPv4 } from 'node:net';

export function overlap(a: string, b: string): boolean {
  return contains(a, b) || contains(b, a);
}

export function sameRanges(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

/** Whether the first address of the one is in the other. */
function contains(outer: string, inner: string): boolean {
  const [address = '', bits = ''] = outer.split('/');
  const [first = ''] = inner.split('/');
  if (isIPv4(address) !== isIPv4(first)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), familyOf(address));
  return list.check(first, familyOf(first));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}
