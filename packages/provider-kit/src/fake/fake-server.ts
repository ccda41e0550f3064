/** A server on 127.0.0.1 in front of a fake cloud, or of several. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IncomingFakeRequest } from './fake-cloud.ts';
import type { FakeAnswer } from './fake-request.ts';

/** `undefined`: the connection ends without an answer. */
type Handle = (request: IncomingFakeRequest) => Promise<FakeAnswer | undefined>;

export class FakeServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Rejects when it cannot listen. */
  static async start(handle: Handle): Promise<FakeServer> {
    const server = createServer((request, response) => void answer(handle, request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new FakeServer(server);
  }

  /** `http://127.0.0.1:<port>`. */
  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

async function answer(handle: Handle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { method = 'GET', url = '/' } = request;
    const { pathname, searchParams } = new URL(url, 'http://fake');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    );
    const text = Buffer.concat(await request.toArray()).toString();
    const given = await handle({ method, path: pathname, query: searchParams, headers, text });
    if (given) response.writeHead(given.status, given.headers).end(given.text);
    else response.destroy();
  } catch {
    response.destroy();
  }
}
