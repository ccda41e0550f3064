/** From the routes that are wanted and those of the router to what is to be done about each. Pure: entry point `aimRoutes`. */
import {
  canonicalIp,
  CloudError,
  familyOf,
  parseCidr,
  quote,
  type NodeAddress,
  type NodeRef,
  type RouteRequest,
} from '@outrigger/cloud-provider';
import { canonicalDestination, canonicalHop, routeOf } from './extra-route.ts';
import type { ExtraRoute } from './neutron-router.ts';

/** `exists`: the router has the route. */
export type Aim =
  | { readonly kind: 'exists' | 'add'; readonly route: ExtraRoute; readonly node: NodeRef }
  | { readonly kind: 'failed'; readonly error: CloudError };

/** In the order of `requests`; of two for one destination the first counts. */
export function aimRoutes(requests: readonly RouteRequest[], routes: readonly ExtraRoute[]): readonly Aim[] {
  const byDestination = Map.groupBy(routes, canonicalDestination);
  return requests.map((request) => {
    const destination = canonicalDestination(request);
    const there = byDestination.get(destination) ?? [];
    const aim = aimOne(request, there);
    if (aim.kind === 'add') byDestination.set(destination, [...there, aim.route]);
    return aim;
  });
}

function aimOne(
  { node, addresses, destination: wanted, replaces = [] }: RouteRequest,
  there: readonly ExtraRoute[],
): Aim {
  const cidr = parseCidr(wanted);
  if (!cidr) return failed('invalid', `the destination ${quote(wanted)} is no CIDR range`);
  const destination = cidr.text;
  const hops = addresses.filter(isInternal).flatMap(({ address }) => canonicalIp(address) ?? []);
  const own = hops.filter((hop) => familyOf(hop) === cidr.family);
  const right = there.find((route) => own.includes(canonicalHop(route)));
  if (right) return { kind: 'exists', route: right, node };
  const old = new Set(replaces.map(({ id }) => id));
  const inTheWay = there.find((route) => !old.has(routeOf(route).id));
  if (inTheWay) {
    const { id } = routeOf(inTheWay);
    return failed('conflict', `the router has the route ${id}, which does not lead to node ${node.name}`);
  }
  // The first, as cloud-provider-openstack's `getAddrByNodeName` takes it.
  const [nexthop] = own;
  if (nexthop === undefined) {
    const why = `node ${node.name} has no InternalIP of IPv${cidr.family} for the route ${destination} to lead to`;
    return failed('conflict', `${why}: give it one, or no pod CIDR of that family`);
  }
  return { kind: 'add', route: { destination, nexthop }, node };
}

function isInternal({ type }: NodeAddress): boolean {
  return type === 'InternalIP';
}

function failed(code: 'invalid' | 'conflict', message: string): Aim {
  return { kind: 'failed', error: new CloudError(code, message) };
}
