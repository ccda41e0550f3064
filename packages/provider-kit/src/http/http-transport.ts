/** One HTTP request and its whole answer: connections, proxies, certificates, time-outs. Knows nothing of what is said. */
import { CloudError, type Clock } from '@outrigger/cloud-provider';
import type { TLSSocket } from 'node:tls';
import { Agent, buildConnector, EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** As it goes over the wire. */
export interface SentHttp {
  readonly method: HttpMethod;
  /** Absolute, with its query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface ReceivedHttp {
  readonly status: number;
  header(name: string): string | undefined;
  readonly text: string;
}

/** What is needed of `fetch`. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string | null;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

export interface TlsSettings {
  /** PEM; in place of the system's authorities. */
  readonly ca?: string;
  /** PEM of a client certificate; with `key`. */
  readonly cert?: string;
  readonly key?: string;
  /** True: each authority is trusted by itself, an intermediate one without a root beside it. Default: false. */
  readonly allowPartialTrustChain?: boolean;
  /** False: the server's certificate is not checked. Default: true. */
  readonly rejectUnauthorized?: boolean;
  /**
   * SHA-1 or SHA-256 of the server's certificate in hexadecimal, with or without colons: that certificate alone is accepted, whoever issued
   * it. It is compared before anything is sent over the connection. Default: authorities decide.
   */
  readonly thumbprint?: string;
}

/** URLs of proxies; empty: none. */
export interface Proxies {
  /** For `http:` URLs. */
  readonly http: string;
  /** For `https:` URLs. */
  readonly https: string;
  /** Hosts that are asked directly, as in `NO_PROXY`. */
  readonly except: string;
}

export interface HttpTransportOptions {
  readonly clock: Clock;
  /** Default: the system's authorities. */
  readonly tls?: TlsSettings | undefined;
  /** Default: none. `proxiesOf(process.env)` takes those of the environment. */
  readonly proxies?: Proxies | undefined;
  /** Milliseconds, to the last byte of the answer. Default: 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Sends in place of the connections of this transport, with settings of its own. */
  readonly fetch?: Fetch | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Lists come in pages. What is longer than this would be much of the memory that there is, once more as text and again as objects. */
const MOST_MIB = 64;
/** undici's. */
const TOO_LONG = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
/** One for all requests: making one, with the stack of its place, costs as much as much else of a request. */
const ANSWERED = new DOMException('the request has ended', 'AbortError');

/** Of each connection, however it is made. The time-out of a request is the clock's. */
const LIMITS = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: MOST_MIB * 2 ** 20 };

/** Sends over connections of its own, which are kept and used again until it is disposed of. */
export class HttpTransport implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #agents: readonly Dispatcher[];
  readonly #fetch: Fetch;

  constructor(options: HttpTransportOptions) {
    const { clock, fetch, proxies, requestTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#clock = clock;
    this.#timeoutMs = requestTimeoutMs;
    const [plain, secure] = [proxies?.http, proxies?.https].map((proxy) => agentOf(options, proxy ?? ''));
    this.#agents = plain && secure ? [plain, secure] : [];
    this.#fetch =
      fetch ?? ((url, init) => sendThrough((url.startsWith('https:') ? secure : plain) as Dispatcher, url, init));
  }

  /** Rejects with `unavailable` or `timeout` when there is no answer, and with the signal's reason. */
  async send(
    { method, url, headers, body }: SentHttp,
    signal: AbortSignal,
    timeoutMs: number = this.#timeoutMs,
  ): Promise<ReceivedHttp> {
    const done = new AbortController();
    // Not `AbortSignal.any`: what it leaves for each request goes only when the garbage is collected.
    const cut = new AbortController();
    let isLate = false;
    const leave = (): void => cut.abort(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    this.#clock.sleep(timeoutMs, done.signal).then(
      () => {
        isLate = true;
        cut.abort();
      },
      () => {},
    );
    try {
      // A redirect is not followed: credentials must go nowhere but to where they were meant for.
      const answer = await this.#fetch(url, {
        method,
        headers: { ...headers },
        body: body ?? null,
        redirect: 'manual',
        signal: cut.signal,
      });
      const text = await answer.text();
      return { status: answer.status, header: (name) => answer.headers.get(name) ?? undefined, text };
    } catch (error) {
      signal.throwIfAborted();
      const { origin } = new URL(url);
      if (isLate) {
        throw new CloudError('timeout', `${origin} did not answer within ${timeoutMs / 1000} s`);
      }
      if ((error as NodeJS.ErrnoException | undefined)?.code === TOO_LONG) {
        throw new CloudError('unavailable', `${origin} answered with more than ${MOST_MIB} MiB`, { cause: error });
      }
      throw new CloudError('unavailable', `${origin} cannot be reached: ${reasonOf(error)}`, { cause: error });
    } finally {
      signal.removeEventListener('abort', leave);
      done.abort(ANSWERED);
    }
  }

  /** Requests that are under way end first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.close()));
  }
}

/** `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, or in lower case. The machine itself is never asked through a proxy. */
export function proxiesOf(env: Readonly<Record<string, string | undefined>>): Proxies {
  const of = (name: string): string => env[name.toUpperCase()] ?? env[name] ?? '';
  return { http: of('http_proxy'), https: of('https_proxy'), except: `${of('no_proxy')},localhost,127.0.0.1,[::1]` };
}

