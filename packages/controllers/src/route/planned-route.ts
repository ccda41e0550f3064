/** What a plan for the routes can ask for, and what it says about each node. Data only. */
import type { Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';

/** A route that is to be made. */
export interface CreateRoute {
  /** Of this node and this destination: the same in each plan. */
  readonly key: string;
  readonly node: Node;
  /** In canonical form. */
  readonly destination: string;
  /** Routes of this cluster that it is made beside, as they lead to no node that is known: they go when it is there. */
  readonly replaces: readonly Route[];
}

/**
 * Why an owned route goes:
 * - `node-gone`: no node has its destination any more.
 * - `wrong-target`: it leads to another machine than that of the node which has its destination.
 * - `blackhole`: it leads nowhere.
 */
type RemovalReason = 'node-gone' | 'wrong-target' | 'blackhole';

export interface DeleteRoute {
  readonly route: Route;
  readonly reason: RemovalReason;
  /** The node that has the destination, if there is one: it gets a new route once this one is gone. */
  readonly node?: Node;
}

/** How a node stands that has pod CIDRs. */
export interface NodeRoutes {
  readonly node: Node;
  /** A route leads to the node for each of its pod CIDRs. */
  readonly complete: boolean;
  /** What stands in the way and cannot be mended here: one sentence for a person. */
  readonly problems: readonly string[];
  /** Keys of the routes to be made. */
  readonly missing: readonly string[];
  /** None can be made before the node has an IP address, where routes lead to addresses alone. */
  readonly waits: boolean;
}

/** Routes of no node that is known which stay, as nothing is known yet of nodes that they may lead to. */
export interface KeptRoutes {
  readonly routes: readonly Route[];
  /** Neither initialised nor with an address or a pod CIDR. */
  readonly nodes: readonly Node[];
}

/** Creates name only what can be made now: where an old route is in the way, the plan after its removal has the new one. */
export interface RoutePlan {
  readonly creates: readonly CreateRoute[];
  readonly deletes: readonly DeleteRoute[];
  /** Only nodes whose condition this controller looks after. */
  readonly nodes: readonly NodeRoutes[];
  /** Of all routes inside of the cluster's ranges, those of this cluster. */
  readonly owned: ReadonlySet<Route>;
  readonly kept: KeptRoutes;
}
