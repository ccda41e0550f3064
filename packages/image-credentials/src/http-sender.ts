/**
 * Requests to token services. By Node's own client: that of the kit is undici, which alone is 500 kB of the executable
 * (docs/adr/0047-image-credentials.md).
 */
import { request as requestPlain, Agent as PlainAgent, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { asError, errorCodeOfStatus, type Clock } from '@outrigger/cloud-provider';
import { Failure, type FailureCode } from './failure.ts';
import { parseObject } from './protocol.ts';

export interface TokenRequest {
  /** For messages: `STS`. */
  readonly service: string;
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The machine's own metadata service: never through a proxy, and its answer is near. */
  readonly isMetadata?: true;
}

export interface HttpSenderOptions {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const LONGEST_ANSWER = 1 << 20;
const ATTEMPTS = 3;
const ATTEMPT_MS = 8_000;
const METADATA_ATTEMPT_MS = 2_000;
const FIRST_WAIT_MS = 250;
/** Not those of `http:`: what is asked without TLS is near, and a proxy would read the token. */
const PROXY_NAMES = ['HTTPS_PROXY', 'https_proxy'] as const;
const NO_PROXY_NAMES = ['NO_PROXY', 'no_proxy'] as const;

export class HttpSender {
  readonly #options: HttpSenderOptions;

  constructor(options: HttpSenderOptions) {
    this.#options = options;
  }

  /** The answer's text where its status is 200. Rejects with a `Failure` that has nothing of a body but an error code of it. */
  async text(request: TokenRequest): Promise<string> {
    const { status, text } = await this.#withRetries(request);
    if (status === 200) return text;
    const said = errorCodeIn(text);
    const remedy = request.isMetadata && status === 403 ? METADATA_REMEDY : '';
    throw new Failure(
      codeOf(status, said),
      `${request.service} at ${originOf(request.url)} answered ${status}${said && ` (${said})`}${remedy}`,
    );
  }

  /** As `text`, of an answer that is a JSON object. */
  async object(request: TokenRequest): Promise<Readonly<Record<string, unknown>>> {
    const found = parseObject(await this.text(request));
    if (!found)
      throw new Failure('bad-answer', `${request.service} at ${originOf(request.url)} answered with no JSON object`);
    return found;
  }

  /** A form, as OAuth asks for. */
  form(
    service: string,
    url: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    return this.object({ service, method: 'POST', url, headers, body: new URLSearchParams(fields).toString() });
  }

  async #withRetries(request: TokenRequest): Promise<Answer> {
    const { clock, signal } = this.#options;
    requireConfidential(request);
    const agent = agentOf(request, this.#options.env);
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#once(request, agent);
        if (attempt === ATTEMPTS || !passesByItself(answer)) return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (attempt === ATTEMPTS || (error instanceof Failure && error.code === 'bad-answer')) throw error;
      }
      await clock.sleep(FIRST_WAIT_MS * 2 ** (attempt - 1), signal);
    }
  }

  async #once(request: TokenRequest, agent: PlainAgent): Promise<Answer> {
    const { clock, signal } = this.#options;
    const limit = request.isMetadata ? METADATA_ATTEMPT_MS : ATTEMPT_MS;
    const [done, late] = [new AbortController(), new AbortController()];
    clock.sleep(limit, done.signal).then(
      () => late.abort(),
      () => {},
    );
    try {
      return await this.#send(request, agent, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure) throw error;
      const where = `${request.service} at ${originOf(request.url)}`;
      if (late.signal.aborted) throw new Failure('timeout', `${where} did not answer within ${limit / 1_000} s`);
      throw new Failure('unavailable', `${where} cannot be reached: ${reasonOf(error)}`, { cause: error });
    } finally {
      done.abort();
    }
  }

  async #send(
    { body, headers, method = 'GET', service, url }: TokenRequest,
    agent: PlainAgent,
    signal: AbortSignal,
  ): Promise<Answer> {
    const options: ClientRequestArgs = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
      signal,
      agent,
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      (isSecure(url) ? requestSecure : requestPlain)(url, options, resolve).on('error', reject).end(body);
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > LONGEST_ANSWER)
        throw new Failure('bad-answer', `${service} at ${originOf(url)} answered with more than 1 MiB`);
      chunks.push(chunk);
    }
    // A redirect is not followed: a token goes nowhere but to where it was meant for.
    return { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
  }
}

