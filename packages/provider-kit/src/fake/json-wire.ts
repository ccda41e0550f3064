/** Requests and answers in JSON: how they are read, refused and written. */
import { FAKE_REASONS, type FakeError, type FakeReason, type FakeRefusal } from './fake-error.ts';
import type { FakeErrors } from './fake-table.ts';
import type { FakeAnswer, FakeResult } from './fake-request.ts';

/** Throws a `SyntaxError` for what is no JSON. */
export function readJson(text: string): unknown {
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

export function jsonAnswer({ body, headers = {}, status = 200 }: FakeResult): FakeAnswer {
  if (body === undefined) return { status, headers, text: '' };
  const type = typeof body === 'string' ? {} : { 'content-type': 'application/json' };
  return { status, headers: { ...type, ...headers }, text: typeof body === 'string' ? body : JSON.stringify(body) };
}

export function errorOf(
  { code, message, reason }: Pick<FakeRefusal, 'code' | 'message' | 'reason'>,
  { reasons = {} }: FakeErrors = {},
): FakeError {
  const usual: { readonly status: number; readonly code: string } = FAKE_REASONS[reason satisfies FakeReason];
  const own = reasons[reason];
  return { reason, status: own?.status ?? usual.status, code: code ?? own?.code ?? usual.code, message };
}

export function jsonError(error: FakeError, { body = usualBody }: FakeErrors = {}): FakeResult {
  return { status: error.status, body: body(error) };
}

function usualBody({ code, message }: FakeError): unknown {
  return { error: { code, message } };
}

/** A value of a query as its schema has it: a number, a boolean, a list. What is none stays text, for the schema to refuse. */
export function valueOf(values: readonly string[], schema: Readonly<Record<string, unknown>> = {}): unknown {
  const { items, type } = schema;
  if (type === 'array') {
    const all = values.flatMap((value) => value.split(','));
    return all.map((value) => valueOf([value], items as Readonly<Record<string, unknown>>));
  }
  const [value = ''] = values;
  if (values.length > 1) return values;
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/u.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
