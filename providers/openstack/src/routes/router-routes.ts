/** The routes of one router, as Neutron has them, and the ways to change them. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { routeOf } from './extra-route.ts';
import type { ExtraRoute, Router } from './neutron-router.ts';

/** Who else changes the router without end is not waited for here: the host tries again with back-off. */
const MOST_ATTEMPTS = 5;

export type RouteChange = 'add' | 'remove';

export class RouterRoutes {
  readonly id: string;
  readonly #client: ApiClient;
  /** One write at a time: two guarded ones of our own would only refuse each other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(client: ApiClient, id: string) {
    this.#client = client;
    this.id = id;
  }

  /** All of them. */
  async read(call: CallContext): Promise<readonly ExtraRoute[]> {
    return (await this.#read(call)).routes;
  }

  /** All or none. One that is there already, or gone, does not matter. */
  write(change: RouteChange, routes: readonly ExtraRoute[], call: CallContext): Promise<void> {
    const written = this.#writing.then(async () => {
      call.signal.throwIfAborted();
      const extensions = await this.#client.networkExtensions(call);
      await (extensions.has('extraroute-atomic')
        ? this.#writeAtomically(change, routes, call)
        : this.#replaceAll(change, routes, call));
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #writeAtomically(change: RouteChange, routes: readonly ExtraRoute[], call: CallContext): Promise<void> {
    await this.#client.request(call, {
      service: 'network',
      operation: `PUT /routers/{id}/${change}_extraroutes`,
      method: 'PUT',
      path: `${this.#path}/${change}_extraroutes`,
      body: { router: { routes } },
    });
  }

  /** Before `extraroute-atomic` (Stein) the whole list is written, on the revision that was read. */
  async #replaceAll(change: RouteChange, routes: readonly ExtraRoute[], call: CallContext): Promise<void> {
    const changed = new Set(routes.map((route) => routeOf(route).id));
    for (let attempt = 1; ; attempt++) {
      const { routes: before, revision_number: revision } = await this.#read(call);
      const others = before.filter((route) => !changed.has(routeOf(route).id));
      const isDone =
        change === 'remove' ? others.length === before.length : before.length - others.length === changed.size;
      if (isDone) return;
      try {
        await this.#client.request(call, {
          service: 'network',
          operation: 'PUT /routers/{id}',
          method: 'PUT',
          path: this.#path,
          body: { router: { routes: change === 'add' ? [...others, ...routes] : others } },
          ...(revision !== undefined && { revision }),
        });
        return;
      } catch (error) {
        if (!isCloudError(error, 'conflict') || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  async #read(call: CallContext): Promise<Router> {
    const { router } = await this.#client.request<{ readonly router: Partial<Router> }>(call, {
      service: 'network',
      operation: 'GET /routers/{id}',
      method: 'GET',
      path: this.#path,
      query: ['id', 'routes', 'revision_number'].map((field) => ['fields', field] as const),
    });
    // Absent, and not empty: the attribute is the extension's.
    if (!router.routes) {
      const why = `the router ${this.id} shows no routes: Neutron has no extension extraroute`;
      throw new CloudError('unsupported', `${why}; remove router-id from [Route]`);
    }
    return { id: this.id, ...router, routes: router.routes };
  }

  get #path(): string {
    return `/v2.0/routers/${encodeURIComponent(this.id)}`;
  }
}
