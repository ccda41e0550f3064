/** The provider's routes, as the controller calls them: with a deadline, and with answers that are checked. */
import {
  asError,
  CloudError,
  type CallContext,
  type CallPriority,
  type Route,
  type RouteList,
  type RouteRequest,
  type RouteResult,
  type Routes,
} from '@outrigger/cloud-provider';
import { batchSizeOf, callInTime, type MakeCallContext } from '@outrigger/cloud-runtime';
import type { Clock, Logger } from '@outrigger/kube';

export interface CloudRoutesOptions {
  readonly routes: Routes;
  readonly callContext: MakeCallContext;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Limit of one call. Default: 60,000. */
  readonly timeoutMs?: number;
}

/** All routes, as of when the request for them was sent. */
export type ListedRoutes = RouteList & { readonly asOf: number };

export class CloudRoutes {
  readonly #options: CloudRoutesOptions;

  constructor(options: CloudRoutesOptions) {
    this.#options = options;
  }

  get batchSize(): number {
    return batchSizeOf(this.#options.routes);
  }

  /** Throws when there is no complete answer. */
  async list(): Promise<ListedRoutes> {
    const startedAt = this.#options.clock.monotonic();
    const list = await this.#call('listing routes', 'background', (call) => this.#options.routes.list(call), {
      reads: true,
    });
    if (typeof list !== 'object' || list === null || !Array.isArray(list.routes)) {
      throw new CloudError('invalid', 'the provider returned no list of routes; the answer is ignored');
    }
    // Never later than it was asked for: what was made meanwhile may be missing in it.
    const { asOf: given = startedAt } = list;
    const asOf = Number.isFinite(given) ? Math.min(given, startedAt) : startedAt;
    const { nextHop } = this.#options.routes;
    return { asOf, routes: nextHop === 'instance' ? list.routes.map(byInstance) : list.routes };
  }

  /** A result for each, whatever happens. */
  create(requests: readonly RouteRequest[]): Promise<readonly RouteResult[]> {
    const about = requests.flatMap(({ destination, node }) => [`Route ${destination}`, node.uid]);
    return this.#each('creating routes', requests, about, (call) => this.#options.routes.create(requests, call));
  }

  /** A result for each, whatever happens. */
  delete(routes: readonly Route[]): Promise<readonly RouteResult[]> {
    const about = routes.map(({ destination }) => `Route ${destination}`);
    return this.#each('deleting routes', routes, about, (call) => this.#options.routes.delete(routes, call));
  }

  async #each(
    what: string,
    items: readonly unknown[],
    about: readonly string[],
    send: (call: CallContext) => Promise<readonly RouteResult[]>,
  ): Promise<readonly RouteResult[]> {
    let results: readonly RouteResult[];
    try {
      results = await this.#call(what, 'normal', send, { about });
      if (!Array.isArray(results) || results.length !== items.length) {
        throw new CloudError(
          'invalid',
          `${what}: the provider did not give a result for each of ${items.length} routes`,
        );
      }
    } catch (error) {
      const failed = { kind: 'failed', error: asError(error) } as const;
      return items.map(() => failed);
    }
    return results;
  }

  #call<T>(
    what: string,
    priority: CallPriority,
    send: (call: CallContext) => Promise<T>,
    options: { readonly about?: readonly string[]; readonly reads?: boolean },
  ): Promise<T> {
    const { callContext, clock, logger, signal, timeoutMs = 60_000 } = this.#options;
    return callInTime(
      { clock, timeoutMs, what, signal },
      (either) => callContext({ signal: either, priority, logger, ...options }),
      send,
    );
  }
}

/** Of one without an owner, the machine alone says whose it is: its addresses are beside that, and the record has machines. */
function byInstance(route: Route): Route {
  return route.ownership === 'unmarked' && route.targetProviderID !== undefined
    ? { ...route, nextHops: undefined }
    : route;
}
