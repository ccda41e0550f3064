/**
 * Stands between a cloud-controller-manager and the API server, and spoils what the manager sees and writes: so that a manager that is
 * broken in one way is ours, and this. HTTP on 127.0.0.1; what it does not spoil it passes on as it is.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request as httpsRequest, Agent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Node, Service } from '@outrigger/kube';
import { requestInfoOf, type RequestInfo } from '@outrigger/testing';

/** How one kind of object is spoilt. Objects may be changed in place: each is a copy. */
export interface SpoiltKind<T> {
  /** What the manager is shown in the place of an object; `undefined`: it is not shown. */
  readonly sees?: (object: T) => T | undefined;
  /** What becomes of an object that the manager writes: `before` as it is, `after` as the manager would have it. */
  readonly writes?: (before: T, after: T) => T;
  /** What the manager is told that it has done, and has not. */
  readonly drops?: 'create' | 'delete';
  /** Deletions by others that the manager never hears of. */
  readonly misses?: 'delete';
}

export interface Spoilt {
  readonly nodes?: SpoiltKind<Node>;
  readonly services?: SpoiltKind<Service>;
  readonly events?: SpoiltKind<object>;
}

/** The real one, over TLS. */
export interface ApiServer {
  readonly server: string;
  readonly certificateAuthority: string;
  /** Of somebody who may do everything. */
  readonly token: string;
}

type AnyKind = SpoiltKind<object>;

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export class SpoilingApi implements AsyncDisposable {
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #apiServer: ApiServer;
  readonly #spoilt: Spoilt;

  private constructor(apiServer: ApiServer, spoilt: Spoilt) {
    this.#apiServer = apiServer;
    this.#spoilt = spoilt;
    this.#agent = new Agent({ ca: apiServer.certificateAuthority, keepAlive: true });
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(apiServer: ApiServer, spoilt: Spoilt): Promise<SpoilingApi> {
    const api = new SpoilingApi(apiServer, spoilt);
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server, 'close');
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const info = requestInfoOf(method, url);
    const kind: AnyKind | undefined = this.#spoilt[info.resource as keyof Spoilt];
    if (kind?.drops !== undefined && kind.drops === info.verb) return this.#drop(request, response);
    if (kind?.writes && ['update', 'patch'].includes(info.verb)) return this.#write(kind, request, response, info);
    if ((kind?.sees || kind?.misses) && info.verb === 'watch') return this.#watch(kind, request, response);
    if (kind?.sees && ['get', 'list'].includes(info.verb)) return this.#read(kind, request, response);
    return this.#pass(request, response);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#send(request.method, request.url, request.headers, request);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => response.destroy());
    response.on('close', () => answer.destroy());
    answer.pipe(response);
  }

  /** Read, so that the connection can serve the next request. */
  async #drop(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    reply(request, response, { status: request.method === 'POST' ? 201 : 200, body: text === '' ? {} : parsed(text) });
  }

  async #read(kind: AnyKind, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#json('GET', request.url, request.headers);
    if (answer.status !== 200) return reply(request, response, answer);
    const { items } = answer.body;
    const shown = (object: object): object[] => [kind.sees?.(object)].filter((one) => one !== undefined);
    if (Array.isArray(items)) {
      return reply(request, response, { status: 200, body: { ...answer.body, items: items.flatMap(shown) } });
    }
    const [seen] = shown(answer.body);
    if (seen) return reply(request, response, { status: 200, body: seen as Answer['body'] });
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    return reply(request, response, { status: 404, body: status });
  }

  async #watch(kind: AnyKind, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#send('GET', request.url, asJson(request.headers));
    response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
    response.flushHeaders();
    response.on('close', () => answer.destroy());
    answer.on('error', () => response.destroy());
    for await (const line of createInterface({ input: answer })) {
      const event = JSON.parse(line) as { type: string; object: object };
      if (event.type === 'DELETED' && kind.misses === 'delete') continue;
      if (['ADDED', 'MODIFIED', 'DELETED'].includes(event.type)) {
        const seen = kind.sees ? kind.sees(event.object) : event.object;
        if (seen === undefined) continue;
        event.object = seen;
      }
      response.write(`${JSON.stringify(event)}\n`);
    }
    response.end();
  }

  /** The server says what would become of the object; that is spoilt, and written as a whole. */
  async #write(
    kind: AnyKind,
    request: IncomingMessage,
    response: ServerResponse,
    { subresource }: RequestInfo,
  ): Promise<void> {
    const { url = '/', headers, method } = request;
    const body = await textOf(request);
    const target = new URL(url, 'http://api');
    for (let attempt = 1; ; attempt++) {
      const whole = target.pathname.replace(subresource === undefined ? '' : `/${subresource}`, '');
      const before = await this.#json('GET', whole, {});
      const dry = new URL(target);
      dry.searchParams.set('dryRun', 'All');
      const after = await this.#json(method, `${dry.pathname}${dry.search}`, headers, body);
      if (before.status !== 200 || after.status >= 300) return reply(request, response, after);
      const spoilt = kind.writes?.(structuredClone(before.body), after.body) as Answer['body'];
      spoilt['metadata'] = { ...(spoilt['metadata'] as object), resourceVersion: resourceVersionOf(before.body) };
      const json = { 'content-type': 'application/json' };
      const written = await this.#json('PUT', target.pathname, json, JSON.stringify(spoilt));
      if (written.status === 409 && attempt < 5) continue;
      const seen = written.status < 300 && kind.sees ? kind.sees(written.body) : written.body;
      return reply(request, response, { ...written, body: (seen ?? written.body) as Answer['body'] });
    }
  }

  async #json(method: string | undefined, url: string | undefined, headers: object, body?: string): Promise<Answer> {
    const answer = await this.#send(method, url, asJson(headers), body);
    return { status: answer.statusCode ?? 502, body: parsed(await textOf(answer)) };
  }

  async #send(
    method: string | undefined,
    url: string | undefined,
    headers: object,
    body?: string | IncomingMessage,
  ): Promise<IncomingMessage> {
    const { host: _host, connection: _connection, ...rest } = headers as Record<string, string>;
    if (typeof body === 'string') delete rest['content-length'];
    const sent = httpsRequest(new URL(url ?? '/', this.#apiServer.server), {
      agent: this.#agent,
      headers: { ...rest, authorization: `Bearer ${this.#apiServer.token}` },
      ...(method !== undefined && { method }),
    });
    if (body === undefined || typeof body === 'string') sent.end(body);
    else body.pipe(sent);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  }
}

function asJson(headers: object): Record<string, string> {
  const { 'accept-encoding': _encoding, ...rest } = headers as Record<string, string>;
  return { ...rest, accept: 'application/json' };
}

function reply(request: IncomingMessage, response: ServerResponse, { status, body }: Answer): void {
  const small = request.headers.accept?.includes('as=PartialObjectMetadata') && status < 300;
  const answer = small
    ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: body['metadata'] }
    : body;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): Answer['body'] {
  return JSON.parse(text) as Answer['body'];
}

function resourceVersionOf(object: Answer['body']): unknown {
  return (object['metadata'] as { resourceVersion?: unknown }).resourceVersion;
}
