/** What a plan for the routes is made from, what it can ask for, and what it says about each node. Data only. */
import type { Cidr, Route, Routes } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';
import type { KnownHops } from './route-owners.ts';

export interface ObservedRoutes {
  /** All nodes, of a store that is synced. */
  readonly nodes: Iterable<Node>;
  /** All routes of the network. */
  readonly routes: Iterable<Route>;
  /** `--cluster-cidr`. */
  readonly clusterCidrs: readonly Cidr[];
  /** `--service-cluster-ip-range`. Default: none. */
  readonly serviceCidrs?: readonly Cidr[] | undefined;
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** Given where routes are `unmarked`: what else is known of them. Default: they have owners. */
  readonly record?: KnownHops;
  /** `Routes.nextHop`: where they lead to addresses alone, none is made to a node that has none. */
  readonly nextHop?: Routes['nextHop'];
}

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
  /** Why routes that are there would not be made now, and stay: one sentence for a person. */
  readonly disputed: readonly string[];
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
