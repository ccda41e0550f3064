/** One HTTP request and its whole answer. Knows nothing of OpenStack. */
import { CloudError, type Clock } from '@outrigger/cloud-provider';
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import type { HttpMethod } from './api-client.ts';
import type { Proxies, TlsSettings } from './connection.ts';

export interface HttpRequest {
  readonly method: HttpMethod;
  /** Absolute. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string | undefined;
}

export interface HttpAnswer {
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

export interface HttpTransportOptions {
  readonly tls: TlsSettings;
  readonly proxies: Proxies;
  /** Milliseconds, to the last byte of the answer. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** Sends in place of the connections of this transport, with settings of its own. */
  readonly fetch?: Fetch | undefined;
}

/** Connections are kept and used again until it is disposed of. */
export class HttpTransport implements AsyncDisposable {
  readonly #options: HttpTransportOptions;
  readonly #agents: readonly Dispatcher[];
  readonly #fetch: Fetch;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    const { proxies } = options;
    const plain = createAgent(options, proxies.http);
    const secure = createAgent(options, proxies.https);
    this.#agents = [plain, secure];
    this.#fetch = options.fetch ?? ((url, init) => sendThrough(url.startsWith('https:') ? secure : plain, url, init));
  }

  /** Rejects with `unavailable` or `timeout` when there is no answer, and with the signal's reason. */
  async send({ method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { clock, requestTimeoutMs } = this.#options;
    const done = new AbortController();
    const late = new AbortController();
    clock.sleep(requestTimeoutMs, done.signal).then(
      () => late.abort(),
      () => {},
    );
    try {
      // A redirect is not followed: the token must go nowhere but to what the catalogue names.
      const answer = await this.#fetch(url, {
        method,
        headers: { ...headers },
        body: body ?? null,
        redirect: 'manual',
        signal: AbortSignal.any([signal, late.signal]),
      });
      const text = await answer.text();
      return { status: answer.status, header: (name) => answer.headers.get(name) ?? undefined, text };
    } catch (error) {
      signal.throwIfAborted();
      const { origin } = new URL(url);
      if (late.signal.aborted) {
        throw new CloudError('timeout', `${origin} did not answer within ${requestTimeoutMs / 1000} s`);
      }
      throw new CloudError('unavailable', `${origin} cannot be reached: ${reasonOf(error)}`, { cause: error });
    } finally {
      done.abort();
    }
  }

  /** Requests that are under way end first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.close()));
  }
}

function createAgent({ tls, proxies, requestTimeoutMs }: HttpTransportOptions, proxy: string): Dispatcher {
  const settings: Agent.Options = {
    connect: { ...tls, timeout: requestTimeoutMs },
    // The time-out of a request is the clock's, above.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (proxy === '') return new Agent(settings);
  return new EnvHttpProxyAgent({
    ...settings,
    requestTls: tls,
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy: proxies.except,
  });
}

/** `fetch` without what surrounds it: the program's bundle has of undici what sends, and no more. */
async function sendThrough(
  agent: Dispatcher,
  url: string,
  { method, headers, body, signal }: Parameters<Fetch>[1],
): ReturnType<Fetch> {
  const { origin, pathname, search } = new URL(url);
  const answer = await agent.request({ origin, path: `${pathname}${search}`, method, headers, body, signal });
  const get = (name: string): string | null => {
    const value = answer.headers[name];
    return (Array.isArray(value) ? value[0] : value) ?? null;
  };
  return { status: answer.statusCode, headers: { get }, text: () => answer.body.text() };
}

/** `ECONNREFUSED`, `certificate has expired`: what a person can look up. `fetch` hides it in its cause. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown error';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || error.message.includes(code)) return error.message || error.name;
  return `${error.message} (${code})`;
}
