/** The memory cloud of `make run`, over HTTP, with an ear on the wire: what the program asks of it is part of the story. */
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { tellExchange, type Exchange, type Names, type Step } from './cloud-story.ts';

export interface Machine {
  readonly name: string;
  readonly ip: string;
  readonly externalIp: string;
  readonly zone: string;
  readonly type: string;
}

export interface RunCloud extends AsyncDisposable {
  readonly url: string;
  /** Every request takes this long, as over a network. */
  readonly latencyMs: number;
  /** Requests so far. */
  calls(): number;
  /** What there is; all of it has been told when no request is `open`. */
  readonly inside: MemoryCloud;
  /** Requests of the program that are not answered yet. */
  open(): number;
}

export interface CloudOptions {
  /** Written: the cloud config that leads to it. */
  readonly configFile: string;
  /** The name of the Service that has this UID. */
  readonly serviceOf: (uid: string) => string;
  /** Told of each step that a request of the program has brought about. */
  readonly tell: (step: Step) => void;
  /** A request is over. */
  readonly look: () => void;
}

const LATENCY_MS = 20;

/** Starts a cloud with these machines. The instance of the n-th is `i-000n`. */
export async function startCloud(
  machines: readonly Machine[],
  { configFile, look, serviceOf, tell }: CloudOptions,
): Promise<RunCloud> {
  await using starting = new AsyncDisposableStack();
  const cloud = createMemoryCloud({
    clock: systemClock,
    random: Math.random,
    region: 'north-1',
    settings: { latencyMs: LATENCY_MS },
  });
  const nodes = new Map<string, string>();
  for (const [index, { externalIp, ip, name, type, zone }] of machines.entries()) {
    const { id } = cloud.createInstance({
      id: `i-${String(index + 1).padStart(4, '0')}`,
      name,
      type,
      zone,
      addresses: [
        { type: 'InternalIP', address: ip },
        { type: 'ExternalIP', address: externalIp },
      ],
    });
    nodes.set(id, name);
  }
  const { endpoint } = starting.use(await serveMemoryCloud(cloud));
  const front = starting.use(
    await startFront(
      endpoint,
      () => {
        const routes = new Map(cloud.routes().map((route) => [route.id, route]));
        const parts = new Map(cloud.parts().map((part) => [part.id, part]));
        const names: Names = {
          serviceOf,
          nodeOf: (id) => nodes.get(id) ?? id,
          routeOf: (id) => routes.get(id),
          partOf: (id) => parts.get(id),
        };
        return (exchange) => {
          for (const step of tellExchange(exchange, names)) tell(step);
        };
      },
      look,
    ),
  );
  await writeFile(configFile, `${JSON.stringify({ endpoint: front.url })}\n`);
  const owned = starting.move();
  return {
    url: front.url,
    latencyMs: LATENCY_MS,
    calls: () => cloud.calls().total,
    inside: cloud,
    open: () => front.open(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Front extends AsyncDisposable {
  readonly url: string;
  open(): number;
}

/** Called before a request is passed on; what it returns, when the answer is there. */
type Listen = () => (exchange: Exchange) => void;

/** Passes every request on to `target`, and tells of it. */
async function startFront(target: string, listen: Listen, over: () => void): Promise<Front> {
  let open = 0;
  const server = createServer((request, response) => {
    open++;
    pass(target, request, response, listen)
      .catch((error: unknown) => {
        response.writeHead(502).end(String(error));
      })
      .finally(() => {
        open--;
        over();
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => open,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function pass(target: string, request: IncomingMessage, response: ServerResponse, listen: Listen): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { method = 'GET', url: path = '/' } = request;
  const told = listen();
  const answer = await fetch(`${target}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body.length === 0 ? {} : { body }),
  });
  const text = await answer.text();
  told({ method, path, sent: parse(body.toString()), status: answer.status, answer: parse(text) });
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
}

function parse(text: string): unknown {
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}
