/** Whether bytes are DER, which has one way to write a value: who reads them otherwise reads something else. Pure. */

/** Larger tag numbers take more bytes than one. */
const LONG_TAG = 0x1f;
const CONSTRUCTED = 0x20;

/** One value and nothing behind it: each length is definite and as short as can be, and what is inside ends where the outside does. */
export function isOneDerValue(bytes: Uint8Array): boolean {
  return endOfValue(bytes, 0, bytes.length) === bytes.length;
}

/** Behind the value that begins at `at` and may reach to `limit`; `undefined`: there is none. */
function endOfValue(bytes: Uint8Array, at: number, limit: number): number | undefined {
  const [tag = 0, first = 0x80, second = 0, third = 0] = bytes.subarray(at, limit);
  // Tag 0 ends a value of indefinite length.
  if (tag === 0 || (tag & LONG_TAG) === LONG_TAG) return undefined;
  let size: number;
  let begin = at + 2;
  if (first < 0x80) size = first;
  else if (first === 0x81 && second >= 0x80) [size, begin] = [second, at + 3];
  else if (first === 0x82 && second > 0) [size, begin] = [second * 256 + third, at + 4];
  else return undefined;
  const end = begin + size;
  if (end > limit) return undefined;
  if ((tag & CONSTRUCTED) === 0) return end;
  let inside: number | undefined = begin;
  while (inside !== undefined && inside < end) inside = endOfValue(bytes, inside, end);
  return inside;
}
