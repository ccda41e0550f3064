/** Which node has which pod CIDR, of nodes that may say anything. Pure. Entry point: `Claims`. */
import { overlaps, type Cidr, type Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';
import { ownerOfNode } from '../unmanaged-nodes.ts';
import { leadsTo } from './leads-to.ts';
import { refuseOverlaps, type WantedRange } from './overlaps.ts';
import type { DeleteRoute, KeptRoutes, ObservedRoutes } from './planned-route.ts';
import { remember } from './remember.ts';
import { addressesOf, hopsOf, type RouteOwners } from './route-owners.ts';
import { wantedRoutes, type WantedRoutes } from './wanted-routes.ts';

const wantedOf = remember(wantedRoutes);

interface Claim {
  readonly node: Node;
  /** Initialised, and of our provider: only then is it known where the route has to lead. */
  readonly ours: boolean;
}

interface Destination {
  readonly cidr: Cidr;
  /** At least one; the oldest first. */
  readonly claims: Claim[];
  /** Whose it is. */
  holder: Claim;
}

/**
 * Which node has which destination. A kubelet may write any pod CIDR into a new Node; it cannot make its Node older than it is. So:
 * - Of several nodes with one pod CIDR the oldest has it, by creation and then by name, and not another one unless a route leads to that one
 *   and to none that is older: a route of a live node is not led elsewhere.
 * - A pod CIDR inside or around that of an older node, or that overlaps the range of Services, gets no route. One that is too wide for one
 *   node (a whole cluster range, or over 16 times what most have) is in the way of none, however old.
 * - A route that is there already, of an initialised node, stays, also where it would not be made now: a release that looks closer cuts nobody off.
 *   It is told; once it is gone, it is not made again.
 * The order of the store does not matter. Nodes of other providers and uninitialised ones count: traffic of theirs is not to be drawn either.
 */
export class Claims {
  readonly ours: (WantedRoutes & { readonly node: Node })[] = [];
  readonly #byDestination = new Map<string, Destination>();
  /** Why a destination gets no new route. */
  readonly #refused = new Map<string, string>();
  /** Names and provider IDs of nodes that have no pod CIDR yet. */
  readonly #waiting = new Set<string>();
  /** Their addresses. */
  readonly #waitingAddresses = new Set<string>();
  /** Those of them that are not initialised, and of which no address is known: they may be anywhere. */
  readonly #unknown: Node[] = [];
  /** Routes that may lead to one of those. */
  readonly #kept: Route[] = [];
  readonly #ledTo = new Map<Claim, boolean>();
  readonly #owners: RouteOwners;

  constructor(observed: ObservedRoutes, owners: RouteOwners, routes: ReadonlyMap<string, readonly Route[]>) {
    const { nodes, clusterCidrs, serviceCidrs = [] } = observed;
    this.#owners = owners;
    for (const node of nodes) {
      const { destinations, problems } = wantedOf(node, clusterCidrs);
      const owner = ownerOfNode(node, observed);
      const ours = owner === 'ours';
      for (const cidr of destinations) {
        const claim = { node, ours };
        const known = this.#byDestination.get(cidr.text);
        if (known) known.claims.push(claim);
        else this.#byDestination.set(cidr.text, { cidr, claims: [claim], holder: claim });
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
    for (const [text, destination] of this.#byDestination) {
      const { claims } = destination;
      if (claims.length > 1) destination.holder = holderOf(claims, routes.get(text) ?? []);
    }
    this.#refuse(serviceCidrs, clusterCidrs);
  }

  #refuse(serviceCidrs: readonly Cidr[], clusterCidrs: readonly Cidr[]): void {
    const wanted: WantedRange<Node>[] = [];
    for (const { cidr, claims, holder } of this.#byDestination.values()) {
      const range = serviceCidrs.find((one) => overlaps(one, cidr));
      if (range) {
        this.#refused.set(
          cidr.text,
          `Its pod CIDR ${cidr.text} overlaps the range of Services ${range.text} (--service-cluster-ip-range).`,
        );
      } else wanted.push({ cidr, owner: holder.node, age: ageOf(claims[0]?.node ?? holder.node) });
    }
    for (const [text, { age, cidr, owner }] of refuseOverlaps(wanted, clusterCidrs)) {
      const oldest = this.#byDestination.get(text)?.claims[0]?.node;
      const why = oldest && age < ageOf(oldest) ? 'which is older' : 'and is too wide for one node';
      const name = owner.metadata?.name ?? '';
      this.#refused.set(text, `Its pod CIDR ${text} overlaps ${cidr.text} of node ${name}, ${why}.`);
    }
  }

  /** By what `removal` has been asked about. */
  get kept(): KeptRoutes {
    return { routes: this.#kept, nodes: this.#kept.length > 0 ? this.#unknown : [] };
  }

  of(destination: string): Claim | undefined {
    return this.#byDestination.get(destination)?.holder;
  }

  /** Why its holder gets no new route to it. */
  refusal(destination: string): string | undefined {
    return this.#refused.get(destination);
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
    if (unknown && !this.#isLedTo(claim, there)) return undefined;
    return { route, reason: 'wrong-target', node };
  }

  /** Whether one of the routes of its destination leads to the node: asked once, however many there are. */
  #isLedTo(claim: Claim, there: readonly Route[]): boolean {
    const isLedTo = this.#ledTo.get(claim) ?? there.some((route) => leadsTo(route, claim.node));
    this.#ledTo.set(claim, isLedTo);
    return isLedTo;
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

/** Sorts the claims. */
function holderOf(claims: Claim[], there: readonly Route[]): Claim {
  claims.sort((a, b) => (ageOf(a.node) < ageOf(b.node) ? -1 : 1));
  return claims.find(({ node }) => there.some((route) => leadsTo(route, node))) ?? (claims[0] as Claim);
}

function ageOf({ metadata = {} }: Node): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
}
