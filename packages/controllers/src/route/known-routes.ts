/** The cloud's routes as last listed, and what has been done since: a new node costs no list. */
import type { Route } from '@outrigger/cloud-provider';
import type { ListedRoutes } from './cloud-routes.ts';
import type { CreateRoute } from './planned-route.ts';

interface Made {
  readonly route: Route;
  readonly at: number;
}

export class KnownRoutes {
  readonly #listed = new Set<Route>();
  /** By destination: made since the last list, so that their IDs are not known yet. */
  readonly #made = new Map<string, Made>();
  #asOf: number | undefined;

  /** When the request of the last list was sent (monotonic); `undefined` before the first. Nothing may be concluded before. */
  get asOf(): number | undefined {
    return this.#asOf;
  }

  replace({ asOf, routes }: ListedRoutes): void {
    this.#asOf = asOf;
    this.#listed.clear();
    for (const route of routes) this.#listed.add(route);
    for (const [destination, { at }] of this.#made) if (at < asOf) this.#made.delete(destination);
  }

  /** The cloud said at `at` that this route is there. `nextHops`: in a cloud that routes to addresses, those that it may lead to. */
  made({ node, destination }: CreateRoute, at: number, nextHops?: readonly string[]): void {
    const { name = '' } = node.metadata ?? {};
    const route: Route = {
      id: '',
      destination,
      targetNodeName: name,
      targetProviderID: node.spec?.providerID,
      nextHops,
      blackhole: false,
      ownership: 'owned',
    };
    this.#made.set(destination, { route, at });
  }

  removed(route: Route): void {
    this.#listed.delete(route);
  }

  /** Whether it came from a list: only then can it be deleted. */
  isListed(route: Route): boolean {
    return this.#listed.has(route);
  }

  *values(): IterableIterator<Route> {
    yield* this.#listed;
    for (const { route } of this.#made.values()) yield route;
  }
}
