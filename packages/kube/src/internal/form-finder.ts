/** Finds all forms of all secrets in one pass over the bytes, however many there are: by their last four bytes, or by four near the first. */
import type { SecretForm } from './secret-forms.ts';

/** Bytes of the key, and the shortest form that has one. */
const KEY_BYTES = 4;
const FILTER_BITS = 16;
/** What a cut leaves of a form is looked for by so many bytes: fewer begin many a word. */
const BEGINNING = 8;
/** From the last character before a cut on, behind which may be half of another, or of an escape. It reads 17 bytes. */
const CUT = /^(?:.\ufffd?)??(?:[\\%&][\w#]{0,9})?(\u2026|\.{3}|$)/su;
/** Without a mark behind it, a beginning has so many bytes: a whole text may be a word of a secret. */
const UNMARKED = 16;

export class FormFinder {
  readonly #byKey = new Map<number, SecretForm[]>();
  /** Those that are shorter than the key. */
  readonly #short: SecretForm[] = [];
  /** How many keys fall on each slot: most bytes are told from all keys by this alone. */
  readonly #filter = new Uint16Array(1 << FILTER_BITS);

  add(form: SecretForm): void {
    if (form.bytes.length < KEY_BYTES) {
      this.#short.push(form);
      return;
    }
    for (const key of keysOf(form)) {
      const same = this.#byKey.get(key);
      if (same) {
        same.push(form);
        continue;
      }
      this.#byKey.set(key, [form]);
      this.#count(key, 1);
    }
  }

  delete(form: SecretForm): void {
    if (form.bytes.length < KEY_BYTES) {
      const at = this.#short.indexOf(form);
      if (at >= 0) this.#short.splice(at, 1);
      return;
    }
    for (const key of keysOf(form)) {
      const left = (this.#byKey.get(key) ?? []).filter((one) => one !== form);
      if (left.length > 0) {
        this.#byKey.set(key, left);
      } else if (this.#byKey.delete(key)) {
        this.#count(key, -1);
      }
    }
  }

  /** Calls `found` with the first byte and the one behind the last of each. */
  find(bytes: Buffer, found: (start: number, end: number) => void): void {
    let key = 0;
    for (let at = 0; at < bytes.length; at++) {
      key = (key << 8) | (bytes[at] ?? 0);
      if (this.#filter[slotOf(key)] === 0 || at < KEY_BYTES - 1) continue;
      const first = at + 1 - BEGINNING;
      let begun: SecretForm | undefined;
      let cut = at;
      for (const form of this.#byKey.get(key) ?? []) {
        const start = at + 1 - form.bytes.length;
        if (start >= 0 && form.bytes.compare(bytes, start, at + 1) === 0) report(form, bytes, start, at + 1, found);
        let end = first;
        while (end < bytes.length && bytes[end] === form.bytes[end - first]) end++;
        if (end > cut) [begun, cut] = [form, end];
      }
      if (!begun) continue;
      // Only the longest: many secrets have a beginning in common.
      const mark = CUT.exec(bytes.toString('utf8', cut - 1, cut + 16))?.[1];
      if (mark || (mark === '' && cut - first >= UNMARKED)) report(begun, bytes, first, cut, found);
    }
    for (const form of this.#short) {
      for (let at = bytes.indexOf(form.bytes); at >= 0; at = bytes.indexOf(form.bytes, at + 1))
        report(form, bytes, at, at + form.bytes.length, found);
    }
  }

  #count(key: number, change: 1 | -1): void {
    const slot = slotOf(key);
    this.#filter[slot] = (this.#filter[slot] ?? 0) + change;
  }
}

/** Of several lines each line has a beginning of its own: what they begin with, `-----BEGIN`, is no secret. */
function keysOf({ bytes }: SecretForm): readonly number[] {
  const last = bytes.readInt32BE(bytes.length - KEY_BYTES);
  return bytes.length > BEGINNING && !bytes.includes('\n') ? [last, bytes.readInt32BE(BEGINNING - KEY_BYTES)] : [last];
}

function slotOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

function report(
  { margin, wholeWord }: SecretForm,
  bytes: Buffer,
  start: number,
  end: number,
  found: (start: number, end: number) => void,
): void {
  if (wholeWord && (isWord(bytes[start - 1]) || isWord(bytes[end]))) return;
  found(isBase64(bytes[start - 1]) ? start - margin : start, isBase64(bytes[end]) ? end + margin : end);
}

const isWord = (byte = 0): boolean => /[\w\x80-\xff]/u.test(String.fromCharCode(byte));

/** Of either alphabet, but for the padding. */
const isBase64 = (byte = 0): boolean => /[-\w+/]/u.test(String.fromCharCode(byte));
