/** For tests: an `ApiClient` over servers and ports in memory, whose answers a test may change or withhold. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, ApiRequest, ListRequest } from '../client/api-client.ts';
import type { Port } from './server-ports.ts';
import type { Server } from './server.ts';

export class ScriptedClient implements ApiClient {
  region: string | undefined = 'north';
  maxCompute: string | undefined = '2.93';
  servers: readonly Server[] = [];
  ports: readonly Port[] = [];
  networks: readonly { id: string; name: string }[] = [];
  /** Operation and microversion of each call. */
  readonly calls: string[] = [];
  /** Of the flavor, as nova's first microversion shows it. */
  flavorId = 'flavor-1';
  /** May throw instead of answering, or answer something else than what is there. */
  onRead: (id: string, server: Server | undefined) => unknown = (_id, server) => server;
  onList: (request: ListRequest, items: readonly unknown[]) => readonly unknown[] = (_request, items) => items;

  async request<T>(_call: CallContext, { operation, path, microversion = '' }: ApiRequest): Promise<T> {
    this.calls.push(`${operation} ${microversion}`.trim());
    const id = decodeURIComponent(path.slice('/servers/'.length));
    const found = this.onRead(
      id,
      this.servers.find((one) => one.id === id),
    );
    if (found === undefined) throw new CloudError('not-found', `Instance ${id} could not be found.`);
    const server = microversion === '' ? { ...(found as Server), flavor: { id: this.flavorId } } : found;
    return { server } as T;
  }

  async list<T>(_call: CallContext, request: ListRequest): Promise<readonly T[]> {
    const { operation, collection, query = [], microversion = '' } = request;
    this.calls.push(`${operation} ${microversion}`.trim());
    const valuesOf = (key: string): readonly string[] =>
      query.filter(([name]) => name === key).map(([, value]) => value);
    const items: Record<string, readonly unknown[]> = {
      servers: this.servers.filter(({ name = '' }) => new RegExp(valuesOf('name').at(-1) ?? '', 'i').test(name)),
      ports: this.ports.filter(
        ({ id, device_id: device }) =>
          (valuesOf('id').length === 0 || valuesOf('id').includes(id)) &&
          (valuesOf('device_id').length === 0 || valuesOf('device_id').includes(device)),
      ),
      networks: this.networks.filter(({ id }) => valuesOf('id').includes(id)),
    };
    return this.onList(request, items[collection] ?? []) as readonly T[];
  }

  hasService(): Promise<boolean> {
    return Promise.resolve(true);
  }

  maxMicroversion(): Promise<string | undefined> {
    return Promise.resolve(this.maxCompute);
  }

  networkExtensions(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set());
  }
}

/** A call whose requests the double answers itself. */
export function callOf(logger: CallContext['logger']): CallContext {
  return {
    signal: new AbortController().signal,
    priority: 'normal',
    logger,
    call: () => Promise.reject(new Error('the double sends nothing')),
  };
}
