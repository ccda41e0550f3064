/**
 * Whose the routes are, in a cloud that keeps no owner with them. Pure.
 *
 * Such a route is this cluster's when it leads from the pod CIDR of one of our nodes to the same node, by its address or its machine; or when the
 * record has the two together, as the node may be gone by now, or its address another. Everything else is foreign, also inside of
 * the cluster's ranges, and also from the pod CIDR of one node to where another one is or was.
 */
import {
  canonicalAddress,
  canonicalIp,
  familyOf,
  parseCidr,
  PROVIDER_ID_LENGTH,
  type Route,
  type Routes,
} from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { ownerOfNode, type UnmanagedRule } from '../unmanaged-nodes.ts';
import { podCidrsOf } from '../pod-cidrs.ts';
import { rememberEach } from './remember.ts';

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
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  readonly record: KnownHops;
}

interface NodesByAddress {
  /** Our nodes, also by their machines. */
  readonly byAddress: ReadonlyMap<string, Node>;
  /** The pod CIDRs of our nodes, each with the addresses of those that have it. */
  readonly addresses: ReadonlyMap<string, ReadonlySet<string>>;
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
    const addresses = this.#nodes.addresses.get(destination);
    return addresses !== undefined && hops.every((hop) => addresses.has(hop));
  }

  /** The node that it leads to, by the addresses of our nodes alone; `undefined`: to none, or to several. */
  nodeAt(route: Route): Node | undefined {
    const [first, ...others] = hopsOf(route).map((hop) => this.#nodes.byAddress.get(hop));
    return others.every((node) => node === first) ? first : undefined;
  }

  /** Where the cloud names owners and machines, nobody asks. */
  get #nodes(): NodesByAddress {
    if (this.#known) return this.#known;
    const byAddress = new Map<string, Node>();
    const addresses = new Map<string, Set<string>>();
    for (const node of this.#options.nodes) {
      if (ownerOfNode(node, this.#options) !== 'ours') continue;
      const own = [...addressesOf(node), ...hopOfMachine(node.spec?.providerID)];
      for (const address of own) byAddress.set(address, node);
      for (const destination of destinationsOf(node)) {
        const known = addresses.get(destination);
        if (known) for (const address of own) known.add(address);
        else addresses.set(destination, new Set(own));
      }
    }
    return (this.#known = { byAddress, addresses });
  }
}

/** To a cloud that keeps no owner: the host has found out that it is ours. */
export function asOwned(route: Route): Route {
  return route.ownership === 'unmarked' ? { ...route, ownership: 'owned' } : route;
}

/**
 * Its next hops: addresses in canonical form, or the machine where the cloud routes to machines. Of a machine that the cloud has forgotten only
 * the ID of the route is left, by which the record has it too.
 */
export const hopsOf: (route: Route) => readonly string[] = rememberEach(({ id, nextHops = [], targetProviderID }) => {
  if (nextHops.length === 0) return hopOfMachine(targetProviderID || id);
  return nextHops.map(canonicalAddress);
});

/** What the record has of it beside its destination, a line each. */
export function linesOf(route: Route): readonly string[] {
  return route.targetProviderID ? [...hopsOf(route), ...hopOfMachine(route.id)] : hopsOf(route);
}

/** Its pod CIDRs, in canonical form where they have one. */
const destinationsOf = rememberEach((node: Node): readonly string[] =>
  podCidrsOf(node).map((cidr) => parseCidr(cidr)?.text ?? cidr),
);

/** The next hops that a new route to this node may have. */
export function hopsOfNode(node: Node, kind: Routes['nextHop']): readonly string[] {
  return kind === 'instance' ? hopOfMachine(node.spec?.providerID) : firstAddressesOf(node);
}

/** As an entry of the record has it, in which a space or a new line, which a kubelet may have written, would be the end of it. */
function hopOfMachine(providerID: string | undefined): readonly string[] {
  if (!providerID || providerID.length > PROVIDER_ID_LENGTH) return [];
  return [providerID.replaceAll(/\s/gu, '%20')];
}

/** A kubelet may write 1,000, and others again and again: the record has a line for each. */
const MOST_HOPS_OF_FAMILY = 4;

/** Of each family the first, those of type InternalIP before others. */
const firstAddressesOf = rememberEach((node: Node): readonly string[] => {
  const internal = (node.status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' ? (canonicalIp(address) ?? []) : [],
  );
  const all = [...new Set([...internal, ...addressesOf(node)])];
  return ([4, 6] as const).flatMap((family) =>
    all.filter((ip) => familyOf(ip) === family).slice(0, MOST_HOPS_OF_FAMILY),
  );
});

/** The node's IP addresses, in canonical form. */
export const addressesOf: (node: Node) => readonly string[] = rememberEach(({ status }) =>
  (status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' || type === 'ExternalIP' ? (canonicalIp(address) ?? []) : [],
  ),
);
