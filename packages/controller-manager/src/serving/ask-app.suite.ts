/** For tests: asks an app without a listener. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { requestOf, type HttpApp } from './http-app.ts';

/** `headers`: names in lower case. */
export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export async function askApp(app: HttpApp, url: string, asked: Asked = {}): Promise<Response> {
  const { body = '', headers = {}, method = 'GET' } = asked;
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const said = { method, url, headers, headersDistinct, socket: {} };
  const incoming = Object.assign(Readable.from(body === '' ? [] : [Buffer.from(body)]), said);
  const answer = await app(requestOf(incoming as unknown as IncomingMessage));
  return new Response(answer.body ?? null, { status: answer.status, headers: { ...answer.headers } });
}
