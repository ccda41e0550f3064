/**
 * Whose the routes are, in a cloud that keeps no owner with them. Pure.
 *
 * Such a route is this cluster's when its destination is the pod CIDR of a node and its next hop an address of one of our nodes; or
 * when the record has the two together, as the node may be gone by now, or its address another. Everything else is foreign, also
 * inside of the cluster's ranges, and also from the pod CIDR of one node to where another one was.
 */
import { canonicalIp, parseCidr, type Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { ownerOf } from '../provider-id.ts';
import { podCidrsOf } from '../pod-cidrs.ts';

/** What routes this cluster made, or was seen to have. */
export interface KnownHops {
  /** Whether one led from here to all of these. */
  has(destination: string, hops: readonly string[]): boolean;
}

export const NOTHING_KNOWN: KnownHops = { has: () => false };

export interface RouteOwnersOptions {
  readonly nodes: Iterable<Node>;
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  readonly record: KnownHops;
}

interface NodesByAddress {
  /** The pod CIDRs of all nodes. */
  readonly destinations: ReadonlySet<string>;
  /** Our nodes. */
  readonly byAddress: ReadonlyMap<string, Node>;
}

export class RouteOwners {
  readonly #options: RouteOwnersOptions;
  #known: NodesByAddress | undefined;

  constructor(options: RouteOwnersOptions) {
    this.#options = options;
  }

  /** `destination`: the route's, in canonical form. */
  isOurs(route: Route, destination: string): boolean {
    if (route.ownership !== 'unmarked') return route.ownership === 'owned';
    const hops = hopsOf(route);
    if (hops.length === 0) return false;
    const { record } = this.#options;
    if (record.has(destination, hops)) return true;
    const { byAddress, destinations } = this.#nodes;
    return destinations.has(destination) && hops.every((hop) => byAddress.has(hop));
  }

  /** The node that it leads to, by the addresses of our nodes alone; `undefined`: to none, or to several. */
  nodeAt(route: Route): Node | undefined {
    const [first, ...others] = hopsOf(route).map((hop) => this.#nodes.byAddress.get(hop));
    return others.every((node) => node === first) ? first : undefined;
  }

  /** Where the cloud names owners and machines, nobody asks. */
  get #nodes(): NodesByAddress {
    if (this.#known) return this.#known;
    const destinations = new Set<string>();
    const byAddress = new Map<string, Node>();
    for (const node of this.#options.nodes) {
      for (const cidr of podCidrsOf(node)) destinations.add(parseCidr(cidr)?.text ?? cidr);
      if (ownerOf(node.spec?.providerID, this.#options.providerName) !== 'ours') continue;
      for (const address of addressesOf(node)) byAddress.set(address, node);
    }
    return (this.#known = { destinations, byAddress });
  }
}

/** To a cloud that keeps no owner: the host has found out that it is ours. */
export function asOwned(route: Route): Route {
  return route.ownership === 'unmarked' ? { ...route, ownership: 'owned' } : route;
}

/** In canonical form. */
export function hopsOf({ nextHops = [] }: Route): readonly string[] {
  return nextHops.map((hop) => canonicalIp(hop) ?? hop);
}

/** The node's IP addresses, in canonical form. */
export function addressesOf({ status }: Node): readonly string[] {
  return (status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' || type === 'ExternalIP' ? (canonicalIp(address) ?? []) : [],
  );
}
