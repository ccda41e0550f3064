/** Makes what was handed to a log line fit for printing: plain, bounded, free of secrets. */
import { maskedValue, type Redactor } from './redactor.ts';

/** A value that `JSON.stringify` takes. */
export type LogValue = string | number | boolean | null | readonly LogValue[] | { readonly [key: string]: LogValue };

const MAX_TEXT = 16_384;
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;

/** `field` is the name under which the value stands: `password` and the like are masked whole. */
export function toLogValue(field: string, value: unknown, redactor: Redactor, depth = 0): LogValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    const text = printableText(String(value), redactor);
    return Number.isFinite(value) && text === String(value) ? value : text;
  }
  if (redactor.hides(field)) return maskedValue;
  if (typeof value === 'string') return printableText(value, redactor);
  if (value instanceof Error) return printableText(describeError(value), redactor);
  if (typeof value === 'bigint') return printableText(String(value), redactor);
  if (typeof value !== 'object') return typeof value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  // What is in them is for no person to read.
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ITEMS).map((item: unknown) => toLogValue(field, item, redactor, depth + 1));
  }
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    entries.map(([key, item]) => [printableText(key, redactor), toLogValue(key, item, redactor, depth + 1)]),
  );
}

/** Free of secrets, and then cut: a secret of which the cut leaves half would not be found. */
export function printableText(text: string, redactor: Redactor): string {
  return cut(redactor.redact(text));
}

/** The message with those of its causes, as Go's wrapped errors read: `lease update failed: connection reset`. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  for (let at: unknown = error; at !== undefined && at !== null && !seen.has(at); at = causeOf(at)) {
    seen.add(at);
    const text = messageOf(at);
    // Many errors quote their cause already.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(': ');
}

/** What a `DOMException` says by its name. Its `code` is a number that browsers once gave it. */
const CODES: Readonly<Record<string, string>> = { TimeoutError: 'timeout', AbortError: 'aborted' };

/** The stable code of the error, or of the first of its causes that has one. */
export function codeOf(error: unknown): string | undefined {
  const seen = new Set<unknown>();
  for (let at: unknown = error; at !== undefined && at !== null && !seen.has(at); at = causeOf(at)) {
    seen.add(at);
    const code = at instanceof DOMException ? CODES[at.name] : (at as { readonly code?: unknown }).code;
    if (typeof code === 'string' || typeof code === 'number') return String(code);
  }
  return undefined;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : JSON.stringify(error);
  if (error instanceof AggregateError && error.errors.length > 0) {
    const all = error.errors.map(describeError).join('; ');
    return error.message === '' ? all : `${error.message}: ${all}`;
  }
  return error.message === '' ? error.name : error.message;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;
}
