/** The `ApiClient` over HTTP: tokens, end points, versions, pages, errors. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import { HttpTransport, ListBound, type Fetch, type ReceivedHttp, type SharedToken } from '@outrigger/provider-kit';
import type { Home } from '../home.ts';
import type { ApiClient, ApiRequest, ListRequest, Query, ServiceType } from './api-client.ts';
import { findEndpoint, missingEndpoint, regionOf, SERVICE_NAMES, type CatalogueEntry } from './catalogue.ts';
import type { Connection } from './connection.ts';
import type { Token } from './keystone.ts';
import { compareMicroversions } from './microversion.ts';
import { readPage, type Page } from './next-page.ts';
import { refusalOf } from './refusal.ts';
import { microversionHeader, readVersions, serviceUrls, type ServiceVersions } from './service-root.ts';
import { SharedAnswer } from './shared-answer.ts';
import { tokenSource, type TokenHost } from './token-source.ts';

export interface OpenStackClientOptions {
  readonly connection: Connection;
  readonly host: TokenHost;
  /** Of every request. */
  readonly userAgent: string;
  /** Sends in place of the client's own connections. */
  readonly fetch?: Fetch | undefined;
  /** What its tokens must lead to. Default: anywhere. */
  readonly home?: Home | undefined;
  /** Whoever calls `connect` tells of its failure: no line in the log. Default: false. */
  readonly connectTells?: boolean | undefined;
}

/** A request, ready but for the token and the root of its service. */
interface Prepared {
  readonly service: ServiceType;
  readonly operation: string;
  readonly method: ApiRequest['method'];
  /** With its query, behind the root of the service; `undefined`: the document of versions. */
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly idempotent: boolean;
}

interface Answered {
  readonly body: unknown;
  /** Characters of it. */
  readonly length: number;
}

export class OpenStackClient implements ApiClient, AsyncDisposable {
  readonly region: string | undefined;
  readonly #options: OpenStackClientOptions;
  readonly #transport: HttpTransport;
  readonly #tokens: SharedToken<Token>;
  readonly #versions = new Map<ServiceType, SharedAnswer<ServiceVersions>>();
  readonly #extensions: SharedAnswer<ReadonlySet<string>>;

