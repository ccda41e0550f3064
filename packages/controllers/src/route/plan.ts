/** From the nodes and the cloud's routes to what is to be done. Pure: entry point `planRoutes`. */
import { canonicalIp, type Cidr, contains, parseCidr, type Route, type Routes } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';
import { ownerOfNode, type UnmanagedRule } from '../unmanaged-nodes.ts';
import type { CreateRoute, DeleteRoute, KeptRoutes, NodeRoutes, RoutePlan } from './planned-route.ts';
import { remember } from './remember.ts';
import { addressesOf, hopsOf, NOTHING_KNOWN, RouteOwners, type KnownHops } from './route-owners.ts';
import { wantedRoutes } from './wanted-routes.ts';

const wantedOf = remember(wantedRoutes);
/** Canonical; `undefined` for what is not wholly inside: a route that only overlaps the cluster's ranges is not one of ours. (Upstream deletes it.) */
const destinationOf = remember(({ destination }: Route, clusterCidrs): string | undefined => {
  const cidr = parseCidr(destination);
  return cidr && clusterCidrs.some((range) => contains(range, cidr)) ? cidr.text : undefined;
});

export interface ObservedRoutes {
  /** All nodes, of a store that is synced. */
  readonly nodes: Iterable<Node>;
  /** All routes of the network. */
  readonly routes: Iterable<Route>;
  /** `--cluster-cidr`. */
  readonly clusterCidrs: readonly Cidr[];
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** Given where routes are `unmarked`: what else is known of them. Default: they have owners. */
  readonly record?: KnownHops;
  /** `Routes.nextHop`: where they lead to addresses alone, none is made to a node that has none. */
  readonly nextHop?: Routes['nextHop'];
}

/** What to do about all routes. Nothing foreign, nothing outside of the cluster's ranges and nothing of a live node is touched. */
export function planRoutes(given: ObservedRoutes): RoutePlan {
  // Gone through twice.
  const observed: ObservedRoutes = { ...given, nodes: [...given.nodes] };
  const owners = new RouteOwners({ record: NOTHING_KNOWN, ...observed });
  const leadToAddresses = observed.record !== undefined && observed.nextHop !== 'instance';
  const claims = new Claims(observed, owners);
  const routes = routesByDestination(observed);
  const creates: CreateRoute[] = [];
  const deletes: DeleteRoute[] = [];
  const owned = new Set<Route>();
  for (const [destination, there] of routes) {
    const claim = claims.of(destination, there);
    for (const route of there) {
      if (!owners.isOurs(route, destination)) continue;
      owned.add(route);
      const removal = claims.removal(route, claim, there);
      if (removal) deletes.push(removal);
    }
  }
  const leaving = new Set(deletes.map(({ route }) => route));
  const nodes: NodeRoutes[] = [];
  for (const { node, destinations, problems: given } of claims.ours) {
    const problems = [...given];
    const missing: string[] = [];
    // Its addresses come with what the cloud knows of it, or from its kubelet: a pod CIDR may be there before.
    const waits = leadToAddresses && addressesOf(node).length === 0;
    let complete = problems.length === 0;
    for (const destination of destinations) {
      const there = routes.get(destination) ?? [];
      const claim = claims.of(destination, there);
      if (claim?.node !== node) {
        complete = false;
        problems.push(`Its pod CIDR ${destination} is that of node ${claim?.node.metadata?.name ?? ''} too.`);
        continue;
      }
      if (there.some((route) => leadsTo(route, node))) continue;
      complete = false;
      const inTheWay = there.find((route) => !owned.has(route));
      if (inTheWay) {
        problems.push(
          `Its pod CIDR ${destination} is used by the route ${inTheWay.id}, which this cluster did not create: delete it, or change the pod CIDR of the node.`,
        );
        continue;
      }
      if (waits) continue;
      const key = `${node.metadata?.uid ?? ''} ${destination}`;
      missing.push(key);
      if (!node.metadata?.deletionTimestamp && !there.some((route) => leaving.has(route))) {
        // Those made since the last list have no ID yet, and lead to a node.
        creates.push({ key, node, destination, replaces: there.filter(({ id }) => id !== '') });
      }
    }
    nodes.push({ node, complete, problems, missing, waits });
  }
  return { creates, deletes, nodes, owned, kept: claims.kept };
}

/** Whether the route brings packets to the machine of this node. */
export function leadsTo(route: Route, node: Node): boolean {
  const { blackhole, targetProviderID, targetNodeName, nextHops = [] } = route;
  if (blackhole) return false;
  if (targetProviderID === undefined && targetNodeName === undefined) {
    // Only addresses say where it leads.
    return nextHops.length > 0 && (node.status?.addresses ?? []).length > 0 && hasAddresses(node, nextHops);
  }
  const machine =
    targetProviderID === undefined
      ? targetNodeName === node.metadata?.name
      : targetProviderID === node.spec?.providerID;
  return machine && hasAddresses(node, nextHops);
}