/** Throws `configuration`, without the URL of the proxy: there may be a password in it. */
function agentOf({ isMetadata, url }: TokenRequest, env: HttpSenderOptions['env']): PlainAgent {
  // A kept connection would keep the process.
  const keepAlive = false;
  if (!isSecure(url)) return new PlainAgent({ keepAlive });
  if (isMetadata) return new SecureAgent({ keepAlive });
  const proxies = PROXY_NAMES.flatMap((name) => (env[name] ? [[name, proxyUrl(name, env[name])]] : []));
  const without = NO_PROXY_NAMES.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return new SecureAgent({ keepAlive, proxyEnv: Object.fromEntries([...proxies, ...without]) as NodeJS.ProcessEnv });
}

/** `proxy.example.com:3128` is a URL to the kubelet, and would be nothing to Node. */
function proxyUrl(name: string, value: string): string {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new Failure('configuration', `the environment's ${name} is no http:// or https:// URL of a proxy`);
}

function isSecure(url: string): boolean {
  return new URL(url).protocol === 'https:';
}

/** Link-local addresses and the names of metadata services; the machine itself, for proxies of identities and for tests. */
const NEAR =
  /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|169\.254\.\d+\.\d+|\[fd00:ec2::254\]|\[fe80:[0-9a-f:]+\]|metadata\.google\.internal\.?)$/u;

/** A token that goes over the network without TLS is anybody's. */
function requireConfidential({ service, url }: TokenRequest): void {
  const { hostname, protocol } = new URL(url);
  if (protocol === 'https:' || NEAR.test(hostname)) return;
  throw new Failure(
    'configuration',
    `the URL of ${service} is ${originOf(url)}: it must be https://, as tokens go there`,
  );
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** Where it is turned off, EC2 says so with a 403; Google and Azure say it to what came through a proxy. A permission to pull would not help. */
const METADATA_REMEDY =
  ': turn its metadata on for this machine, and let the kubelet reach it with no proxy or firewall between';

/** ECR and OAuth say with a 400 what others say with a 401 or a 403. */
const REFUSED_IDENTITY =
  /^(?:invalid_(?:client|grant|token)|ExpiredToken|InvalidIdentityToken|UnrecognizedClient|InvalidSignature|IDPRejectedClaim)/u;

function codeOf(status: number, said: string): FailureCode {
  if (REFUSED_IDENTITY.test(said)) return 'unauthenticated';
  if (said.startsWith('AccessDenied')) return 'forbidden';
  if (said.startsWith('Throttling')) return 'throttled';
  const code = errorCodeOfStatus(status);
  switch (code) {
    case 'unauthenticated':
    case 'forbidden':
    case 'throttled':
    case 'timeout':
    case 'unavailable':
      return code;
    default:
      return 'refused';
  }
}

/** AWS throttles with a 400 that says so. */
function passesByItself({ status, text }: Answer): boolean {
  return status >= 500 || (status !== 200 && codeOf(status, errorCodeIn(text)) === 'throttled');
}

const CODE = /^[A-Za-z][\w.#:/-]{1,80}$/u;

/** What a person can look up: the code that OAuth, AWS and registries put into the body. All else of it may quote what was sent. */
function errorCodeIn(text: string): string {
  const found = parseObject(text);
  const [first] = Array.isArray(found?.['errors']) ? (found['errors'] as unknown[]) : [];
  const listed = typeof first === 'object' && first !== null ? (first as Record<string, unknown>)['code'] : undefined;
  const inXml = /<Code>(?<code>[\w.]{1,80})<\/Code>/u.exec(text)?.groups?.['code'];
  const nested =
    typeof found?.['error'] === 'object' && found['error'] !== null
      ? (found['error'] as Record<string, unknown>)['status']
      : undefined;
  const candidates = [found?.['error'], nested, found?.['__type'], found?.['code'], listed, inXml];
  const code = candidates.find((one): one is string => typeof one === 'string' && CODE.test(one)) ?? '';
  const description = found?.['error_description'];
  const entra = typeof description === 'string' ? (/\bAADSTS\d{1,10}\b/u.exec(description)?.[0] ?? '') : '';
  return [code.replace(/^.*#/u, ''), entra].filter((one) => one !== '').join(', ');
}

/** `ECONNREFUSED`, `CERT_HAS_EXPIRED`: what a person can look up. */
function reasonOf(thrown: unknown): string {
  const error =
    thrown instanceof AggregateError && thrown.errors.length > 0 ? asError(thrown.errors[0]) : asError(thrown);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code)
    ? error.message || error.name
    : `${error.message} (${code})`;
}
