/**
 * How many connections a listener has at most, counted from before the handshake. A newcomer is always let in; `firstToGo` says whose
 * connection is ended for it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { firstToGo, type Claim } from './first-to-go.ts';

export interface ConnectionLimit {
  readonly most: number;
  /** Who goes last, by the connection over which a request has come. */
  readonly trusts: (socket: Socket) => boolean;
  /** A connection of this address was ended for another one's. */
  readonly onEnded: (peer: string) => void;
}

/** Requests that a caller may send before it has read an answer: Go's and Node's clients send one. */
const MOST_PIPELINED = 8;

export interface LimitedConnections {
  /** Ends all of them, those in a handshake too, of which the server's own `closeAllConnections` does not know. */
  endAll(): void;
}

/** To be called before the server listens. */
export function limitConnections(
  server: Server | TlsServer,
  { most, onEnded, trusts }: ConnectionLimit,
): LimitedConnections {
  /** By address and port of the caller, those first of which nothing was heard for the longest. */
  const open = new Map<string, Connection>();
  // Before the server's own listener, which begins the handshake.
  server.prependListener('connection', (socket: Socket) => {
    const gone = open.size >= most ? firstToGo(open.values()) : undefined;
    if (gone) {
      open.delete(gone.key);
      gone.socket.destroy();
      onEnded(gone.peer);
    }
    const connection = new Connection(socket);
    open.set(connection.key, connection);
    socket.once('close', () => {
      if (open.get(connection.key) === connection) open.delete(connection.key);
    });
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(keyOf(request.socket));
    if (!connection) return;
    // The youngest again: what it sent was a request.
    open.delete(connection.key);
    open.set(connection.key, connection);
    connection.trusted = trusts(request.socket);
    connection.begin(request, response);
  });
  return {
    endAll: () => {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

class Connection implements Claim {
  readonly size = 1;
  readonly key: string;
  readonly peer: string;
  readonly socket: Socket;
  readonly #requests = new Set<IncomingMessage>();
  trusted = false;

  constructor(socket: Socket) {
    this.socket = socket;
    this.key = keyOf(socket);
    this.peer = socket.remoteAddress ?? '';
  }

  get busy(): boolean {
    return [...this.#requests].some(({ complete }) => complete);
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#requests.add(request);
    response.once('close', () => this.#requests.delete(request));
    if (this.#requests.size > MOST_PIPELINED) this.socket.destroy();
  }
}

/** The socket of TLS has the same as the one below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
