/** For tests: one request to a fake that does not listen. */
import assert from 'node:assert/strict';
import type { FakeCloud } from './fake-cloud.ts';

export interface Asked {
  /** 0: the connection was closed. */
  readonly status: number;
  /** `undefined`: there was none. JSON, or text that is none. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** `ask(cloud, 'POST /servers?x=1', { name: 'a' })`. A body that is a string is sent as it is. */
export async function ask(
  cloud: FakeCloud,
  line: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Asked> {
  const [method = '', target = ''] = line.split(' ');
  const { pathname, searchParams } = new URL(target, 'http://fake');
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await cloud.handle({ method, path: pathname, query: searchParams, headers, text });
  if (!answer) return { status: 0, body: undefined, headers: {} };
  return { status: answer.status, headers: answer.headers, body: answer.text === '' ? undefined : parsed(answer.text) };
}

/** The status and the error's code. */
export function refusalIn({ body, status }: Asked): readonly [status: number, code: string] {
  const { error } = body as { readonly error?: { readonly code?: string } };
  assert.ok(error?.code, JSON.stringify(body));
  return [status, error.code];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