/** A node without addresses says nothing about them. */
function hasAddresses(node: Node, ips: readonly string[]): boolean {
  const { addresses = [] } = node.status ?? {};
  if (addresses.length === 0) return true;
  // Nearly all are written alike on both sides: with 5,000 nodes a plan takes a quarter of the time.
  if (ips.every((ip) => addresses.some(({ address }) => address === ip))) return true;
  const own = new Set(addresses.map(({ address }) => canonicalIp(address)));
  return ips.every((ip) => own.has(canonicalIp(ip)));
}

interface Claim {
  readonly node: Node;
  /** Initialised, and of our provider: only then is it known where the route has to lead. */
  readonly ours: boolean;
}

/** Which node has which destination. */
class Claims {
  readonly ours: {
    readonly node: Node;
    readonly destinations: readonly string[];
    readonly problems: readonly string[];
  }[] = [];
  readonly #byDestination = new Map<string, Claim[]>();
  /** Names and provider IDs of nodes that have no pod CIDR yet. */
  readonly #waiting = new Set<string>();
  /** Their addresses. */
  readonly #waitingAddresses = new Set<string>();
  /** Those of them that are not initialised, and of which no address is known: they may be anywhere. */
  readonly #unknown: Node[] = [];
  /** Routes that may lead to one of those. */
  readonly #kept: Route[] = [];
  readonly #owners: RouteOwners;

  constructor(observed: ObservedRoutes, owners: RouteOwners) {
    const { nodes, clusterCidrs } = observed;
    this.#owners = owners;
    for (const node of nodes) {
      const { destinations, problems } = wantedOf(node, clusterCidrs);
      const owner = ownerOfNode(node, observed);
      const ours = owner === 'ours';
      for (const destination of destinations) {
        const claims = this.#byDestination.get(destination);
        if (claims) claims.push({ node, ours });
        else this.#byDestination.set(destination, [{ node, ours }]);
      }
      if (podCidrsOf(node).length > 0) {
        if (ours) this.ours.push({ node, destinations, problems });
      } else {
        if (node.metadata?.name) this.#waiting.add(node.metadata.name);
        if (node.spec?.providerID) this.#waiting.add(node.spec.providerID);
        if (!ours && owner !== 'none') continue;
        const addresses = addressesOf(node);
        for (const address of addresses) this.#waitingAddresses.add(address);
        if (owner === 'none' && addresses.length === 0) this.#unknown.push(node);
      }
    }
  }

  /** By what `removal` has been asked about. */
  get kept(): KeptRoutes {
    return { routes: this.#kept, nodes: this.#kept.length > 0 ? this.#unknown : [] };
  }

  /** Of several nodes with one pod CIDR the one that has the route keeps it; without a route, the oldest gets it. */
  of(destination: string, there: readonly Route[]): Claim | undefined {
    const claims = this.#byDestination.get(destination) ?? [];
    if (claims.length < 2) return claims[0];
    return (
      claims.find(({ node }) => there.some((route) => leadsTo(route, node))) ??
      claims.toSorted((a, b) => byAge(a.node, b.node))[0]
    );
  }

  removal(route: Route, claim: Claim | undefined, there: readonly Route[]): DeleteRoute | undefined {
    if (!claim) return this.#isOfWaitingNode(route) ? undefined : { route, reason: 'node-gone' };
    const { node, ours } = claim;
    // A node that has just registered again, or another provider's: where its route has to lead is not known here.
    if (!ours) return undefined;
    if (route.blackhole) return { route, reason: 'blackhole', node };
    if (leadsTo(route, node)) return undefined;
    const isUnnamed = route.targetProviderID === undefined && route.targetNodeName === undefined;
    const unknown = isUnnamed && this.#owners.nodeAt(route) === undefined;
    // Where it leads is not known: it may be right. The cloud says so when it is to make it, and has the new one before the old goes.
    if (unknown && !there.some((other) => leadsTo(other, node))) return undefined;
    return { route, reason: 'wrong-target', node };
  }

  /** It may get the same pod CIDR again. */
  #isOfWaitingNode(route: Route): boolean {
    const { blackhole, targetNodeName, targetProviderID } = route;
    if (blackhole) return false;
    if (targetNodeName !== undefined || targetProviderID !== undefined) {
      return this.#waiting.has(targetNodeName ?? '') || this.#waiting.has(targetProviderID ?? '');
    }
    const hops = hopsOf(route);
    if (hops.length > 0 && hops.every((hop) => this.#waitingAddresses.has(hop))) return true;
    if (this.#unknown.length === 0 || this.#owners.nodeAt(route) !== undefined) return false;
    this.#kept.push(route);
    return true;
  }
}

function byAge(a: Node, b: Node): number {
  const key = ({ metadata = {} }: Node): string => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
  return key(a) < key(b) ? -1 : 1;
}

function routesByDestination({ routes, clusterCidrs }: ObservedRoutes): Map<string, readonly Route[]> {
  const found = new Map<string, Route[]>();
  for (const route of routes) {
    const destination = destinationOf(route, clusterCidrs);
    if (destination === undefined) continue;
    const there = found.get(destination);
    if (there) there.push(route);
    else found.set(destination, [route]);
  }
  return found;
}
