/** Ranges as AWS keeps them: without host bits. */
import { isIPv4, isIPv6 } from 'node:net';

/** `100.68.0.18/18` → `100.68.0.0/18`; `undefined`: it is none of this family. */
export function canonicalRange(range: string, family: 'ipv4' | 'ipv6'): string | undefined {
  const [address = '', size = '', ...more] = range.split('/');
  const bits = family === 'ipv4' ? 32 : 128;
  const isAddress = family === 'ipv4' ? isIPv4(address) : isIPv6(address);
  if (!isAddress || more.length > 0 || !/^\d+$/u.test(size) || Number(size) > bits) return undefined;
  const host = BigInt(bits - Number(size));
  const network = (numberOf(address, family) >> host) << host;
  return `${family === 'ipv4' ? ipv4Of(network) : ipv6Of(network)}/${Number(size)}`;
}

function numberOf(address: string, family: 'ipv4' | 'ipv6'): bigint {
  if (family === 'ipv4') return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail ?? '').length;
  const all = [
    ...groups(head),
    ...Array.from({ length: tail === undefined ? 0 : missing }, () => '0'),
    ...groups(tail ?? ''),
  ];
  return all.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function ipv4Of(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join('.');
}

/** Written by the platform, with its longest row of zeros left out. */
function ipv6Of(number: bigint): string {
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((number >> shift) & 65_535n).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
