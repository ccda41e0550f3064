/**
 * Strings from bytes, those that come again and again as one: nodes of a cluster say the same words in each condition, and
 * 5,000 copies of them cost memory, and more time to make than to recognise.
 */

/** A power of two. */
const SLOTS = 2_048;
/** Longer ones are seldom the same, and bound what is kept. */
const LONGEST = 64;

export class InternedStrings {
  readonly #slots: string[] = Array.from({ length: SLOTS }, () => '');

  /** The UTF-8 in `bytes` from `start` to before `end`; what is no UTF-8 becomes U+FFFD, as in JSON. */
  read(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > LONGEST) return bytes.toString('utf8', start, end);
    let hash = length;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte > 127) return bytes.toString('utf8', start, end);
      // FNV-1a.
      hash = Math.imul(hash ^ byte, 0x01_00_01_93);
    }
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const kept = this.#slots[slot] ?? '';
    if (kept.length === length && isAt(kept, bytes, start)) return kept;
    const text = bytes.toString('latin1', start, end);
    this.#slots[slot] = text;
    return text;
  }
}

function isAt(text: string, bytes: Buffer, start: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
