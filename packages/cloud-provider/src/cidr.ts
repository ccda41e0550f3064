/** CIDR ranges as numbers. */
import { canonicalAddress, canonicalIp, familyOf } from './ip-address.ts';

export interface Cidr {
  readonly family: 4 | 6;
  /** The first address. */
  readonly first: bigint;
  /** The last address. */
  readonly last: bigint;
  /** Prefix length. */
  readonly bits: number;
  /** In canonical form: `10.0.1.0/24`. */
  readonly text: string;
}

/** Bits of an address. */
export const ADDRESS_BITS: Readonly<Record<4 | 6, number>> = { 4: 32, 6: 128 };

/**
 * Reads a range; host bits are dropped (`10.0.1.7/24` → `10.0.1.0/24`) and leading zeros are read as decimal, as Go's
 * `ParseCIDRSloppy` does. `undefined` when the text is none.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix = '', ...more] = text.split('/');
  const ip = canonicalIp(address);
  if (ip === undefined || more.length > 0 || !/^\d{1,3}$/.test(prefix)) return undefined;
  const family = familyOf(ip);
  const bits = Number(prefix);
  return bits > ADDRESS_BITS[family] ? undefined : cidrAt(family, numberOf(ip, family), bits);
}

/** The range of this prefix length around an address. */
export function cidrAt(family: 4 | 6, address: bigint, bits: number): Cidr {
  const host = (1n << BigInt(ADDRESS_BITS[family] - bits)) - 1n;
  const first = address & ~host;
  return { family, first, last: first | host, bits, text: `${textOf(family, first)}/${bits}` };
}

export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

/** Of an address in canonical form. */
function numberOf(ip: string, family: 4 | 6): bigint {
  if (family === 4) return BigInt(ip.split('.').reduce((number, part) => number * 256 + Number(part), 0));
  const [head = '', tail] = ip.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.reduce((number, group) => (number << 16n) | BigInt(`0x${group}`), 0n);
}

function textOf(family: 4 | 6, address: bigint): string {
  const groups = family === 4 ? 4 : 8;
  const size = BigInt(ADDRESS_BITS[family] / groups);
  const parts = Array.from(
    { length: groups },
    (_, i) => (address >> (size * BigInt(groups - 1 - i))) & ((1n << size) - 1n),
  );
  if (family === 4) return parts.join('.');
  const text = parts.map((part) => part.toString(16)).join(':');
  return canonicalAddress(text);
}
