/**
 * HTTP/1.1 by undici: for plain http, for servers that speak no HTTP/2, and through a proxy. HTTP/1.1 has no PING, so
 * a silent watch is checked in two ways: by a small request beside it (finds a frozen server), and by a limit on
 * silence (finds a connection that was cut off without a word).
 */
import type { Clock, Timer } from '../clock.ts';
import type { TrafficClass, TransportResponse } from '../transport.ts';
import { Agent, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { raceAbort } from '../abort.ts';
import type { PingOptions } from './h2-session.ts';
import type { RequestScope } from './request-scope.ts';
import { ResponseBody } from './response-body.ts';
import { identityCheck, KEEP_ALIVE_MS, serverNameOf, type TlsTarget } from './tls-connect.ts';
import type { TlsMaterial } from './tls-material.ts';
import { toTransportError, TransportError } from './transport-error.ts';

export interface H1Options extends PingOptions {
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  /**
   * Longest silence of a watch, in milliseconds. The server sends a bookmark about once a minute, so two may be lost
   * before a watch is cut in error; a watch without bookmarks on a quiet resource is begun anew at each end of it.
   */
  readonly idleTimeoutMs: number;
  readonly proxyUrl?: string | undefined;
}

/** Connections of ordinary requests; a burst beyond waits. Watches and leases have as many as they need. */
const MAX_DEFAULT_CONNECTIONS = 64;
/** A path that every API server answers, if only with 401. */
const PROBE_PATH = '/livez';

/** The least of a request without limit that the watchman knows. */
interface Silent {
  readonly scope: RequestScope;
  lastHeard: number;
}

export class H1Client {
  readonly #target: TlsTarget;
  readonly #options: H1Options;
  readonly #dispatchers: Readonly<Record<TrafficClass, Dispatcher>>;
  /** Outlives the others when they drain: the watches that still run need the watchman. */
  readonly #probe: Dispatcher;
  readonly #unlimited = new Set<Silent>();
  #timer: Timer | undefined;
  #draining = false;

  constructor(target: TlsTarget, material: TlsMaterial | undefined, options: H1Options) {
    this.#target = target;
    this.#options = options;
    const make = (connections: number | null): Dispatcher => makeDispatcher(target, material, options, connections);
    this.#dispatchers = { default: make(MAX_DEFAULT_CONNECTIONS), watch: make(null), lease: make(null) };
    this.#probe = make(1);
  }

  async send(scope: RequestScope, pathPrefix: string): Promise<TransportResponse> {
    const { method, path, headers, body, traffic = 'default' } = scope.request;
    const watched: Silent = { scope, lastHeard: this.#options.clock.monotonic() };
    if (scope.unlimited) this.#watch(watched);
    let answer: Dispatcher.ResponseData | undefined;
    try {
      const asked = askingBefore(this.#dispatchers[traffic], scope).request({
        origin: this.#target.origin,
        path: `${pathPrefix}${path}`,
        method,
        // undici takes lists, and does not write to them.
        ...(headers && { headers: headers as Record<string, string | string[]> }),
        ...(body !== undefined && { body }),
        signal: scope.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      // undici notices an abort of a request that waits for a connection only when it gets one.
      answer = await raceAbort(asked, scope.signal);
    } catch (error) {
      throw scope.failure ?? toTransportError(error, this.#target.origin, true);
    }
    const stream = answer.body;
    stream.on('error', () => undefined);
    scope.onFail((error) => stream.destroy(error));
    return {
      status: answer.statusCode,
      headers: plainHeaders(answer.headers),
      body: new ResponseBody(scope, {
        chunks: () => stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>,
        cancel: () => stream.destroy(),
        onChunk: () => {
          watched.lastHeard = this.#options.clock.monotonic();
        },
      }),
    };
  }

  /** The request of this scope is over: nobody waits for its bytes any more. */
  forget(scope: RequestScope): void {
    for (const entry of this.#unlimited) if (entry.scope === scope) this.#unlimited.delete(entry);
    if (this.#unlimited.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#draining) this.#probe.close().catch(() => undefined);
  }

  /** Takes no more requests; the connections close when theirs are done. */
  drain(): void {
    this.#draining = true;
    if (this.#unlimited.size === 0) this.#probe.close().catch(() => undefined);
    for (const dispatcher of Object.values(this.#dispatchers)) dispatcher.close().catch(() => undefined);
  }

  async destroy(reason: TransportError): Promise<void> {
    this.#timer?.cancel();
    const all = [...Object.values(this.#dispatchers), this.#probe];
    await Promise.all(all.map((dispatcher) => dispatcher.destroy(reason)));
  }

  #watch(entry: Silent): void {
    this.#unlimited.add(entry);
    this.#timer ??= this.#schedule();
  }

  #schedule(): Timer {
    const check = (): void => {
      void this.#check().finally(() => {
        this.#timer = this.#unlimited.size > 0 ? this.#schedule() : undefined;
      });
    };
    return this.#options.clock.setTimer(this.#options.pingIntervalMs, check, { unref: true });
  }

  async #check(): Promise<void> {
    const { clock, pingIntervalMs, pingTimeoutMs, idleTimeoutMs } = this.#options;
    const now = clock.monotonic();
    for (const entry of this.#unlimited) {
      if (now - entry.lastHeard >= idleTimeoutMs) {
        this.#cut(entry, `nothing was heard for ${idleTimeoutMs} ms, not even a bookmark; the connection is dead`);
      }
    }
    if (![...this.#unlimited].some((entry) => now - entry.lastHeard >= pingIntervalMs)) return;
    if (await this.#isAlive()) return;
    for (const entry of this.#unlimited) {
      if (entry.lastHeard <= now) {
        this.#cut(
          entry,
          `no answer to ${PROBE_PATH} within ${pingTimeoutMs} ms; the server is frozen or the network is cut`,
        );
      }
    }
  }

  #cut(entry: Silent, what: string): void {
    entry.scope.fail(new TransportError('peer-unresponsive', this.#target.origin, what, { sent: true }));
  }

  async #isAlive(): Promise<boolean> {
    const { clock, pingTimeoutMs } = this.#options;
    const abort = new AbortController();
    const timer = clock.setTimer(pingTimeoutMs, () => abort.abort(), { unref: true });
    try {
      const answer = await this.#probe.request({
        origin: this.#target.origin,
        path: PROBE_PATH,
        method: 'GET',
        signal: abort.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      // Any status is a sign of life.
      await answer.body.dump();
      return true;
    } catch {
      return false;
    } finally {
      timer.cancel();
    }
  }
}

function makeDispatcher(
  target: TlsTarget,
  material: TlsMaterial | undefined,
  options: H1Options,
  connections: number | null,
): Dispatcher {
  const serverName = serverNameOf(target);
  const tls = material && {
    secureContext: material.context,
    rejectUnauthorized: !target.insecureSkipVerify,
    checkServerIdentity: identityCheck(target),
    ...(serverName !== undefined && { servername: serverName }),
  };
  const connect = {
    ...tls,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    timeout: options.connectTimeoutMs,
    allowH2: false,
  };
  const pool = { allowH2: false, connections, headersTimeout: 0, bodyTimeout: 0 };
  if (options.proxyUrl === undefined) return new Agent({ ...pool, connect });
  return new ProxyAgent({
    ...pool,
    uri: options.proxyUrl,
    proxyTunnel: true,
    requestTls: connect,
    connectTimeout: options.connectTimeoutMs,
    // Of the answer to CONNECT, which undici waits for 300 s, on behalf of requests that may be gone for long.
    clientFactory: (origin, toProxy) => new Pool(origin, { ...toProxy, headersTimeout: options.connectTimeoutMs }),
  });
}

/** undici begins a request when a connection is free for it, and says so just before it writes. */
function askingBefore(dispatcher: Dispatcher, scope: RequestScope): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const begin = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      begin?.(controller, context);
      scope.beforeSend();
    };
    return dispatch(options, handler);
  });
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}
