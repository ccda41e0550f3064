/**
 * One HTTP/2 connection. It asks the peer for a sign of life (PING) and ends when none comes: a TCP connection to a
 * frozen or silently cut-off peer looks healthy for a quarter of an hour (kubernetes/client-go#374).
 */
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../clock.ts';
import type { TransportResponse } from '../transport.ts';
import { EagerChunks } from './eager-chunks.ts';
import type { RequestScope } from './request-scope.ts';
import { ResponseBody } from './response-body.ts';
import { TransportError, toTransportError } from './transport-error.ts';

export interface PingOptions {
  /** Milliseconds between two PINGs while streams are open; three times as long while none is. */
  readonly pingIntervalMs: number;
  /** Milliseconds that the peer has to answer one. */
  readonly pingTimeoutMs: number;
}

/** kube-apiserver allows 100 streams a connection (`--http2-max-streams-per-connection`), others more. */
const MAX_STREAMS = 100;
/** What one stream may have under way: with the protocol's 64 KiB a list waits for the network's round trips. */
const STREAM_WINDOW_BYTES = 1 << 20;
const SESSION_WINDOW_BYTES = 1 << 24;
/** Megabytes that Node lets a session hold; its 10 are less than one window, and then it refuses streams. */
const MAX_SESSION_MEMORY_MB = 128;
/** Milliseconds that a connection without requests may take to close in good order. */
const LINGER_MS = 1_000;
const SETTINGS = { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES };
/** A connection on which nothing was heard for so long while a request waited in vain is in doubt. */
const DOUBT_MS = 1_000;
/** Of idle connections each n-th PING is sent. */
const IDLE_PINGS = 3;

export class H2Session {
  readonly #session: ClientHttp2Session;
  readonly #server: string;
  readonly #clock: Clock;
  readonly #ping: PingOptions;
  readonly #onEnd: (session: H2Session) => void;
  readonly #streams = new Set<RequestScope>();
  #usable = true;
  readonly #socket: TLSSocket;
  #failure: TransportError | undefined;
  #onRoom: (() => void) | undefined;
  /** What the socket had received when the connection came into doubt. */
  #doubtedAt: number | undefined;
  #timer: Timer | undefined;
  #lingering = false;
  #ticks = 0;

