/** Small local servers for the tests of the transport, each badly behaved in its own way, by path. */
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer as createTls } from 'node:https';
import { connect, createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { IssuedCertificate, TestAuthority } from './test-certificates.suite.ts';

export type Protocol = 'h2' | 'h1-tls' | 'h1';

export type Handler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Connections made since the start, and those open now. */
  readonly connections: { readonly made: number; readonly open: number };
  /** Requests under way, as the server sees them. */
  readonly open: number;
  /** HTTP/2: says GOAWAY on every connection. */
  goaway(code?: number): void;
}

export interface LocalServerOptions {
  readonly protocol: Protocol;
  readonly handler: Handler;
  readonly authority: TestAuthority;
  readonly certificate?: IssuedCertificate;
  readonly clientCertificates?: boolean;
  readonly maxStreams?: number;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}

export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  const sessions = new Set<{ goaway(code?: number): void }>();
  let made = 0;
  let open = 0;
  const handler: Handler = (request, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    options.handler(request, response);
  };
  const issued = options.certificate ?? (await options.authority.issue({ name: 'server' }));
  const tls = {
    cert: issued.certificate,
    key: issued.key,
    ...(options.clientCertificates && { ca: options.authority.ca, requestCert: true, rejectUnauthorized: false }),
  };
  let server: Server;
  if (options.protocol === 'h2') {
    const h2 = createSecureServer(
      { ...tls, settings: { maxConcurrentStreams: options.maxStreams ?? 100 } },
      handler as (request: Http2ServerRequest, response: Http2ServerResponse) => void,
    );
    h2.on('session', (session) => {
      sessions.add(session);
      session.on('error', () => undefined);
      session.once('close', () => sessions.delete(session));
    });
    server = h2;
  } else server = options.protocol === 'h1-tls' ? createTls(tls, handler) : createPlain(handler);
  server.on('connection', (socket: Socket) => {
    made += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `${options.protocol === 'h1' ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    connections: {
      get made() {
        return made;
      },
      get open() {
        return sockets.size;
      },
    },
    get open() {
      return open;
    },
    goaway: (code = 0) => {
      for (const session of sessions) session.goaway(code);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The common name of the client's certificate. */
export function clientName(request: IncomingMessage | Http2ServerRequest): string | undefined {
  const socket = 'stream' in request ? (request.stream.session?.socket as TLSSocket) : (request.socket as TLSSocket);
  const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
  return subject?.CN;
}

/** Breaks the whole connection of a request. */
export function breakConnection(request: IncomingMessage | Http2ServerRequest): void {
  if ('stream' in request) request.stream.session?.destroy();
  else request.socket.destroy();
}

/** A TCP proxy that can stop moving bytes while its connections stay up: a frozen peer, or a cut network. */
export interface FreezableProxy extends AsyncDisposable {
  readonly port: number;
  freeze(): void;
  /** Freezes the connections that stand, for ever; new ones are well. */
  freezeStanding(): void;
  thaw(): void;
}

export async function startFreezableProxy(target: number): Promise<FreezableProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createTcp((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => to.destroy());
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (frozen) from.pause();
    }
  });
  const port = await listen(server);
  return {
    port,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    freezeStanding: () => {
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
