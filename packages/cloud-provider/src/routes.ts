/** Routes from pod CIDRs to nodes: what the route controller asks a cloud. Upstream: `Routes`, one route a call. */
import type { CallContext } from './call-context.ts';
import type { NodeRef, NodeAddress } from './instances.ts';

/** A route that the cloud has. */
export interface Route {
  /** The cloud's own ID or name of it. Of an `unmarked` one to a machine: never that of a route which leads elsewhere, now or later. */
  readonly id: string;
  /** In canonical form: `10.0.1.0/24`, `fd00:1::/64`. */
  readonly destination: string;
  /**
   * The next hop, by instance: the provider ID of the machine it leads to, in a cloud that routes to machines, to a network interface of
   * one, or that can tell whose an address is. `undefined` when that is not known or gone.
   */
  readonly targetProviderID?: string | undefined;
  /** The name of the node that it was made for, where the cloud keeps that. */
  readonly targetNodeName?: string | undefined;
  /**
   * The next hops, by address: the IP addresses that it leads to, in a cloud that routes to addresses and not to machines. It is replaced when one of
   * them is no longer the node's. Upstream: `TargetNodeAddresses` with `EnableNodeAddresses`.
   */
  readonly nextHops?: readonly string[] | undefined;
  /** It leads nowhere: the machine is gone. */
  readonly blackhole: boolean;
  /**
   * - `owned`: with proof that this cluster made it.
   * - `foreign`: anything else. Never touched.
   * - `unmarked`: the cloud keeps no owner with a route. The host decides, by `destination` and `nextHops`, which must be there:
   *   it is this cluster's when its destination is the pod CIDR of a node and its next hop an address of the same node, or its machine, or
   *   when both were so by the host's record, or its destination and `id` where it is a black hole to a machine that is forgotten. What the host calls its own comes to `delete` as `owned`.
   */
  readonly ownership: 'owned' | 'foreign' | 'unmarked';
}

/** A route that should be. */
export interface RouteRequest {
  readonly node: NodeRef;
  readonly addresses: readonly NodeAddress[];
  readonly destination: string;
  /**
   * Routes of this cluster to the same destination that lead to none of its nodes any more. Where the cloud can, the new one is
   * made beside them, and they are deleted when it is there. Default: none.
   */
  readonly replaces?: readonly Route[];
}

/** What came of one route of a batch. `exists`: it was there already and leads to the right machine. */
export type RouteResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'failed'; readonly error: Error };

export interface RouteList {
  /** `host.clock.monotonic()` from before the first request was sent; of a cached list, its own. Default: when the host called. */
  readonly asOf?: number | undefined;
  readonly routes: readonly Route[];
}

export interface Routes {
  /** Most routes that one `create` or `delete` takes. The host never gives more. Default: 100. */
  readonly batchSize?: number | undefined;
  /**
   * Its routes are `unmarked`. The host then keeps a record of those that it has made, in the ConfigMap `outrigger-routes` of
   * namespace kube-system. Default: false.
   */
  readonly unmarked?: boolean;
  /**
   * What the next hop of an `unmarked` route is: `address` (`Route.nextHops`), and no route is asked for to a node that has no IP address
   * yet; `instance` (`Route.targetProviderID`): to any node with a provider ID. Default: `address`.
   */
  readonly nextHop?: 'address' | 'instance' | undefined;
  /**
   * All routes of the network, foreign ones included (so that a clash is seen). Called at start, once a resync period, before
   * routes are deleted, after an outcome that is not known and, where next hops are machines, after routes were made. All pages or an error, never a part. Upstream: `ListRoutes`.
   */
  list(call: CallContext): Promise<RouteList>;
  /**
   * Makes routes; the results are in the order of `requests`. One that is there already is `exists`; one whose destination
   * leads elsewhere fails as `conflict`, and is not changed, but for one that the request names in `replaces`. Idempotent: an
   * answer may be lost and the request come again.
   * Called when nodes appear. Throw only when none was tried, or what came of them is not known. `quota` fails the routes
   * concerned alone. Upstream: `CreateRoute`.
   */
  create(requests: readonly RouteRequest[], call: CallContext): Promise<readonly RouteResult[]>;
  /** Removes owned routes; one that is gone already is `done`; refuse others as `not-owned`. Upstream: `DeleteRoute`. */
  delete(routes: readonly Route[], call: CallContext): Promise<readonly RouteResult[]>;
}
