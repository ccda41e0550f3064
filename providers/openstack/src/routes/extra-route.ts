/** A route of a router in Neutron, as a route of the contract. Neutron keeps no owner with it. */
import { canonicalAddress, parseCidr, type Route } from '@outrigger/cloud-provider';
import type { ExtraRoute } from './neutron-router.ts';

const VIA = ' via ';

export function routeOf(extra: ExtraRoute): Route {
  return {
    id: `${extra.destination}${VIA}${extra.nexthop}`,
    destination: canonicalDestination(extra),
    nextHops: [canonicalHop(extra)],
    blackhole: false,
    ownership: 'unmarked',
  };
}

/** The route that `routeOf` has made this of. */
export function extraRouteOf({ id }: Pick<Route, 'id'>): ExtraRoute {
  const [destination = '', nexthop = ''] = id.split(VIA);
  return { destination, nexthop };
}

/** Neutron stores host bits as they were given (`10.0.1.7/24`), and takes both spellings side by side. */
export function canonicalDestination({ destination }: Pick<ExtraRoute, 'destination'>): string {
  return parseCidr(destination)?.text ?? destination;
}

export function canonicalHop({ nexthop }: Pick<ExtraRoute, 'nexthop'>): string {
  return canonicalAddress(nexthop);
}
