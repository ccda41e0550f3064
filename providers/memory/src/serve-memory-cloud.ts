/** The cloud over HTTP on 127.0.0.1: its own API, and under `/control` what makes instances come, go and fail. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { handleRequest } from './cloud-api.ts';
import { handleControl } from './cloud-control.ts';
import type { CloudRequest, CloudResponse } from './cloud-request.ts';
import type { MemoryCloud } from './memory-cloud.ts';

export interface ServeOptions {
  /** Default: 0, a free one. */
  readonly port?: number;
}

export interface ServedCloud extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`: what the cloud config names as `endpoint`. */
  readonly endpoint: string;
}

const MOST_BYTES = 16 * 1024 * 1024;

export async function serveMemoryCloud(cloud: MemoryCloud, { port = 0 }: ServeOptions = {}): Promise<ServedCloud> {
  const server = createServer((request, response) => {
    void serve(cloud, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${bound}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(cloud: MemoryCloud, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort(new DOMException('the client has gone', 'AbortError')));
  let response: CloudResponse;
  try {
    const request = await readRequest(incoming);
    response = request.path.startsWith('/control/')
      ? handleControl(cloud, request)
      : await handleRequest(cloud, request, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    // Not JSON, or a path with a broken escape.
    const isTheirs = error instanceof SyntaxError || error instanceof URIError;
    response = { status: isTheirs ? 400 : 500, body: { code: 'invalid', message } };
  }
  outgoing.statusCode = response.status;
  outgoing.setHeader('content-type', 'application/json');
  if (response.retryAfterSeconds !== undefined) outgoing.setHeader('retry-after', String(response.retryAfterSeconds));
  outgoing.end(JSON.stringify(response.body));
}

async function readRequest(incoming: IncomingMessage): Promise<CloudRequest> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new RangeError(`a request of more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const method = (incoming.method ?? 'GET') as CloudRequest['method'];
  return { method, path: incoming.url ?? '/', body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
