/** An `ApiClient` that hands everything on to another: what differs is overridden. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, ApiRequest, ListRequest, ServiceType } from './api-client.ts';

export class ForwardingClient implements ApiClient {
  protected client: ApiClient;

  constructor(client: ApiClient) {
    this.client = client;
  }

  get region(): string | undefined {
    return this.client.region;
  }

  request<T>(call: CallContext, request: ApiRequest): Promise<T> {
    return this.client.request<T>(call, request);
  }

  list<T>(call: CallContext, request: ListRequest): Promise<readonly T[]> {
    return this.client.list<T>(call, request);
  }

  hasService(call: CallContext, service: ServiceType): Promise<boolean> {
    return this.client.hasService(call, service);
  }

  maxMicroversion(call: CallContext, service: ServiceType): Promise<string | undefined> {
    return this.client.maxMicroversion(call, service);
  }

  networkExtensions(call: CallContext): Promise<ReadonlySet<string>> {
    return this.client.networkExtensions(call);
  }
}