  constructor(options: OpenStackClientOptions) {
    const { connection, connectTells, home, host, userAgent, fetch } = options;
    this.#options = options;
    this.region = connection.region;
    this.#transport = new HttpTransport({ ...connection, clock: host.clock, fetch });
    this.#tokens = tokenSource(host, {
      url: connection.keystone,
      auth: connection.auth,
      transport: this.#transport,
      headers: { accept: 'application/json', 'user-agent': userAgent },
      clock: host.clock,
      admit: ({ catalogue, projectId }) =>
        home?.admitToken({ projectId, region: regionOf(catalogue, 'compute', connection) }),
      firstFailureIsTold: connectTells,
    });
    this.#extensions = new SharedAnswer(() => this.#askExtensions());
  }

  /** Gets a token, if there is none, and looks for nova in its catalogue. Rejects as every request to nova would. */
  async connect(call: CallContext): Promise<void> {
    const { catalogue } = await this.#tokens.get(call);
    this.#endpoint(catalogue, 'compute');
  }

  async request<T>(call: CallContext, request: ApiRequest): Promise<T> {
    return (await this.#send(call, await this.#prepare(call, request))).body as T;
  }

  async list<T>(call: CallContext, { collection, ...request }: ListRequest): Promise<readonly T[]> {
    const items: T[] = [];
    using bound = new ListBound(`${SERVICE_NAMES[request.service]}: ${request.operation}`);
    let query: Query | undefined = request.query ?? [];
    while (query) {
      const { body, length } = await this.#send(call, await this.#prepare(call, { ...request, query, method: 'GET' }));
      const page: Page<T> = readPage(body, collection, request.operation, request.query);
      for (const item of page.items) items.push(item);
      query = page.next;
      if (query) bound.next(JSON.stringify(query), page.items.length, length);
    }
    return items;
  }

  async hasService(call: CallContext, service: ServiceType): Promise<boolean> {
    const { catalogue } = await this.#tokens.get(call);
    return findEndpoint(catalogue, service, this.#options.connection) !== undefined;
  }

  async maxMicroversion(call: CallContext, service: ServiceType): Promise<string | undefined> {
    return (await this.#versionsOf(call, service)).max;
  }

  networkExtensions(call: CallContext): Promise<ReadonlySet<string>> {
    return this.#extensions.get(call.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]();
  }

  async #prepare(call: CallContext, request: ApiRequest): Promise<Prepared> {
    const { service, operation, method, path, query, body, microversion, revision } = request;
    if (microversion !== undefined) await this.#checkMicroversion(call, request, microversion);
    const search = new URLSearchParams(query?.map(([name, value]): [string, string] => [name, value])).toString();
    return {
      service,
      operation,
      method,
      path: search === '' ? path : `${path}?${search}`,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(microversion !== undefined && microversionHeader(service, microversion)),
        ...(revision !== undefined && { 'if-match': `revision_number=${revision}` }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      idempotent: request.idempotent ?? method !== 'POST',
    };
  }

  async #checkMicroversion(call: CallContext, { service, operation }: ApiRequest, needed: string): Promise<void> {
    const max = await this.maxMicroversion(call, service);
    if (max !== undefined && compareMicroversions(max, needed) >= 0) return;
    throw new CloudError(
      'unsupported',
      `${SERVICE_NAMES[service]} is too old for ${operation}: it speaks ${max === undefined ? 'no microversion' : `up to ${max}`}, and ${needed} is needed`,
    );
  }

  /** With a token that is renewed once where the service does not accept it. */
  async #send(call: CallContext, prepared: Prepared): Promise<Answered> {
    const token = await this.#tokens.get(call);
    try {
      return await this.#sendWith(call, prepared, token);
    } catch (error) {
      if (!isCloudError(error, 'unauthenticated')) throw error;
      const renewed = await this.#tokens.get(call, (current) => current === token);
      return this.#sendWith(call, prepared, renewed);
    }
  }

  async #sendWith(call: CallContext, prepared: Prepared, { value, catalogue }: Token): Promise<Answered> {
    const { service, operation, method, path, headers, body, idempotent } = prepared;
    const { host, userAgent } = this.#options;
    const urls = serviceUrls(service, this.#endpoint(catalogue, service));
    const url =
      path === undefined ? urls.versions : `${urls.root ?? (await this.#versionsOf(call, service)).root}${path}`;
    // A bucket for each service: octavia that is slow to take requests must not hold up nova.
    return call.call({ name: operation, idempotent, bucket: service }, async (signal) => {
      const answer = await this.#transport.send(
        {
          method,
          url,
          headers: { ...headers, accept: 'application/json', 'user-agent': userAgent, 'x-auth-token': value },
          body,
        },
        signal,
      );
      return { body: bodyOf(prepared, answer, host.clock.now(), call), length: answer.text.length };
    });
  }

  #versionsOf(call: CallContext, service: ServiceType): Promise<ServiceVersions> {
    let versions = this.#versions.get(service);
    if (!versions) {
      versions = new SharedAnswer(() => this.#askVersions(service));
      this.#versions.set(service, versions);
    }
    return versions.get(call.signal);
  }

  async #askVersions(service: ServiceType): Promise<ServiceVersions> {
    const call = this.#options.host.callContext({ priority: 'critical' });
    const { catalogue } = await this.#tokens.get(call);
    const urls = serviceUrls(service, this.#endpoint(catalogue, service));
    const { body } = await this.#send(call, {
      service,
      operation: 'GET / (versions)',
      method: 'GET',
      path: undefined,
      headers: {},
      idempotent: true,
    });
    return readVersions(service, urls, body);
  }

  #endpoint(catalogue: readonly CatalogueEntry[], service: ServiceType): string {
    const { connection } = this.#options;
    const endpoint = findEndpoint(catalogue, service, connection);
    if (endpoint === undefined) throw missingEndpoint(catalogue, service, connection);
    return endpoint;
  }

  async #askExtensions(): Promise<ReadonlySet<string>> {
    const extensions = await this.list<{ readonly alias?: string }>(
      this.#options.host.callContext({ priority: 'critical' }),
      { service: 'network', operation: 'GET /extensions', path: '/v2.0/extensions', collection: 'extensions' },
    );
    return new Set(extensions.flatMap(({ alias }) => (alias === undefined ? [] : [alias])));
  }
}

function bodyOf(
  { service, operation, path = '/' }: Prepared,
  answer: ReceivedHttp,
  now: number,
  call: CallContext,
): unknown {
  // 300 is what a document of versions may be answered with.
  if (answer.status >= 301) {
    const request = answer.header('x-openstack-request-id') ?? answer.header('x-compute-request-id');
    // For who asks the cloud's operator. Not in the message: it would make each Event another one.
    call.logger.verbose(4, 'OpenStack refused a request', { service, operation, status: answer.status, request });
    throw refusalOf({ service, operation, path }, answer, now);
  }
  if (answer.text.trim() === '') return undefined;
  try {
    return JSON.parse(answer.text);
  } catch {
    throw new CloudError(
      'unavailable',
      `${SERVICE_NAMES[service]} answered ${operation} with something that is not JSON`,
    );
  }
}
