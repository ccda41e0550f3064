/** The client of one action, which remembers whether any of its requests changed something. */
import { CloudError, effectOf, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, ApiRequest, ListRequest, ServiceType } from '../../client/api-client.ts';

export class ChangingClient implements ApiClient {
  readonly #client: ApiClient;
  #changed = false;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  get region(): string | undefined {
    return this.#client.region;
  }

  async request<T>(call: CallContext, request: ApiRequest): Promise<T> {
    if (request.method === 'GET') return this.#client.request<T>(call, request);
    try {
      const answer = await this.#client.request<T>(call, request);
      this.#changed = true;
      return answer;
    } catch (error) {
      if (effectOf(error) === 'unknown') this.#changed = true;
      throw error;
    }
  }

  list<T>(call: CallContext, request: ListRequest): Promise<readonly T[]> {
    return this.#client.list<T>(call, request);
  }

  hasService(call: CallContext, service: ServiceType): Promise<boolean> {
    return this.#client.hasService(call, service);
  }

  maxMicroversion(call: CallContext, service: ServiceType): Promise<string | undefined> {
    return this.#client.maxMicroversion(call, service);
  }

  networkExtensions(call: CallContext): Promise<ReadonlySet<string>> {
    return this.#client.networkExtensions(call);
  }

  /** The error, with an effect that speaks of all requests: the one that failed need not be the first. */
  ofAll(error: unknown): unknown {
    if (!this.#changed || effectOf(error) === 'unknown' || !isCloudError(error)) return error;
    const { code, message, retryAfterMs } = error;
    return new CloudError(code, message, { cause: error, effect: 'unknown', retryAfterMs });
  }
}
