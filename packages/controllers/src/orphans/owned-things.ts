/** What of the cloud's lists is this cluster's, and which of it no object stands behind. Pure. */
import {
  canonicalAddress,
  type Cidr,
  contains,
  type LoadBalancerPart,
  parseCidr,
  type Route,
} from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';
import { hopsOf, type KnownHops } from '../route/route-owners.ts';
import type { OrphanedLoadBalancer, OrphanedRoute } from './orphan.ts';

/** The load balancers of this cluster, by the UID that their parts carry. Parts that do not say both are nobody's here. */
export function ownedLoadBalancers(
  parts: readonly LoadBalancerPart[],
  clusterId: string,
): readonly OrphanedLoadBalancer[] {
  const byUid = new Map<string, LoadBalancerPart[]>();
  for (const part of parts) {
    const { owner } = part;
    if (owner?.clusterId !== clusterId || owner.uid === '') continue;
    const others = byUid.get(owner.uid);
    if (others) others.push(part);
    else byUid.set(owner.uid, [part]);
  }
  return Array.from(byUid, ([uid, own]) => ({ kind: 'load-balancer', key: `load-balancer ${uid}`, uid, parts: own }));
}

/**
 * The routes of this cluster that no route controller looks after: `lookedAfter` are the ranges in which one does. Where the cloud
 * keeps no owner, only the record proves one: what a node has is no orphan.
 */
export function ownedRoutes(
  routes: readonly Route[],
  lookedAfter: readonly Cidr[],
  record: KnownHops,
): readonly OrphanedRoute[] {
  return routes
    .filter((route) => {
      const cidr = parseCidr(route.destination);
      // What cannot be read cannot be told from a node's.
      if (cidr === undefined || lookedAfter.some((range) => contains(range, cidr))) return false;
      if (route.ownership !== 'unmarked') return route.ownership === 'owned';
      const hops = hopsOf(route);
      return hops.length > 0 && record.has(cidr.text, hops);
    })
    .map((route) => ({ kind: 'route', key: `route ${route.id} ${route.destination}`, route }));
}

/** Whether a route may still be of use to a node. Where it leads is not known: it may. */
export type IsInUse = (route: Route) => boolean;

export function inUseBy(nodes: Iterable<Node>): IsInUse {
  const known = new Set<string>();
  for (const node of nodes) {
    const { metadata, spec, status } = node;
    known.add(`name ${metadata?.name ?? ''}`);
    if (spec?.providerID) known.add(`id ${spec.providerID}`);
    for (const cidr of podCidrsOf(node)) known.add(`cidr ${parseCidr(cidr)?.text ?? cidr}`);
    for (const { address } of status?.addresses ?? []) known.add(`ip ${canonicalAddress(address)}`);
  }
  return ({ blackhole, destination, nextHops = [], targetNodeName, targetProviderID }) => {
    if (!blackhole && !targetNodeName && !targetProviderID && nextHops.length === 0) return true;
    return [
      `cidr ${parseCidr(destination)?.text ?? destination}`,
      ...(targetNodeName ? [`name ${targetNodeName}`] : []),
      ...(targetProviderID ? [`id ${targetProviderID}`] : []),
      ...nextHops.map((ip) => `ip ${canonicalAddress(ip)}`),
    ].some((one) => known.has(one));
  };
}
