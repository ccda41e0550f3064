/**
 * The proxy's outer half: passes bytes between clients and the inner server, and does what can only be done below TLS:
 * a real TCP reset, and a connection that is up and says nothing.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { systemClock } from '@outrigger/kube';

/** All that the inner server wrote has come through when nothing came for so long. Real time: sockets know no other. */
const QUIET_MS = 25;

export class FrontConnection {
  /** Counts from 1. */
  readonly id: number;
  readonly #client: Socket;
  readonly #inner: Socket;
  #frozen = false;

  constructor(id: number, client: Socket, inner: Socket) {
    this.id = id;
    this.#client = client;
    this.#inner = inner;
    for (const socket of [client, inner]) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => this.#closeOther(socket));
    }
    client.on('end', () => inner.end());
    inner.on('end', () => {
      if (!this.#frozen) client.end();
    });
    client.on('data', (chunk: Buffer) => {
      // Frozen: the bytes are taken, as by a peer whose kernel lives and whose program does not.
      if (!this.#frozen && !inner.write(chunk)) pauseUntilDrained(client, inner);
    });
    inner.on('data', (chunk: Buffer) => {
      if (!this.#frozen && !client.write(chunk)) pauseUntilDrained(inner, client);
    });
  }

  /** For good: bytes have been thrown away. */
  freeze(): void {
    this.#frozen = true;
    // What the server still sends is nobody's concern; it must not be held up by it either.
    this.#client.resume();
    this.#inner.resume();
  }

  /** TCP reset. */
  reset(): void {
    this.#client.resetAndDestroy();
    this.#inner.destroy();
  }

  /** Passes on what the inner server has written, then ends the connection without more. */
  async finish(): Promise<void> {
    for (let read = -1; this.#inner.bytesRead !== read;) {
      read = this.#inner.bytesRead;
      await systemClock.sleep(QUIET_MS);
    }
    this.#client.end();
    this.#inner.destroy();
  }

  #closeOther(socket: Socket): void {
    // A client of a frozen connection learns nothing, not even that the server has gone.
    if (socket === this.#inner && this.#frozen) return;
    if (socket === this.#client) this.#inner.destroy();
    else if (!this.#client.writableEnded) this.#client.end();
  }
}

function pauseUntilDrained(from: Socket, to: Socket): void {
  from.pause();
  to.once('drain', () => from.resume());
}

export class TcpFront implements AsyncDisposable {
  readonly #server: Server;
  readonly #innerPort: number;
  /** By the port that the inner server sees as the peer's. */
  readonly #connections = new Map<number, FrontConnection>();
  readonly #sockets = new Set<Socket>();
  #accepted = 0;
  #frozen = false;

  constructor(innerPort: number) {
    this.#innerPort = innerPort;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** Listens on a free port of 127.0.0.1 and gives it. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** The connection on which the inner server got a request. */
  connectionOf(peerPort: number | undefined): FrontConnection | undefined {
    return this.#connections.get(peerPort ?? 0);
  }

  get connections(): readonly FrontConnection[] {
    return [...this.#connections.values()];
  }

  /** Freezes all connections, and those still to come until `thaw`. */
  freeze(): void {
    this.#frozen = true;
    for (const connection of this.#connections.values()) connection.freeze();
  }

  /** New connections live again; the frozen ones stay frozen. */
  thaw(): void {
    this.#frozen = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(client: Socket): void {
    client.on('error', () => {});
    this.#track(client);
    // Nothing may be lost before the other side stands.
    client.pause();
    const inner = connect({ port: this.#innerPort, host: '127.0.0.1', allowHalfOpen: true });
    this.#track(inner);
    inner.on('error', () => client.destroy());
    inner.once('connect', () => {
      const port = inner.localPort ?? 0;
      const connection = new FrontConnection(++this.#accepted, client, inner);
      this.#connections.set(port, connection);
      inner.on('close', () => this.#connections.delete(port));
      if (this.#frozen) connection.freeze();
      client.resume();
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
