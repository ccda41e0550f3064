/**
 * All connections that were made with the same certificates. When those change, a new set takes the requests that
 * come, and the old one finishes what it began: nothing in flight is dropped.
 */
import type { Clock } from '../clock.ts';
import { onAbort } from '../abort.ts';
import type { TrafficClass, TransportResponse } from '../transport.ts';
import type { H1Client, H1Options } from './h1-client.ts';
import { H2Pool } from './h2-pool.ts';
import { H2Session } from './h2-session.ts';
import type { RequestScope } from './request-scope.ts';
import { connectTls, type TlsTarget } from './tls-connect.ts';
import type { TlsMaterial } from './tls-material.ts';
import type { TransportError } from './transport-error.ts';

export interface ConnectionsOptions extends H1Options {
  readonly clock: Clock;
  /** Whether HTTP/2 may be used where the server offers it. */
  readonly http2: boolean;
}

/** For so long HTTP/1.1 is spoken once ALPN has chosen it: it may have been a server, or something in between, that is replaced. */
const H1_MS = 600_000;

export class Connections {
  readonly #target: TlsTarget;
  readonly #pathPrefix: string;
  /** `undefined`: plain http. */
  readonly material: TlsMaterial | undefined;
  readonly #options: ConnectionsOptions;
  readonly #pools: Readonly<Record<TrafficClass, H2Pool>>;
  readonly #closing = new AbortController();
  #h1: Promise<H1Client> | undefined;
  readonly #speaksH2: boolean;
  /** Monotonic; HTTP/2 is not asked for before. */
  #h1Until = Number.NEGATIVE_INFINITY;

  constructor(target: TlsTarget, pathPrefix: string, material: TlsMaterial | undefined, options: ConnectionsOptions) {
    this.#target = target;
    this.#pathPrefix = pathPrefix;
    this.material = material;
    this.#options = options;
    // undici opens the tunnel through a proxy, and speaks HTTP/1.1 in it.
    this.#speaksH2 = options.http2 && material !== undefined && options.proxyUrl === undefined;
    const pool = (): H2Pool => new H2Pool((onEnd) => this.#open(onEnd), options.clock);
    this.#pools = { default: pool(), watch: pool(), lease: pool() };
  }

  async send(scope: RequestScope): Promise<TransportResponse> {
    const { clock } = this.#options;
    if (this.#speaksH2 && clock.monotonic() >= this.#h1Until) {
      const answer = await this.#pools[scope.request.traffic ?? 'default'].send(scope, this.#pathPrefix);
      if (answer) return answer;
      this.#h1Until = clock.monotonic() + H1_MS;
    }
    this.#h1 ??= this.#makeH1();
    const h1 = await this.#h1;
    return h1.send(scope, this.#pathPrefix);
  }

  /** The request of this scope is over. */
  forget(scope: RequestScope): void {
    void this.#h1?.then((h1) => h1.forget(scope));
  }

  /** Takes no more requests; the connections close when theirs are done. */
  drain(): void {
    for (const pool of Object.values(this.#pools)) pool.drain();
    void this.#h1?.then((h1) => h1.drain());
  }

  async destroy(error: TransportError): Promise<void> {
    this.#closing.abort(error);
    for (const pool of Object.values(this.#pools)) pool.destroy(error);
    const h1 = await this.#h1;
    await h1?.destroy(error);
  }

  /** undici is a third of the program in memory: it is loaded where HTTP/1.1 is really spoken. */
  async #makeH1(): Promise<H1Client> {
    const { H1Client } = await import('./h1-client.ts');
    return new H1Client(this.#target, this.material, this.#options);
  }

  /** The connection time-out is for TLS and the beginning of HTTP/2 together. */
  async #open(onEnd: (session: H2Session) => void): Promise<H2Session | undefined> {
    const { material } = this;
    if (!material) return undefined;
    const { clock, connectTimeoutMs } = this.#options;
    const { signal } = this.#closing;
    const startedAt = clock.monotonic();
    const socket = await connectTls(this.#target, material, { clock, timeoutMs: connectTimeoutMs, signal });
    if (socket.alpnProtocol !== 'h2' || signal.aborted) {
      socket.destroy();
      signal.throwIfAborted();
      return undefined;
    }
    const session = new H2Session(socket, this.#target.origin, clock, this.#options, onEnd);
    const forget = onAbort(signal, () => session.destroy(signal.reason as TransportError));
    try {
      await session.begin(Math.max(0, startedAt + connectTimeoutMs - clock.monotonic()));
    } finally {
      forget();
    }
    return session;
  }
}
