/** A client of a cloud's HTTP API, over the host's budget: a provider's every request goes through it. */
import { CloudError, isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { HttpTransport, type HttpTransportOptions, type ReceivedHttp, type SentHttp } from './http-transport.ts';
import { methodOf, pathOf, queryOf, type Operation, type Query } from './operation.ts';
import { PagedList, type NextPage } from './paged-list.ts';
import { refusalOf, type ApiError, type ErrorRule } from './refusal.ts';

export interface HttpClientOptions extends Omit<HttpTransportOptions, 'clock'> {
  readonly host: Pick<ProviderHost, 'clock' | 'redact'>;
  /** For messages: `Acme`. */
  readonly cloud: string;
  /** What stands before the paths: `https://api.acme.example/v2`. */
  readonly root: string;
  /** Of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Never shown, in no message and no log. Default: none. */
  readonly secrets?: readonly string[];
  /**
   * Headers with a token that is got elsewhere, through a call of its own. Asked before each request; `refused`: the cloud did not accept
   * `last`, which it was given before (`unauthenticated`), and the request is sent once more. `tokenCredentials` keeps a token for all.
   * Default: none.
   */
  readonly credentials?: (
    call: CallContext,
    refused: boolean,
    last?: Readonly<Record<string, string>>,
  ) => Promise<Readonly<Record<string, string>>>;
  /** Headers that depend on the request, as a signature does: asked each time it is sent. Default: none. */
  readonly sign?: (request: SentHttp) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** The API's own words in the body of an error, or its headers. Default: `{"error": {"code", "message"}}`, `{"error": "code"}`, `{"code", "message"}`. */
  readonly errorOf?: (body: unknown, header: ReceivedHttp['header']) => ApiError | undefined;
  /** What its errors mean. Default: what their statuses say; a 404 proves nothing then. */
  readonly errors?: readonly ErrorRule[];
  /** Another form of bodies than JSON: `xmlFormat()`. */
  readonly format?: BodyFormat;
}

/** How bodies are written and read. */
export interface BodyFormat {
  /** `application/xml`. */
  readonly mediaType: string;
  /** Of what is sent. Default: `mediaType`. */
  readonly writes?: string;
  write(body: unknown): string;
  /** Throws for a text that is none of this form. */
  read(text: string): unknown;
}

export interface HttpRequest {
  /** For the braces in the operation. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only if the thing still has this version: `If-Match`. A 412 is a `conflict`. */
  readonly ifMatch?: string | undefined;
  /** May be sent again when its answer was lost. Default: true but for POST and PATCH. */
  readonly idempotent?: boolean;
  /** What it is counted as where the operation says little, as in SOAP: `RetrievePropertiesEx`. Never with IDs in it. Default: the operation. */
  readonly name?: string;
  /** Milliseconds, to the last byte of the answer: of a request that waits. Default: the client's. */
  readonly timeoutMs?: number;
  /** Which of the provider's rate limits it counts against. Default: the provider's only one. */
  readonly bucket?: string;
}

export interface HttpAnswer<T> {
  readonly status: number;
  /** `undefined` for an empty one. */
  readonly body: T;
  /** Characters of the body. */
  readonly length: number;
  header(name: string): string | undefined;
}

export interface ListOptions extends Omit<HttpRequest, 'body' | 'ifMatch'> {
  /** The member of the answer that holds the items, or how to find them. */
  readonly items: string | ((body: unknown) => unknown);
  /** Default: there is one page. */
  readonly next?: NextPage;
  /** Why a page that was answered leaves something out. Default: it never does. */
  readonly partial?: (body: unknown) => string | undefined;
}

const json: BodyFormat = {
  mediaType: 'application/json',
  write: (body) => JSON.stringify(body),
  read: (text) => JSON.parse(text) as unknown,
};

export class HttpClient implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #transport: HttpTransport;
  readonly #format: BodyFormat;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { format = json, host, secrets = [] } = options;
    this.#format = format;
    this.#transport = new HttpTransport({ ...options, clock: host.clock });
    for (const secret of secrets) host.redact(secret);
  }

  /** The answer's body. Rejects with a `CloudError` for every status but 2xx, an `HttpError`, and where there is no answer. */
  async request<T>(call: CallContext, operation: Operation, request: HttpRequest = {}): Promise<T> {
    return (await this.send<T>(call, operation, request)).body;
  }

  /** As `request`, with status and headers. */
  async send<T>(call: CallContext, operation: Operation, request: HttpRequest = {}): Promise<HttpAnswer<T>> {
    const { credentials } = this.#options;
    const given = await credentials?.(call, false);
    try {
      return await this.#sendWith<T>(call, operation, request, given);
    } catch (error) {
      if (!credentials || !isCloudError(error, 'unauthenticated')) throw error;
      return this.#sendWith<T>(call, operation, request, await credentials(call, true, given));
    }
  }

  /** A list of one page or many. `all()` of it has all items, or rejects. */
  list<T>(call: CallContext, operation: Operation, options: ListOptions): PagedList<T> {
    const { items, next = () => undefined, partial, query = {}, ...request } = options;
    return new PagedList<T>({
      operation: `${this.#options.cloud}: ${operation}`,
      first: query,
      ask: (asked) => this.send(call, operation, { ...request, query: asked }),
      itemsOf: typeof items === 'string' ? (body) => (body as Record<string, unknown> | undefined)?.[items] : items,
      next,
      partial,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]();
  }

  #sendWith<T>(
    call: CallContext,
    operation: Operation,
    { body, bucket, headers, idempotent, ifMatch, name = operation, params, query, timeoutMs }: HttpRequest,
    credentials: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer<T>> {
    const { host, root, sign } = this.#options;
    const method = methodOf(operation);
    const unsigned: SentHttp = {
      method,
      url: `${root}${pathOf(operation, params)}${queryOf(query)}`,
      headers: {
        accept: this.#format.mediaType,
        ...(body !== undefined && { 'content-type': this.#format.writes ?? this.#format.mediaType }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        ...this.#options.headers,
        ...credentials,
        ...headers,
      },
      body: body === undefined ? undefined : this.#format.write(body),
    };
    const repeatable = idempotent ?? !['POST', 'PATCH'].includes(method);
    return call.call({ name, idempotent: repeatable, ...(bucket !== undefined && { bucket }) }, async (signal) => {
      const signature = await sign?.(unsigned);
      const sent = signature ? { ...unsigned, headers: { ...unsigned.headers, ...signature } } : unsigned;
      return this.#read<T>(name, await this.#transport.send(sent, signal, timeoutMs), host.clock.now());
    });
  }

  #read<T>(operation: string, answer: ReceivedHttp, now: number): HttpAnswer<T> {
    const { cloud, errorOf = usualErrorOf, errors = [] } = this.#options;
    const { status, text } = answer;
    const isSuccess = status >= 200 && status < 300;
    let body: unknown;
    try {
      body = text === '' ? undefined : this.#format.read(text);
    } catch {
      if (isSuccess) {
        throw new CloudError('unavailable', `${cloud} answered ${operation} with what is no ${this.#format.mediaType}`);
      }
    }
    if (!isSuccess) throw refusalOf({ cloud, errorOf, errors }, operation, answer, body, now);
    return { status, body: body as T, length: text.length, header: (name) => answer.header(name) };
  }
}

function usualErrorOf(body: unknown): ApiError | undefined {
  const { code, error, message } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const text = (one: unknown): string => (typeof one === 'string' ? one : '');
  if (typeof error === 'object' && error !== null) return usualErrorOf(error);
  if (text(error) !== '') return { code: text(error), message: text(message) };
  return text(code) === '' && text(message) === '' ? undefined : { code: text(code), message: text(message) };
}