  /** `onEnd` is called once, when no request can be sent any more; those in flight may still go on. */
  constructor(socket: TLSSocket, server: string, clock: Clock, ping: PingOptions, onEnd: (session: H2Session) => void) {
    this.#socket = socket;
    this.#server = server;
    this.#clock = clock;
    this.#ping = ping;
    this.#onEnd = onEnd;
    this.#session = connect(server, {
      createConnection: () => socket,
      settings: SETTINGS,
      maxSessionMemory: MAX_SESSION_MEMORY_MB,
    });
    this.#session.once('connect', () => {
      // Node says so in a later turn, in which it may be over already.
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    });
    this.#session.on('goaway', () => this.#retire());
    this.#session.on('error', (error) => this.destroy(toTransportError(error, server, true)));
    this.#session.once('close', () => {
      this.#retire();
      this.#timer?.cancel();
    });
  }

  /**
   * Resolves when the peer has said how many streams it takes: what goes beyond them would be refused, or wait where
   * `beforeSend` is not asked again. Rejects, and ends the connection, when that does not come within `withinMs`. Called once.
   */
  begin(withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#timer = this.#clock.setTimer(withinMs, () => {
        const what =
          'timed out waiting for HTTP/2 SETTINGS on a TLS connection; the server is unresponsive or the network is down';
        this.destroy(new TransportError('connect-timeout', this.#server, what, { sent: false }));
      });
      this.#session.once('remoteSettings', () => {
        this.#timer?.cancel();
        this.#schedulePing();
        resolve();
      });
      this.#session.once('close', () => {
        const what = 'the connection was closed before HTTP/2 began';
        reject(this.#failure ?? new TransportError('connection-reset', this.#server, what, { sent: false }));
      });
    });
  }

  /** Requests under way. */
  get open(): number {
    return this.#streams.size;
  }

  /** Whether another request can be sent now without waiting for one that is under way. */
  get hasRoom(): boolean {
    const allowed = Math.min(MAX_STREAMS, this.#session.remoteSettings.maxConcurrentStreams ?? MAX_STREAMS);
    return this.#usable && this.#streams.size < allowed;
  }

  get usable(): boolean {
    return this.#usable && !this.#session.closed && !this.#session.destroyed;
  }

  /**
   * `false`: a request has just ended without an answer, and nothing at all has been heard since it was sent. The next one,
   * a Lease's second try above all, goes over another connection: a PING would find out only later. `true` again as soon as the peer is heard.
   */
  get trusted(): boolean {
    if (this.#doubtedAt !== this.#socket.bytesRead) this.#doubtedAt = undefined;
    return this.#doubtedAt === undefined;
  }

  /** Calls `tell` each time that a request has ended. */
  onRoom(tell: () => void): void {
    this.#onRoom = tell;
  }

  /** Sends the request of `scope` before it returns. Rejects with a `TransportError`, or with what the scope failed with. */
  request(scope: RequestScope, pathPrefix: string): Promise<TransportResponse> {
    const { method, path, headers, body } = scope.request;
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream;
      scope.beforeSend();
      try {
        stream = this.#session.request(
          { ...headers, ':method': method, ':path': `${pathPrefix}${path}` },
          { endStream: body === undefined },
        );
      } catch (error) {
        // Thrown for a session that is closing, but also for a header that cannot be sent.
        if (!this.usable) this.#retire();
        reject(toTransportError(error, this.#server, false));
        return;
      }
      this.#streams.add(scope);
      const sent = { at: this.#clock.monotonic(), received: this.#socket.bytesRead };
      const chunks = new EagerChunks(stream);
      let answered = false;
      const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
      scope.onFail((error) => {
        // Before the socket has taken the request, closing waits for it; destroying does not.
        cancel();
        stream.destroy();
        if (this.#socket.bytesRead === sent.received && this.#clock.monotonic() - sent.at >= DOUBT_MS) this.#doubt();
        reject(error);
      });
      stream.on('error', (error) => {
        if (!answered) reject(this.#failureOf(stream, error));
      });
      stream.once('close', () => {
        this.#streams.delete(scope);
        this.#closeWhenDone();
        this.#onRoom?.();
        if (!answered) reject(scope.failure ?? this.#failureOf(stream, undefined));
      });
      stream.once('response', (headers) => {
        answered = true;
        const source = { chunks: () => chunks, cancel };
        resolve({
          status: headers[':status'] ?? 0,
          headers: plainHeaders(headers),
          body: new ResponseBody(scope, source),
        });
      });
      if (body !== undefined) stream.end(body);
    });
  }

  /** Takes no more requests; closes when those under way are done. */
  drain(): void {
    this.#retire();
    if (!this.#session.destroyed) this.#session.close();
  }

  /** Ends the connection and, with `error`, every request on it. */
  destroy(error: TransportError): void {
    this.#failure ??= error;
    this.#retire();
    this.#timer?.cancel();
    for (const scope of this.#streams) scope.fail(error);
    this.#session.destroy();
  }

  /** Asks for a sign of life at once: a server that is only slow is in doubt for no longer than a round trip. */
  #doubt(): void {
    if (!this.usable || !this.trusted) return;
    this.#doubtedAt = this.#socket.bytesRead;
    // Who waits for a stream is not told by one that ended before.
    this.#session.ping(() => this.#onRoom?.());
  }

  #retire(): void {
    if (!this.#usable) return;
    this.#usable = false;
    this.#onEnd(this);
    this.#closeWhenDone();
  }

  /** Node waits for the peer to close its half of the socket, for ever if need be. */
  #closeWhenDone(): void {
    if (this.#usable || this.#lingering || this.#streams.size > 0) return;
    this.#lingering = true;
    this.#clock.setTimer(LINGER_MS, () => this.#socket.destroy(), { unref: true });
  }

  #failureOf(stream: ClientHttp2Stream, error: Error | undefined): TransportError {
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
      // RFC 9113 §8.7: the server says that it has not processed the request.
      const what = 'the server refused the request before it processed it';
      return new TransportError('request-refused', this.#server, what, { cause: error, sent: false });
    }
    const failure = toTransportError(
      error ?? Object.assign(new Error('closed'), { code: 'ECONNRESET' }),
      this.#server,
      true,
    );
    // Stream numbers are never used twice: after 2^30 requests a connection has none left.
    if (failure.code === 'request-refused') this.drain();
    return failure;
  }

  #schedulePing(): void {
    this.#timer = this.#clock.setTimer(this.#ping.pingIntervalMs, () => this.#tick(), { unref: true });
  }

  #tick(): void {
    if (this.#session.destroyed) return;
    this.#ticks += 1;
    if (this.#streams.size === 0 && this.#ticks % IDLE_PINGS !== 0) {
      this.#schedulePing();
      return;
    }
    this.#awaitAnswer(this.#ping.pingTimeoutMs);
    const answered = (): void => {
      this.#timer?.cancel();
      if (!this.#session.destroyed) this.#schedulePing();
    };
    // After a GOAWAY Node calls every PING off at once, though watches may go on for long. Settings are acknowledged just as well.
    if (this.#session.closed) this.#session.settings(SETTINGS, answered);
    else this.#session.ping(answered);
  }

  #awaitAnswer(withinMs: number): void {
    const due = this.#clock.monotonic() + withinMs;
    this.#timer = this.#clock.setTimer(
      withinMs,
      () => {
        // This process slept itself (SIGSTOP, a laptop's lid): the answer may be in the socket, unread.
        if (this.#clock.monotonic() - due > withinMs) {
          this.#awaitAnswer(withinMs);
          return;
        }
        const what = `no answer to a PING within ${this.#ping.pingTimeoutMs} ms; the server is frozen or the network is cut`;
        this.destroy(new TransportError('peer-unresponsive', this.#server, what, { sent: true }));
      },
      { unref: true },
    );
  }
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue;
    plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}
