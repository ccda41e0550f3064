/** Finds all forms of all secrets in one pass over the bytes, however many there are: by their last four bytes. */
import type { SecretForm } from './secret-forms.ts';

/** Bytes of the key, and the shortest form that has one. */
const KEY_BYTES = 4;
const FILTER_BITS = 16;

export class FormFinder {
  readonly #byEnd = new Map<number, SecretForm[]>();
  /** Those that are shorter than the key. */
  readonly #short: SecretForm[] = [];
  /** How many keys fall on each slot: most bytes are told from all keys by this alone. */
  readonly #filter = new Uint16Array(1 << FILTER_BITS);

  add(form: SecretForm): void {
    if (form.bytes.length < KEY_BYTES) {
      this.#short.push(form);
      return;
    }
    const key = form.bytes.readInt32BE(form.bytes.length - KEY_BYTES);
    const same = this.#byEnd.get(key);
    if (same) {
      same.push(form);
      return;
    }
    this.#byEnd.set(key, [form]);
    this.#count(key, 1);
  }

  delete(form: SecretForm): void {
    if (form.bytes.length < KEY_BYTES) {
      const at = this.#short.indexOf(form);
      if (at >= 0) this.#short.splice(at, 1);
      return;
    }
    const key = form.bytes.readInt32BE(form.bytes.length - KEY_BYTES);
    const left = (this.#byEnd.get(key) ?? []).filter((one) => one !== form);
    if (left.length > 0) {
      this.#byEnd.set(key, left);
    } else if (this.#byEnd.delete(key)) {
      this.#count(key, -1);
    }
  }

  /** Calls `found` with the first byte and the one behind the last of each. */
  find(bytes: Uint8Array, found: (start: number, end: number) => void): void {
    let key = 0;
    for (let at = 0; at < bytes.length; at++) {
      key = (key << 8) | (bytes[at] ?? 0);
      if (this.#filter[slotOf(key)] === 0 || at < KEY_BYTES - 1) continue;
      for (const form of this.#byEnd.get(key) ?? []) {
        const start = at + 1 - form.bytes.length;
        if (start >= 0 && form.bytes.compare(bytes, start, at + 1) === 0) report(form, bytes, start, found);
      }
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const form of this.#short) {
      for (let at = text.indexOf(form.bytes); at >= 0; at = text.indexOf(form.bytes, at + 1))
        report(form, bytes, at, found);
    }
  }

  #count(key: number, change: 1 | -1): void {
    const slot = slotOf(key);
    this.#filter[slot] = (this.#filter[slot] ?? 0) + change;
  }
}

function slotOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

function report(
  { bytes: form, margin, wholeWord }: SecretForm,
  bytes: Uint8Array,
  at: number,
  found: (start: number, end: number) => void,
): void {
  let start = at;
  let end = at + form.length;
  if (wholeWord && (isWord(bytes[start - 1]) || isWord(bytes[end]))) return;
  if (margin > 0 && isBase64(bytes[start - 1])) start--;
  if (margin > 0 && isBase64(bytes[end])) end++;
  found(start, end);
}

function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f || byte >= 0x80;
}

/** Of either alphabet, but for the padding. */
function isBase64(byte: number | undefined): boolean {
  return byte !== undefined && byte < 0x80 && (isWord(byte) || byte === 0x2b || byte === 0x2f || byte === 0x2d);
}
