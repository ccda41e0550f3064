/** The socket: plain HTTP/1.1, or HTTP/2 and HTTP/1.1 over TLS by ALPN; always on 127.0.0.1. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { CertificateAndKey } from '../control-plane/certificate-authority.ts';
import type { HttpRequest, HttpResponse } from './http-exchange.ts';

export interface ListenerOptions {
  /** 0: a free one. */
  readonly port: number;
  /** Undefined: no TLS. */
  readonly tls: { readonly serving: CertificateAndKey; readonly clientCa: string } | undefined;
  readonly handle: (request: HttpRequest, response: HttpResponse) => void;
}

/** An open port. Disposing of it resets every connection. */
export class Listener implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
  }

  /** Rejects when the port is taken. */
  static async open({ port, tls, handle }: ListenerOptions): Promise<Listener> {
    const server: Server = tls
      ? createSecureServer(
          {
            allowHTTP1: true,
            cert: tls.serving.certificate,
            key: tls.serving.key,
            ca: tls.clientCa,
            requestCert: true,
            // A client without a certificate may still have a token.
            rejectUnauthorized: false,
            settings: { maxConcurrentStreams: 1_000, initialWindowSize: 1_048_576 },
          },
          (request, response) => handle(request as unknown as HttpRequest, response as unknown as HttpResponse),
        )
      : createServer({ keepAliveTimeout: 60_000 }, handle);
    server.on('tlsClientError', () => {});
    server.on('sessionError', () => {});
    server.on('clientError', (_error: Error, socket: Socket) => socket.destroy());
    const listener = new Listener(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
