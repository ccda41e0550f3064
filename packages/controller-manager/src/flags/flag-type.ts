/** What the value of a flag can be: how it is read from the command line and shown in `--help`. */
import { isIP } from 'node:net';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

/** One kind of value. Methods throw a plain `Error` whose message says what is wrong; the parser adds flag and value. */
export interface FlagType<T> {
  /** The word after the flag in `--help`; empty for a bool. */
  readonly word: string;
  /** All values that there are, where these are few words: for completion. */
  readonly choices?: readonly string[];
  /** `--flag` alone means this text, and the next argument is never its value. Only bools have it. */
  readonly bare?: string;
  /** `previous` is what the same flag gave earlier on this command line: lists and maps grow, others are replaced. */
  parse(text: string, previous?: T): T;
  /** As `--help` shows the default; empty: the default is not shown. */
  format(value: T): string;
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function parseBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new Error('not a bool: write true or false');
}

function parseInteger(text: string): number {
  const value = /^[+-]?\d+$/u.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new Error('not a whole number');
  return value;
}

/** `--flag`, `--flag=false`. As in Go, `--flag false` is not understood: the value needs the `=`. */
export const bool: FlagType<boolean> = {
  word: '',
  bare: 'true',
  parse: parseBool,
  format: (value) => (value ? 'true' : ''),
};

export const string: FlagType<string> = {
  word: 'string',
  parse: (text) => text,
  format: (value) => (value === '' ? '' : JSON.stringify(value)),
};

/** A whole number from `min` to `max`. */
export function integer(range: { readonly min?: number; readonly max?: number } = {}): FlagType<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = range;
  return {
    word: 'int',
    parse: (text) => {
      const value = parseInteger(text);
      if (value < min) throw new Error(`must be at least ${min}`);
      if (value > max) throw new Error(`must be at most ${max}`);
      return value;
    },
    format: (value) => (value === 0 ? '' : String(value)),
  };
}

/** A number from `min` to `max`. */
export function float(range: { readonly min?: number; readonly max?: number } = {}): FlagType<number> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = range;
  return {
    word: 'float',
    parse: (text) => {
      const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u.test(text) ? Number(text) : Number.NaN;
      if (!Number.isFinite(value)) throw new Error('not a number');
      if (value < min) throw new Error(`must be at least ${min}`);
      if (value > max) throw new Error(`must be at most ${max}`);
      return value;
    },
    format: (value) => (value === 0 ? '' : String(value)),
  };
}

/** A TCP port; 0 switches the listener off. */
export const port: FlagType<number> = { ...integer({ min: 0, max: 65_535 }), word: 'port', format: String };

/** In milliseconds; at least `minMs`. */
export function duration(range: { readonly minMs?: number } = {}): FlagType<number> {
  const { minMs = 0 } = range;
  return {
    word: 'duration',
    parse: (text) => {
      const value = parseGoDuration(text);
      if (value === undefined) throw new Error('not a duration: write it as 300ms, 1.5s, 5m or 1h30m');
      if (value < minMs) throw new Error(`must be at least ${formatGoDuration(minMs)}`);
      return value;
    },
    format: (value) => (value === 0 ? '' : formatGoDuration(value)),
  };
}

/** An IPv4 or IPv6 address. */
export const ip: FlagType<string> = {
  word: 'ip',
  parse: (text) => {
    if (isIP(text) === 0) throw new Error('not an IP address');
    return text;
  },
  format: (value) => value,
};

/** `a,b`, repeatable. Empty items are dropped. */
export const strings: FlagType<readonly string[]> = {
  word: 'strings',
  parse: (text, previous) => [...(previous ?? []), ...splitList(text)],
  format: (value) => (value.length === 0 ? '' : `[${value.join(',')}]`),
};

/** `A=true,B=false`, repeatable; the last one wins. */
export const boolMap: FlagType<Readonly<Record<string, boolean>>> = {
  word: 'mapStringBool',
  parse: (text, previous) => {
    const entries = splitList(text).map((item): [string, boolean] => {
      const at = item.indexOf('=');
      if (at < 1) throw new Error(`${JSON.stringify(item)} is not key=true or key=false`);
      return [item.slice(0, at).trim(), parseBool(item.slice(at + 1).trim())];
    });
    return { ...previous, ...Object.fromEntries(entries) };
  },
  format: (value) =>
    Object.entries(value)
      .map(([key, on]) => `${key}=${on}`)
      .join(','),
};

/** `1,2`, repeatable. */
export const integers: FlagType<readonly number[]> = {
  word: 'int32Slice',
  parse: (text, previous) => [...(previous ?? []), ...splitList(text).map(parseInteger)],
  format: (value) => (value.length === 0 ? '' : `[${value.join(',')}]`),
};

/** An amount in the manner of Kubernetes, for example `64Ki`; kept as it was written. */
export const quantity: FlagType<string> = {
  word: 'quantity',
  parse: (text) => {
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/u.test(text)) {
      throw new Error('not a quantity: write it as 512, 64Ki or 1Mi');
    }
    return text;
  },
  format: (value) => (value === '0' ? '' : value),
};

/** One of the words. */
export function oneOf<const W extends string>(words: readonly W[]): FlagType<W> {
  return {
    word: 'string',
    choices: words,
    parse: (text) => {
      const word = words.find((word) => word === text);
      if (word === undefined) throw new Error(`must be ${words.map((word) => `"${word}"`).join(' or ')}`);
      return word;
    },
    format: (value) => JSON.stringify(value),
  };
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
