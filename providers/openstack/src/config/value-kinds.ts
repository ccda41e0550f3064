/** How the value of a key is read: the types of gcfg (`types/`), and those of cloud-provider-openstack. */
import { isIP } from 'node:net';
import { parseGoDuration } from '@outrigger/provider-kit';
import type { EndpointType, MetadataSource } from './cloud-config.ts';

/** One type of value. */
export interface ValueKind<T> {
  /** For the page of keys. */
  readonly name: string;
  /**
   * `text` is `undefined` where the key stands without `=`; `before` is what the key had until this line. Throws `BadValue`.
   * `warn` takes what is wrong with a value that is read all the same.
   */
  read(text: string | undefined, before: T, warn: (why: string) => void): T;
  /** The default, for the page of keys. */
  show(value: T): string;
}

/** The value is none of its kind; the message says what it should be. */
export class BadValue extends Error {}

function required(text: string | undefined): string {
  if (text === undefined) throw new BadValue('needs a value: write key = value');
  return text;
}

/** Text; nothing means: not set. */
export const text: ValueKind<string | undefined> = {
  name: 'text',
  read: (value) => required(value) || undefined,
  show: (value) => value ?? '',
};

/** Text that may not be left out. Nothing means: the default. */
export function textOr(byDefault: string, known?: readonly string[]): ValueKind<string> {
  return {
    name: known ? known.join(', ') : 'text',
    read: (value, _before, warn) => {
      const read = required(value) || byDefault;
      if (known && !known.includes(read)) warn(`${quote(read)} is none of ${known.join(', ')}; it is used as it is`);
      return read;
    },
    show: (value) => value,
  };
}

/** `[Global] tls-insecure`, which is a text upstream: what is no `true` there verifies silently, and is refused here. */
export const trueOrFalse: ValueKind<boolean> = {
  name: 'true or false',
  read: (value) => {
    const read = required(value);
    if (read === 'true') return true;
    if (read === 'false' || read === '') return false;
    throw new BadValue(`must be true or false, not ${quote(read)}`);
  },
  show: String,
};

const YES: readonly string[] = ['true', 'yes', 'on', '1'];
const NO: readonly string[] = ['false', 'no', 'off', '0'];

/** A key without `=` is true. */
export const bool: ValueKind<boolean> = { name: 'yes or no', read: (value) => yesOrNo(value), show: String };

/** `others`: what is read besides. */
function yesOrNo(value: string | undefined, others: readonly string[] = []): boolean {
  const read = value?.toLowerCase() ?? 'true';
  if (YES.includes(read)) return true;
  if (NO.includes(read)) return false;
  throw new BadValue(`must be one of ${[...YES, ...NO, ...others].join(', ')}, not ${quote(read)}`);
}

const AT_START = 'at-start';

/** What is there at the start, or all, or none. */
export const boolOrAtStart: ValueKind<boolean | 'at-start'> = {
  name: 'yes, no or at-start',
  read: (value) => (value === AT_START ? value : yesOrNo(value, [AT_START])),
  show: String,
};

/** Milliseconds. */
export function duration(insteadOfZero = 0): ValueKind<number> {
  return {
    name: 'duration',
    read: (value) => {
      const read = required(value);
      const milliseconds = parseGoDuration(read);
      if (milliseconds === undefined) {
        throw new BadValue(`must be a duration with its unit, such as 5s or 1m30s, not ${quote(read)}`);
      }
      return milliseconds || insteadOfZero;
    },
    show: (value) => `${value / 1000}s`,
  };
}

/** A whole number within bounds, decimal or `0x…`; `010` is ten. */
export function wholeNumber(least: number, most: number): ValueKind<number> {
  const bounds = most === Infinity ? `a whole number from ${least}` : `a whole number from ${least} to ${most}`;
  return {
    name: bounds.replace('a whole number', 'number'),
    read: (value) => {
      const read = required(value).trim();
      const number = /^(?:[+-]?\d+|0x[\da-f]+)$/iu.test(read) ? Number(read) : Number.NaN;
      if (!(number >= least && number <= most)) throw new BadValue(`must be ${bounds}, not ${quote(read)}`);
      return number;
    },
    show: String,
  };
}

/** Each line adds one; a key without `=` empties what is there. */
export const repeated: ValueKind<readonly string[]> = {
  name: 'text, repeatable',
  read: (value, before) => (value === undefined ? [] : [...before, value]),
  show: (value) => value.join(', '),
};

/** Separated by commas. What is no CIDR is left out, as upstream does (`buildAddressSortOrderList`). */
export const cidrs: ValueKind<readonly string[]> = {
  name: 'CIDRs, separated by commas',
  read: (value, _before, warn) =>
    splitList(required(value)).filter((cidr) => {
      if (isCidr(cidr)) return true;
      warn(`${quote(cidr)} is not a CIDR; it is ignored`);
      return false;
    }),
  show: (value) => value.join(', '),
};

function isCidr(value: string): boolean {
  const [address = '', prefix = '', ...more] = value.split('/');
  const family = isIP(address);
  const bits = /^\d{1,3}$/u.test(prefix) ? Number(prefix) : Infinity;
  return more.length === 0 && family !== 0 && bits <= (family === 4 ? 32 : 128);
}

const ENDPOINT_TYPES: readonly EndpointType[] = ['public', 'internal', 'admin'];

/** `public` or `publicURL`, and so on. */
export const endpointType: ValueKind<EndpointType> = {
  name: 'public, internal, admin, with URL behind it or not',
  read: (value) => {
    const read = required(value);
    if (read === '') return 'public';
    const known = ENDPOINT_TYPES.find((type) => read === type || read === `${type}URL`);
    if (!known) throw new BadValue(`must be public, internal or admin, not ${quote(read)}`);
    return known;
  },
  show: String,
};

const SOURCES: readonly MetadataSource[] = ['configDrive', 'metadataService'];

/** One or two of the sources, separated by a comma. */
export const metadataSources: ValueKind<readonly MetadataSource[]> = {
  name: 'configDrive, metadataService',
  read: (value) => {
    const read = required(value);
    if (read === '') return SOURCES;
    const names = read.split(',').map((one) => one.trim());
    const known = SOURCES.filter((source) => names.includes(source)).toSorted(
      (a, b) => names.indexOf(a) - names.indexOf(b),
    );
    if (names.length > 2 || names.some((name) => !SOURCES.some((source) => source === name))) {
      throw new BadValue(`must be configDrive, metadataService, or both with a comma between, not ${quote(read)}`);
    }
    return known;
  },
  show: (value) => value.join(','),
};

function splitList(value: string): readonly string[] {
  return value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function quote(value: string): string {
  return JSON.stringify(value);
}
