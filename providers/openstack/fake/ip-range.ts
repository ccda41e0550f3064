/** Addresses and ranges of both families as whole numbers. */
import { isIP } from 'node:net';

export interface IpRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  /** Inclusive. */
  readonly last: bigint;
}

/** `undefined` for what is no address. */
export function parseAddress(text: string): { readonly family: 4 | 6; readonly value: bigint } | undefined {
  const family = isIP(text);
  if (family === 4) return { family, value: text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n) };
  return family === 6 ? { family, value: parseV6(text) } : undefined;
}

function parseV6(text: string): bigint {
  // The last 32 bits may be written as IPv4.
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (dotted) {
    const low = parseAddress(dotted[2] ?? '')?.value ?? 0n;
    return parseV6(`${dotted[1] ?? ''}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  }
  const [head = '', tail] = text.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
  return groups.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
}

/** `10.0.0.0/24`, host bits allowed; `undefined` for what is no range. */
export function parseRange(text: string): IpRange | undefined {
  const [address = '', length = ''] = text.split('/');
  const parsed = parseAddress(address);
  if (!parsed || !/^\d{1,3}$/.test(length)) return undefined;
  const width = parsed.family === 4 ? 32 : 128;
  if (Number(length) > width) return undefined;
  const size = 1n << BigInt(width - Number(length));
  const first = parsed.value - (parsed.value % size);
  return { family: parsed.family, first, last: first + size - 1n };
}

export function isWithin(range: IpRange, address: string): boolean {
  const parsed = parseAddress(address);
  return parsed?.family === range.family && parsed.value >= range.first && parsed.value <= range.last;
}

export function isInCidr(cidr: string, address: string): boolean {
  const range = parseRange(cidr);
  return range !== undefined && isWithin(range, address);
}

export function formatAddress(family: 4 | 6, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  // Node writes RFC 5952 here, as every service of OpenStack does.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
