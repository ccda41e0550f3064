/** IP addresses as text, brought into one form so that they can be compared. */
import { isIP, SocketAddress } from 'node:net';

/**
 * The one form of an address (`2600:0:0::1` → `2600::1`, `::ffff:10.0.0.1` and `010.0.0.1` → `10.0.0.1`), or `undefined`
 * when the text is no IP address. Leading zeros are read as decimal, as Go's `ParseIPSloppy` does: kubelets and clouds that
 * wrote them before still mean the same machine.
 */
export function canonicalIp(text: string): string | undefined {
  const plain = text.replace(/(?<=^|\.)0+(?=\d)/g, '');
  if (isIP(plain) === 4) return plain;
  // A zone (`fe80::1%eth0`) means something on one machine only.
  if (isIP(plain) !== 6 || plain.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' });
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  return mapped?.[1] ?? address;
}

/** The family of an address in canonical form. */
export function familyOf(ip: string): 4 | 6 {
  return ip.includes(':') ? 6 : 4;
}
