/** One of AWS' services in one region: writes its requests, has them signed, reads its answers. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { HttpClient, type BodyFormat, type Fetch, type Proxies } from '@outrigger/provider-kit';
import { errorIn } from './aws-errors.ts';
import { bucketOf, isRepeatable, type ServiceName } from './call-limits.ts';
import { AnswerDecoder } from './decode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import type { Endpoint } from './endpoints.ts';
import { errorRules } from './error-rules.ts';
import type { ServiceApi } from './service-api.ts';
import type { RequestSigner } from './request-signer.ts';

export interface ApiClientOptions {
  readonly host: Pick<ProviderHost, 'clock' | 'redact'>;
  readonly service: ServiceName;
  readonly api: ServiceApi;
  /** Found when the first request needs it. */
  readonly endpoint: (call: CallContext) => Promise<Endpoint>;
  /** Default: requests are sent without a signature. */
  readonly signer?: RequestSigner | undefined;
  readonly userAgent: string;
  readonly fetch?: Fetch | undefined;
  readonly proxies?: Proxies | undefined;
}

/** A form that is written already; an answer stays a text until its operation's table reads it. */
const format: BodyFormat = {
  mediaType: 'application/xml',
  writes: 'application/x-www-form-urlencoded; charset=utf-8',
  write: (body) => body as string,
  read: (text) => {
    // A proxy's page, or an answer that is cut off: sent again where that does no harm.
    if (!/<\/\w*Response>\s*$/u.test(text.slice(-100))) throw new SyntaxError('it is no answer of AWS');
    return text;
  },
};

export class ApiClient implements AsyncDisposable {
  readonly #options: ApiClientOptions;
  readonly #decoder: AnswerDecoder;
  #http: HttpClient | undefined;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#decoder = new AnswerDecoder(options.api);
  }

  /** As `ServiceClient`. `headers`: beside those of each request, signed with them. */
  readonly send = async (
    call: CallContext,
    operation: string,
    input: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<object> => {
    const { api, service } = this.#options;
    const http = this.#http ?? this.#open(await this.#options.endpoint(call));
    const text = await http.request<string>(call, 'POST /', {
      name: operation,
      bucket: bucketOf(service, operation),
      idempotent: isRepeatable(service, operation),
      body: encodeRequest(api, operation, input),
      headers,
    });
    try {
      return this.#decoder.decode(operation, text);
    } catch (error) {
      throw new CloudError('unavailable', `AWS answered ${operation} with what cannot be read: ${String(error)}`, {
        cause: error,
      });
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http?.[Symbol.asyncDispose]();
  }

  #open({ signingName, signingRegion, url }: Endpoint): HttpClient {
    const { fetch, host, proxies, signer, userAgent } = this.#options;
    // Two that came at once have found the same.
    this.#http ??= new HttpClient({
      host,
      cloud: 'AWS',
      root: url,
      fetch,
      format,
      proxies,
      headers: { 'user-agent': userAgent },
      errors: errorRules,
      errorOf: (body, header) => {
        const error = errorIn(body);
        if (error) signer?.refused(error, header('date'));
        return error;
      },
      ...(signer && {
        credentials: (call, isRefused, last) => signer.ready(call, isRefused, last),
        sign: (request) => signer.sign(request, { region: signingRegion, service: signingName }),
      }),
    });
    return this.#http;
  }
}
