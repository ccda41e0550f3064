/** IP addresses as text, brought into one form so that they can be compared. Without Node: a provider may run anywhere. */

/**
 * The one form of an address (`2600:0:0::1` → `2600::1`, `::ffff:10.0.0.1` and `010.0.0.1` → `10.0.0.1`), or `undefined`
 * when the text is no IP address. Leading zeros are read as decimal, as Go's `ParseIPSloppy` does: kubelets and clouds that
 * wrote them before still mean the same machine. A zone (`fe80::1%eth0`) means something on one machine only: no address.
 */
export function canonicalIp(text: string): string | undefined {
  if (!text.includes(':')) return bytesOf(text)?.join('.');
  const groups = groupsOf(text);
  if (!groups) return undefined;
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return compressed(groups);
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** `canonicalIp`, and what is no IP address, such as a host name, as it is: for comparing addresses. */
export function canonicalAddress(text: string): string {
  return canonicalIp(text) ?? text;
}

/** The family of an address in canonical form. */
export function familyOf(ip: string): 4 | 6 {
  return ip.includes(':') ? 6 : 4;
}

/** Of an IPv4 address. */
function bytesOf(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  const bytes = parts.map((part) => (/^0*\d{1,3}$/.test(part) ? Number(part) : 256));
  return bytes.length === 4 && bytes.every((byte) => byte < 256) ? bytes : undefined;
}

/** Of an IPv6 address: eight numbers of 16 bits. */
function groupsOf(text: string): readonly number[] | undefined {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const left = readGroups(head, tail === undefined);
  const right = tail === undefined ? [] : readGroups(tail, true);
  if (!left || !right) return undefined;
  const gap = 8 - left.length - right.length;
  // `::` stands for one group at least.
  if (tail === undefined ? gap !== 0 : gap < 1) return undefined;
  return [...left, ...Array<number>(gap).fill(0), ...right];
}

/** `isLast`: these groups end the address, so that the last two may be written as an IPv4 address. */
function readGroups(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (isLast && index === parts.length - 1 && part.includes('.')) {
      const [a = 0, b = 0, c = 0, d = 0] = bytesOf(part) ?? [256];
      if (a > 255) return undefined;
      groups.push(a * 256 + b, c * 256 + d);
    } else {
      if (!/^[\da-f]{1,4}$/i.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

/** RFC 5952: lower case, and the first of the longest runs of two and more zeros as `::`. */
function compressed(groups: readonly number[]): string {
  let [from, length] = [0, 1];
  for (let i = 0; i < groups.length; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i > length) [from, length] = [i, end - i];
  }
  const text = (some: readonly number[]): string => some.map((group) => group.toString(16)).join(':');
  return length < 2 ? text(groups) : `${text(groups.slice(0, from))}::${text(groups.slice(from + length))}`;
}
