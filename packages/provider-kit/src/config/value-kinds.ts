/** How the value of a key is read, from YAML, JSON or INI alike. */
import { parseCidr, quote, type Cidr } from '@outrigger/cloud-provider';
import { parseGoDuration } from './go-duration.ts';

/** One type of value. */
export interface ValueKind<T> {
  /** For the table of keys, and for messages: `a whole number from 1 to 10`. */
  readonly name: string;
  /** `undefined` for what is none. `value`: a text, in YAML and JSON also a number, a boolean or `null`; a list where `isList`. */
  readonly read: (value: unknown) => T | undefined;
  /** Takes several values: a list, a key that is repeated, or text with commas. */
  readonly isList?: true;
  /** Takes what is no text in YAML (`0123`, `yes`) as it is written. */
  readonly isText?: true;
}

export const text: ValueKind<string> = {
  name: 'text',
  isText: true,
  read: (value) => {
    if (typeof value === 'string') return value === '' ? undefined : value;
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  },
};

/** With its scheme and a host, without user and password: these would be shown. No slash at the end. */
export const url: ValueKind<string> = {
  name: 'an http:// or https:// URL without user and password',
  read: (value) => {
    const found = typeof value === 'string' ? URL.parse(value) : null;
    if (!found || !/^https?:$/u.test(found.protocol) || found.username !== '' || found.password !== '')
      return undefined;
    const { href } = found;
    return href.endsWith('/') ? href.slice(0, -1) : href;
  },
};

/** In INI also `yes`, `on`, `1` and their opposites. */
export const bool: ValueKind<boolean> = {
  name: 'true or false',
  read: (value) => {
    if (typeof value === 'boolean') return value;
    const word = typeof value === 'string' ? value.toLowerCase() : '';
    if (['true', 'yes', 'on', '1'].includes(word)) return true;
    return ['false', 'no', 'off', '0'].includes(word) ? false : undefined;
  },
};

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  return {
    name: `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`,
    read: (value) => {
      const isDecimal = typeof value === 'string' && /^[+-]?\d{1,15}$/u.test(value);
      const number = typeof value === 'number' ? value : isDecimal ? Number(value) : Number.NaN;
      return Number.isSafeInteger(number) && number >= least && number <= most ? number : undefined;
    },
  };
}

/** In milliseconds. Always with its unit. */
export const duration: ValueKind<number> = {
  name: 'a duration with its unit, such as 5s or 1m30s',
  read: (value) => (typeof value === 'string' && value.length <= 100 ? parseGoDuration(value) : undefined),
};

export const cidr: ValueKind<Cidr> = {
  name: 'a CIDR, such as 10.0.0.0/8',
  read: (value) => (typeof value === 'string' ? parseCidr(value) : undefined),
};

/** Of a certificate, as it is compared: `AA:BB:…`. */
export const thumbprint: ValueKind<string> = {
  name: 'a SHA-1 or SHA-256 fingerprint, such as AA:BB:CC:…',
  read: (value) => {
    const digits = typeof value === 'string' ? value.replaceAll(':', '').toUpperCase() : '';
    return /^(?:[\dA-F]{40}|[\dA-F]{64})$/u.test(digits) ? digits.match(/../gu)?.join(':') : undefined;
  },
};

export function oneOf<const Word extends string>(...words: readonly Word[]): ValueKind<Word> {
  return { name: `one of ${words.join(', ')}`, read: (value) => words.find((word) => word === value) };
}

export function listOf<T>(kind: ValueKind<T>): ValueKind<readonly T[]> {
  return {
    name: `a list: ${kind.name}`,
    isList: true,
    ...(kind.isText && { isText: true }),
    read: (value) => {
      const items = Array.isArray(value) ? (value as unknown[]) : [value];
      const parts = items.flatMap((item) =>
        typeof item === 'string' ? item.split(',').map((one) => one.trim()) : [item],
      );
      const read = parts.filter((one) => one !== '').map(kind.read);
      return read.includes(undefined) ? undefined : (read as readonly T[]);
    },
  };
}

/** For messages; never of a secret. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' && value !== null ? 'a list or a map' : String(value);
}
