/** The memory cloud of `make run`, over HTTP, with an ear on the wire: what the program asks of it is part of the story. */
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud } from '@outrigger/provider-memory';

export interface Machine {
  readonly name: string;
  readonly ip: string;
  readonly externalIp: string;
  readonly zone: string;
  readonly type: string;
}

/** Told of each instance that the cloud has shown, and of how many were asked for in the same request. */
type FoundListener = (name: string, together: number) => void;

export interface RunCloud extends AsyncDisposable {
  readonly url: string;
  /** Every request takes this long, as over a network. */
  readonly latencyMs: number;
  /** Requests so far. */
  calls(): number;
  onFound(listener: FoundListener): void;
}

const LATENCY_MS = 20;

/** Starts a cloud with these machines, and writes the cloud config that leads to it. */
export async function startCloud(machines: readonly Machine[], configFile: string): Promise<RunCloud> {
  await using starting = new AsyncDisposableStack();
  const cloud = createMemoryCloud({
    clock: systemClock,
    random: Math.random,
    region: 'north-1',
    settings: { latencyMs: LATENCY_MS },
  });
  for (const [index, { externalIp, ip, name, type, zone }] of machines.entries()) {
    cloud.createInstance({
      id: `i-${String(index + 1).padStart(4, '0')}`,
      name,
      type,
      zone,
      addresses: [
        { type: 'InternalIP', address: ip },
        { type: 'ExternalIP', address: externalIp },
      ],
    });
  }
  const { endpoint } = starting.use(await serveMemoryCloud(cloud));
  const listeners: FoundListener[] = [];
  const front = starting.use(
    await startFront(endpoint, (names) => {
      for (const name of names) for (const listener of listeners) listener(name, names.length);
    }),
  );
  await writeFile(configFile, `${JSON.stringify({ endpoint: front.url })}\n`);
  const owned = starting.move();
  return {
    url: front.url,
    latencyMs: LATENCY_MS,
    calls: () => cloud.calls().total,
    onFound: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Front extends AsyncDisposable {
  readonly url: string;
}

/** Passes every request on to `target`, and reads the names out of the answers with instances. */
async function startFront(target: string, found: (names: readonly string[]) => void): Promise<Front> {
  const server = createServer((request, response) => {
    pass(target, request, response, found).catch((error: unknown) => {
      response.writeHead(502).end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function pass(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  found: (names: readonly string[]) => void,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const method = request.method ?? 'GET';
  const answer = await fetch(`${target}${request.url ?? '/'}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
  const text = await answer.text();
  if (answer.ok && request.url === '/instances:batchGet') {
    const { instances } = JSON.parse(text) as { readonly instances: readonly { readonly name: string }[] };
    found(instances.map(({ name }) => name));
  }
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
}
