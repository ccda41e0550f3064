/** Routes of the memory cloud, in batches. */
import {
  CloudError,
  type CallContext,
  type CloudErrorCode,
  type ClusterIdentity,
  type Route,
  type RouteList,
  type RouteRequest,
  type RouteResult,
  type Routes,
} from '@outrigger/cloud-provider';
import type { CloudClient } from './cloud-client.ts';
import type { MemoryRoute } from './cloud-model.ts';
import { named } from './provider-name.ts';

type ListedRoute = MemoryRoute & { readonly blackhole: boolean };

type Result = { kind: 'done' } | { kind: 'exists' } | { kind: 'failed'; code: CloudErrorCode; message: string };

export class MemoryRoutes implements Routes {
  readonly #client: () => CloudClient;
  readonly #cluster: ClusterIdentity;
  readonly #name: string;

  /** `name`: the provider's. */
  constructor(client: () => CloudClient, cluster: ClusterIdentity, name: string) {
    this.#client = client;
    this.#cluster = cluster;
    this.#name = name;
  }

  async list(call: CallContext): Promise<RouteList> {
    const request = { method: 'GET', path: '/routes' } as const;
    const { routes } = await this.#client().request<{ routes: readonly ListedRoute[] }>(call, 'GET /routes', request);
    return { routes: routes.map((route) => this.#routeOf(route)) };
  }

  async create(requests: readonly RouteRequest[], call: CallContext): Promise<readonly RouteResult[]> {
    const routes = requests.map(({ node, destination }) => ({
      destination,
      instanceId: node.providerID?.split('/').at(-1) ?? node.name,
      nodeName: node.name,
      clusterId: this.#cluster.id,
    }));
    return this.#batch(call, 'POST /routes:batchCreate', '/routes:batchCreate', { routes });
  }

  async delete(routes: readonly Route[], call: CallContext): Promise<readonly RouteResult[]> {
    const foreign = new CloudError('not-owned', 'a route that this cluster did not make is left alone');
    const ids = routes.filter(({ ownership }) => ownership === 'owned').map(({ id }) => id);
    const results =
      ids.length === 0 ? [] : await this.#batch(call, 'POST /routes:batchDelete', '/routes:batchDelete', { ids });
    const byId = new Map(ids.map((id, index) => [id, results[index]]));
    return routes.map(({ id }) => byId.get(id) ?? { kind: 'failed', error: foreign });
  }

  async #batch(call: CallContext, name: string, path: string, body: unknown): Promise<readonly RouteResult[]> {
    const request = { method: 'POST', path, body } as const;
    const { results } = await this.#client().request<{ results: readonly Result[] }>(call, name, request);
    return results.map((result) =>
      result.kind === 'failed'
        ? { kind: 'failed', error: new CloudError(result.code, result.message) }
        : { kind: result.kind },
    );
  }

  #routeOf({ id, destination, providerID, nodeName, clusterId, blackhole }: ListedRoute): Route {
    const ownership = clusterId === this.#cluster.id ? 'owned' : 'foreign';
    const targetProviderID = named(providerID, this.#name);
    return { id, destination, targetNodeName: nodeName, targetProviderID, blackhole, ownership };
  }
}