function agentOf(
  { proxies, requestTimeoutMs = DEFAULT_TIMEOUT_MS, tls = {} }: HttpTransportOptions,
  proxy: string,
): Dispatcher {
  const { thumbprint, ...rest } = tls;
  const settled = thumbprint === undefined ? rest : { ...rest, rejectUnauthorized: false, maxCachedSessions: 0 };
  const settings: Agent.Options = {
    connect: { ...settled, timeout: requestTimeoutMs },
    // What goes to a proxy without a tunnel gets none of the agent's settings.
    factory: (origin, options: object) =>
      thumbprint === undefined
        ? new Pool(origin, { ...options, ...LIMITS })
        : pinnedPool(thumbprint, origin, { ...options, ...LIMITS }),
  };
  if (proxy === '') return new Agent(settings);
  return new EnvHttpProxyAgent({
    ...settings,
    requestTls: settled,
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy: proxies?.except ?? '',
  });
}

/** Connections that are given up, with nothing sent, unless the server shows the certificate with this thumbprint. */
function pinnedPool(thumbprint: string, origin: string | URL, options: object): Dispatcher {
  const { connect = {} } = options as { readonly connect?: buildConnector.connector | buildConnector.BuildOptions };
  const open = typeof connect === 'function' ? connect : buildConnector(connect);
  const wanted = thumbprint.replaceAll(':', '').toUpperCase();
  return new Pool(origin, {
    ...options,
    connect: (target, callback) =>
      open(target, (...opened) => {
        const [error, socket] = opened;
        if (error || target.protocol !== 'https:') return callback(...opened);
        const shown = (socket as TLSSocket).getPeerX509Certificate();
        const prints = [shown?.fingerprint256, shown?.fingerprint].map((one) => one?.replaceAll(':', ''));
        if (prints.includes(wanted)) return callback(...opened);
        socket.destroy();
        return callback(new Error(`its certificate has the thumbprint ${shown?.fingerprint ?? 'none'}`), null);
      }),
  });
}

/** `fetch` without what surrounds it: a bundle has of undici what sends, and no more. */
async function sendThrough(
  agent: Dispatcher,
  url: string,
  { method, headers, body, signal }: Parameters<Fetch>[1],
): ReturnType<Fetch> {
  const { origin, pathname, search } = new URL(url);
  const answer = await agent.request({
    origin,
    path: `${pathname}${search}`,
    method,
    headers,
    body,
    signal,
  });
  const get = (name: string): string | null => {
    const value = answer.headers[name];
    return (Array.isArray(value) ? value.join(', ') : value) ?? null;
  };
  return { status: answer.statusCode, headers: { get }, text: () => answer.body.text() };
}

/** `ECONNREFUSED`, `certificate has expired`: what a person can look up. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown error';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || error.message.includes(code)) return error.message || error.name;
  return `${error.message} (${code})`;
}
