/** From the nodes and the cloud's routes to what is to be done. Pure: entry point `planRoutes`. */
import { contains, parseCidr, type Route } from '@outrigger/cloud-provider';
import { Claims } from './claims.ts';
import { leadsTo } from './leads-to.ts';
import type { CreateRoute, DeleteRoute, NodeRoutes, ObservedRoutes, RoutePlan } from './planned-route.ts';
import { remember } from './remember.ts';
import { addressesOf, NOTHING_KNOWN, RouteOwners } from './route-owners.ts';

/** Canonical; `undefined` for what is not wholly inside: a route that only overlaps the cluster's ranges is not one of ours. (Upstream deletes it.) */
const destinationOf = remember(({ destination }: Route, clusterCidrs): string | undefined => {
  const cidr = parseCidr(destination);
  return cidr && clusterCidrs.some((range) => contains(range, cidr)) ? cidr.text : undefined;
});

/** What to do about all routes. Nothing foreign, nothing outside of the cluster's ranges and nothing of a live node is touched. */
export function planRoutes(given: ObservedRoutes): RoutePlan {
  // Gone through twice.
  const observed: ObservedRoutes = { ...given, nodes: [...given.nodes] };
  const owners = new RouteOwners({ record: NOTHING_KNOWN, ...observed });
  const leadToAddresses = observed.record !== undefined && observed.nextHop !== 'instance';
  const routes = routesByDestination(observed);
  const claims = new Claims(observed, owners, routes);
  const creates: CreateRoute[] = [];
  const deletes: DeleteRoute[] = [];
  const owned = new Set<Route>();
  for (const [destination, there] of routes) {
    const claim = claims.of(destination);
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
    const disputed: string[] = [];
    const missing: string[] = [];
    // Its addresses come with what the cloud knows of it, or from its kubelet: a pod CIDR may be there before.
    const waits = leadToAddresses && addressesOf(node).length === 0;
    let complete = problems.length === 0;
    for (const { text: destination } of destinations) {
      const there = routes.get(destination) ?? [];
      const claim = claims.of(destination);
      if (claim?.node !== node) {
        complete = false;
        problems.push(`Its pod CIDR ${destination} is that of node ${claim?.node.metadata?.name ?? ''} too.`);
        continue;
      }
      const refusal = claims.refusal(destination);
      if (there.some((route) => leadsTo(route, node))) {
        if (refusal !== undefined) disputed.push(refusal);
        continue;
      }
      complete = false;
      if (refusal !== undefined) {
        problems.push(refusal);
        continue;
      }
      const inTheWay = there.find((route) => !owned.has(route));
      if (inTheWay) {
        problems.push(
          `Its pod CIDR ${destination} is used by the route ${inTheWay.id}, which this cluster did not create: delete it, or change the pod CIDR of the node.`,
        );
        continue;
      }
      const key = `${node.metadata?.uid ?? ''} ${destination}`;
      // Also while it waits: a node that takes its addresses away and gives them back is not tried any sooner.
      missing.push(key);
      if (waits) continue;
      if (!node.metadata?.deletionTimestamp && !there.some((route) => leaving.has(route))) {
        // Those made since the last list have no ID yet, and lead to a node.
        creates.push({ key, node, destination, replaces: there.filter(({ id }) => id !== '') });
      }
    }
    nodes.push({ node, complete, problems, disputed, missing, waits });
  }
  return { creates, deletes, nodes, owned, kept: claims.kept };
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
