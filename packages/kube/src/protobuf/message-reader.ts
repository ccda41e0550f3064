/**
 * Reads protobuf of the API server into what its JSON would have been; what is trimmed anyway is passed over unread. All or
 * nothing: bytes that are no such message, or a field that the tables do not have, are an error, never an object without it.
 * Memory and time are bounded by the length of the bytes, and depth by the tables, which do not recur.
 */
import { InternedStrings } from './interned-strings.ts';
import type { Field, MessageTable } from './message-table.ts';
import { timeText } from './time-text.ts';

/** The bytes are not what they should be, or hold more than this program knows. The same may be readable in JSON. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

const VARINT = 0;
const DELIMITED = 2;

const TWO_TO_32 = 2 ** 32;
const strings = new InternedStrings();

type Fields = Record<string, unknown>;

/** A place in bytes, and reads from there on. None goes beyond the end that it is given, or beyond the bytes. */
export class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether there is more before `end`. */
  goesOn(end: number): boolean {
    return this.#at < end;
  }

  /** Passes over these bytes, if they are what comes next. */
  takes(bytes: Buffer, end: number): boolean {
    const next = this.#at + bytes.length;
    if (next > end || bytes.compare(this.#bytes, this.#at, next) !== 0) return false;
    this.#at = next;
    return true;
  }

  /** The message that ends before `end`, as fields of `into`. */
  message<T extends object>(table: MessageTable, end: number, into: T): T {
    while (this.#at < end) {
      const tag = this.tag(end);
      const field = table.fields[tag >>> 3];
      if (field === undefined)
        throw new UnreadableMessageError(`${table.name} has a field ${tag >>> 3}, which is not known`);
      this.#field(field, tag & 7, end, into as Fields);
    }
    return into;
  }

  /** A message that follows after its length. */
  nested(table: MessageTable, end: number): object {
    return this.message(table, this.inner(end), {});
  }

  /** A field's number and how it is encoded: `number << 3 | encoding`, not negative. */
  tag(end: number): number {
    const tag = this.varint(end);
    if (tag < 8 || tag >= TWO_TO_32) throw new UnreadableMessageError('a field without a number');
    return tag;
  }

  /** Where what follows, which begins with its length, ends. */
  inner(end: number): number {
    const length = this.varint(end);
    if (length < 0 || length > end - this.#at) throw new UnreadableMessageError('a field is longer than what it is in');
    return this.#at + length;
  }

  string(end: number): string {
    const innerEnd = this.inner(end);
    const text = strings.read(this.#bytes, this.#at, innerEnd);
    this.#at = innerEnd;
    return text;
  }

  /** A signed integer of 64 bits; beyond 2^53 rounded, as `JSON.parse` rounds. */
  varint(end: number): number {
    const first = this.#byte(end);
    if (first < 128) return first;
    let low = first & 127;
    let middle = 0;
    let high = 0;
    for (let index = 1; ; index++) {
      // 64 bits are ten groups of seven, the last of one bit.
      if (index > 9) throw new UnreadableMessageError('a number of more than 64 bits');
      const byte = this.#byte(end);
      const bits = byte & 127;
      if (index < 4) low |= bits << (7 * index);
      else if (index < 8) middle |= bits << (7 * (index - 4));
      else high |= bits << (7 * (index - 8));
      if (byte < 128) break;
    }
    const upper = (middle >>> 4) | (high << 24);
    return upper * TWO_TO_32 + ((low | (middle << 28)) >>> 0);
  }

  #field(field: Field, encoding: number, end: number, into: Fields): void {
    const { type, name } = field;
    const isNumber = type === 'integer' || type === 'boolean';
    if (encoding !== (isNumber ? VARINT : DELIMITED)) {
      throw new UnreadableMessageError(`${name} is of the encoding ${encoding}, which is not that of its type`);
    }
    if (field.shape === 'map') {
      this.#entry(field, end, (into[name] ??= {}) as Fields);
      return;
    }
    const value = this.#value(field, end);
    if (field.shape === 'list') {
      const list = into[name] as unknown[] | undefined;
      if (list) list.push(value);
      else into[name] = [value];
      return;
    }
    if (value === undefined || (field.leavesOutZero && (value === '' || value === 0 || value === false))) return;
    into[name] = value;
  }

  /** `undefined`: a time that is not set, or what is passed over. */
  #value({ type }: Field, end: number): unknown {
    switch (type) {
      case 'skip':
        this.#at = this.inner(end);
        return undefined;
      case 'string':
        return this.string(end);
      case 'integer':
        return this.varint(end);
      case 'boolean':
        return this.varint(end) !== 0;
      case 'time':
        return this.#time(this.inner(end));
      case 'integer-or-string':
        return this.#integerOrString(this.inner(end));
      default:
        return this.nested(type, end);
    }
  }

  /** An entry of a map: a message of key and value. */
  #entry(field: Field, end: number, into: Fields): void {
    const entryEnd = this.inner(end);
    let key = '';
    let value: unknown = '';
    while (this.#at < entryEnd) {
      const tag = this.tag(entryEnd);
      if (tag === ((1 << 3) | DELIMITED)) key = this.string(entryEnd);
      else if (tag === ((2 << 3) | DELIMITED)) value = this.#value(field, entryEnd);
      else throw new UnreadableMessageError(`an entry of ${field.name} has a field ${tag >>> 3}, which is not known`);
    }
    // An assignment would set the prototype.
    if (key === '__proto__') throw new UnreadableMessageError(`${field.name} has the key __proto__`);
    into[key] = value;
  }

  #time(end: number): string | undefined {
    if (this.#at === end) return undefined;
    let seconds = 0;
    while (this.#at < end) {
      const tag = this.tag(end);
      if (tag === 1 << 3) seconds = this.varint(end);
      // Nanoseconds: not in JSON either.
      else if (tag === 2 << 3) this.varint(end);
      else throw new UnreadableMessageError(`a time has a field ${tag >>> 3}, which is not known`);
    }
    const text = timeText(seconds);
    if (text === undefined) throw new UnreadableMessageError('a time before the year 0 or after 9999');
    return text;
  }

  #integerOrString(end: number): number | string {
    let isString = false;
    let integer = 0;
    let text = '';
    while (this.#at < end) {
      const tag = this.tag(end);
      if (tag === 1 << 3) isString = this.varint(end) === 1;
      else if (tag === 2 << 3) integer = this.varint(end);
      else if (tag === ((3 << 3) | DELIMITED)) text = this.string(end);
      else throw new UnreadableMessageError(`an integer or string has a field ${tag >>> 3}, which is not known`);
    }
    return isString ? text : integer;
  }

  #byte(end: number): number {
    const byte = this.#at < end ? this.#bytes[this.#at] : undefined;
    if (byte === undefined) throw new UnreadableMessageError('the bytes end in the middle of a field');
    this.#at++;
    return byte;
  }
}
