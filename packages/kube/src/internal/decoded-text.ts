/**
 * A text as what reads it would see it: JSON's and Python's backslash escapes, percent encodings and HTML entities undone, with the
 * place of each byte in the text as it stands. One pass, whatever the text is.
 */

export interface DecodedText {
  readonly bytes: Buffer;
  /** Where in the text each byte begins and ends; `undefined`: where it stands. */
  readonly places?: { readonly starts: Uint32Array; readonly ends: Uint32Array };
}

/** Encodings within encodings are undone so many times: JSON in JSON in a log line in JSON. */
const DEEPEST = 4;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const CONTROLS: Readonly<Record<string, number>> = { b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** `&#x1F600;` and shorter. */
const LONGEST_ENTITY = 10;

/** The text itself, and what it is after each decoding that changes it. */
export function* decodedTexts(text: string): Generator<DecodedText, void, void> {
  let at: DecodedText = { bytes: Buffer.from(text) };
  yield at;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = decode(at);
    if (!next) return;
    at = next;
    yield at;
  }
}

function decode({ bytes, places }: DecodedText): DecodedText | undefined {
  if (!bytes.includes(BACKSLASH) && !bytes.includes(PERCENT) && !bytes.includes(AMPERSAND)) return undefined;
  // No escape is longer than what it stands for.
  const out = Buffer.alloc(bytes.length);
  const starts = new Uint32Array(bytes.length);
  const ends = new Uint32Array(bytes.length);
  let length = 0;
  let changed = false;
  for (let at = 0; at < bytes.length;) {
    const escape = readEscape(bytes, at);
    const next = escape?.end ?? at + 1;
    const from = places ? (places.starts[at] ?? 0) : at;
    const to = places ? (places.ends[next - 1] ?? 0) : next;
    const value = escape?.value;
    const end = typeof value === 'string' ? length + out.write(value, length) : length + 1;
    if (typeof value !== 'string') out[length] = value ?? bytes[at] ?? 0;
    starts.fill(from, length, end);
    ends.fill(to, length, end);
    length = end;
    changed ||= escape !== undefined;
    at = next;
  }
  return changed ? { bytes: out.subarray(0, length), places: { starts, ends } } : undefined;
}

interface Escape {
  /** A byte, or a character. */
  readonly value: number | string;
  /** Behind it. */
  readonly end: number;
}

function readEscape(bytes: Buffer, at: number): Escape | undefined {
  switch (bytes[at]) {
    case PERCENT:
      return hexByte(bytes, at + 1);
    case BACKSLASH:
      return readBackslash(bytes, at + 1);
    case AMPERSAND:
      return readEntity(bytes, at + 1);
    default:
      return undefined;
  }
}

function readBackslash(bytes: Buffer, at: number): Escape | undefined {
  const letter = String.fromCharCode(bytes[at] ?? 0);
  if (letter === 'x') return hexByte(bytes, at + 1);
  if (letter === 'u') return readUnicode(bytes, at + 1);
  const control = CONTROLS[letter];
  if (control !== undefined) return { value: control, end: at + 1 };
  return /["'\\/]/u.test(letter) ? { value: letter, end: at + 1 } : undefined;
}

function readUnicode(bytes: Buffer, at: number): Escape | undefined {
  const unit = hexNumber(bytes, at, 4);
  if (unit === undefined) return undefined;
  const isPair = unit >= 0xd800 && unit < 0xdc00 && bytes[at + 4] === BACKSLASH && bytes[at + 5] === 0x75;
  const low = isPair ? hexNumber(bytes, at + 6, 4) : undefined;
  if (low === undefined || low < 0xdc00 || low > 0xdfff) return { value: String.fromCharCode(unit), end: at + 4 };
  return { value: String.fromCharCode(unit, low), end: at + 10 };
}

function readEntity(bytes: Buffer, at: number): Escape | undefined {
  const semicolon = bytes.subarray(at, at + LONGEST_ENTITY).indexOf(0x3b);
  if (semicolon < 1) return undefined;
  const name = bytes.toString('latin1', at, at + semicolon);
  const value = ENTITIES[name] ?? numbered(name);
  return value === undefined ? undefined : { value, end: at + semicolon + 1 };
}

function numbered(name: string): string | undefined {
  const [, hex, decimal] = /^#(?:x([\da-f]+)|(\d+))$/iu.exec(name) ?? [];
  // Of neither it is `NaN`, which is beyond any bound.
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

function hexByte(bytes: Buffer, at: number): Escape | undefined {
  const value = hexNumber(bytes, at, 2);
  return value === undefined ? undefined : { value, end: at + 2 };
}

function hexNumber(bytes: Buffer, at: number, digits: number): number | undefined {
  const text = bytes.toString('latin1', at, at + digits);
  return text.length === digits && /^[\da-f]+$/iu.test(text) ? Number.parseInt(text, 16) : undefined;
}
