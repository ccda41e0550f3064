/** The contract's routes, batches with a result for each, of a cloud that makes and removes one at a time. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type CloudErrorCode,
  type Route,
  type RouteRequest,
  type RouteResult,
  type Routes,
} from '@outrigger/cloud-provider';

export interface RoutesOneByOneOptions extends Pick<Routes, 'nextHop' | 'unmarked'> {
  /** All routes of the network, those of others included. A whole list or an error. */
  readonly list: (call: CallContext) => Promise<readonly Route[]>;
  /** Makes one. It is known not to be there. `not-found`: its machine is gone. `quota`: fails it alone. */
  readonly create: (request: RouteRequest, call: CallContext) => Promise<void>;
  /**
   * Where the cloud can make one lead elsewhere: makes it in place of the one to the same destination. Then nothing is removed, and for no
   * moment is there none. Default: it is made beside the old one, or after it (`keepsBoth`).
   */
  readonly replace?: (request: RouteRequest, call: CallContext) => Promise<void>;
  /** Removes one that is the cluster's. A `not-found` counts as done. */
  readonly delete: (route: Route, call: CallContext) => Promise<void>;
  /** Whether a route to the destination is what is asked for. Default: by its machine and its next hops, as far as it has them. */
  readonly leadsTo?: (route: Route, request: RouteRequest) => boolean;
  /** Whether two routes to one destination can be for a moment, so that one is replaced without a gap. Default: true. */
  readonly keepsBoth?: boolean;
  /** How many are made or removed at a time. Default: 10. */
  readonly parallel?: number;
  /** Default: 100. */
  readonly batchSize?: number;
}

/** Where one was refused so, the next would be too: it is not tried. */
const FOR_ALL: readonly CloudErrorCode[] = ['throttled', 'timeout', 'unauthenticated', 'unavailable'];

type Step = () => Promise<RouteResult>;

/** A batch of creations is one list more than its routes: what is there already, or leads elsewhere, is not asked for. */
export function routesOneByOne(options: RoutesOneByOneOptions): Routes {
  const { batchSize = 100, keepsBoth = true, leadsTo = leadsThere, nextHop, parallel = 10, unmarked = false } = options;

  async function remove(route: Route, call: CallContext): Promise<void> {
    try {
      await options.delete(route, call);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
    }
  }

  async function make(request: RouteRequest, old: readonly Route[], call: CallContext): Promise<RouteResult> {
    if (options.replace && old.length > 0) {
      await options.replace(request, call);
      return { kind: 'done' };
    }
    if (!keepsBoth) for (const route of old) await remove(route, call);
    await options.create(request, call);
    if (keepsBoth) for (const route of old) await remove(route, call);
    return { kind: 'done' };
  }

  return {
    batchSize,
    unmarked,
    nextHop,
    async list(call) {
      return { routes: await options.list(call) };
    },
    async create(requests, call) {
      const there = Map.groupBy(await options.list(call), ({ destination }) => destination);
      const asked = new Set<string>();
      const steps = requests.map((request): Step => {
        const { destination, replaces = [] } = request;
        const old = there.get(destination) ?? [];
        const isOld = (route: Route): boolean => replaces.some(({ id }) => id === route.id);
        if (old.some((route) => leadsTo(route, request) && !isOld(route))) return async () => ({ kind: 'exists' });
        if (asked.has(destination) || !old.every(isOld)) {
          return async () =>
            failed(new CloudError('conflict', `there is a route to ${destination} that leads elsewhere`));
        }
        asked.add(destination);
        return () => make(request, old, call);
      });
      return inTurns(steps, parallel);
    },
    delete(routes, call) {
      const steps = routes.map((route): Step => async () => {
        if (route.ownership !== 'owned') {
          return failed(new CloudError('not-owned', `the route to ${route.destination} is not this cluster's`));
        }
        await remove(route, call);
        return { kind: 'done' };
      });
      return inTurns(steps, parallel);
    },
  };
}

/** So many at a time; after a failure that concerns all, none is begun. */
async function inTurns(steps: readonly Step[], parallel: number): Promise<readonly RouteResult[]> {
  const results: RouteResult[] = [];
  const queue = steps.entries();
  let stopped: CloudError | undefined;
  const work = async (): Promise<void> => {
    for (const [i, step] of queue) {
      results[i] = stopped ? failed(stopped) : await step().catch(failed);
      const result = results[i];
      if (result.kind !== 'failed' || stopped) continue;
      const { error } = result;
      const code = FOR_ALL.find((one) => isCloudError(error, one));
      if (code)
        stopped = new CloudError(code, `not tried, as another route failed: ${error.message}`, { effect: 'none' });
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, steps.length) }, work));
  return results;
}

function failed(error: unknown): RouteResult & { readonly kind: 'failed' } {
  return { kind: 'failed', error: asError(error) };
}

/** As the host sees it: where both are given, both have to be the node's. */
function leadsThere({ blackhole, nextHops = [], targetProviderID }: Route, { addresses, node }: RouteRequest): boolean {
  if (blackhole || (targetProviderID === undefined && nextHops.length === 0)) return false;
  const isItsMachine = targetProviderID === undefined || targetProviderID === node.providerID;
  return isItsMachine && nextHops.every((hop) => addresses.some(({ address }) => address === hop));
}
