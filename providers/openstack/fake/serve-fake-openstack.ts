/** The fake over real HTTP on 127.0.0.1, all services on one port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BrokenConnection, type FakeOpenStack } from './fake-openstack.ts';
import type { FakeResponse } from './fake-http.ts';
import { textOf, toFakeRequest } from './in-process-fetch.ts';

export interface ServedOpenStack extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** `http://127.0.0.1:<port>/identity/v3`: the cloud config's `auth-url`. */
  readonly authUrl: string;
}

/** On a free port. Ends with all of its connections when it is disposed of. */
export async function serveFakeOpenStack(cloud: FakeOpenStack): Promise<ServedOpenStack> {
  const server = createServer((incoming, outgoing) => void serve(cloud, incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    authUrl: `${origin}/identity/v3`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(cloud: FakeOpenStack, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort(new DOMException('the client has gone', 'AbortError'));
  });
  let response: FakeResponse;
  try {
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? '127.0.0.1'}`);
    const request = toFakeRequest(incoming.method ?? 'GET', url, headersOf(incoming), await bodyText(incoming));
    response = request ? await cloud.handle(request, gone.signal) : { status: 404, text: 'no such service\n' };
  } catch (error) {
    if (gone.signal.aborted) return;
    if (error instanceof BrokenConnection) {
      outgoing.destroy();
      return;
    }
    response = { status: 500, text: `${error instanceof Error ? error.stack : String(error)}\n` };
  }
  outgoing.writeHead(response.status, { 'content-type': 'application/json', ...response.headers });
  outgoing.end(response.status === 204 ? undefined : textOf(response));
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

async function bodyText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
