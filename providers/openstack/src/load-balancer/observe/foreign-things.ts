/** What each Service names, or has attached to its load balancer, and that is no part of its own. */
import {
  canonicalAddress,
  sameOwner,
  type CallContext,
  type ForeignThing,
  type LoadBalancerPart,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { readIfThere } from '../../client/read-one.ts';
import type { LoadBalancerSettings } from '../desired/service-options.ts';
import { foreignFloatingIP, foreignLoadBalancer, grantedIn } from '../foreign-things.ts';
import { namedPlaces, newPlaces } from '../named-places.ts';
import type { WireFloatingIP, WireNamed } from '../neutron-wire.ts';
import { observeSecondPlace, placeOfFirst } from './second-place.ts';
import { loadBalancerIn } from '../observed-tree.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';
import { isClaimable } from '../predecessor.ts';
import type { ServiceIdentity } from '../service-identity.ts';

interface Seen {
  readonly all: readonly WireLoadBalancer[];
  readonly floatingIPs: readonly WireFloatingIP[];
  readonly parts: readonly LoadBalancerPart[];
}

export async function observeForeignThings(
  identity: ServiceIdentity,
  seen: Seen,
  { client, config }: { readonly client: ApiClient; readonly config: LoadBalancerSettings },
  call: CallContext,
): Promise<readonly ForeignThing[]> {
  const around = { clusters: identity.clusterNames, allowsAll: config.loadBalancer.allowAllNamedResources };
  return [
    ...loadBalancersOf(identity, seen, around),
    ...floatingIPsOf(identity, seen, around),
    ...(await placesOf(identity, seen, { client, config }, call)),
  ];
}

function loadBalancersOf(
  identity: ServiceIdentity,
  { all, parts }: Seen,
  around: Parameters<typeof foreignLoadBalancer>[1],
): readonly ForeignThing[] {
  const { named } = identity;
  if (named.length === 0) return [];
  const isOfTheirs = ({ id }: WireLoadBalancer): boolean => {
    const part = parts.find((one) => one.id === id && one.kind === 'load-balancer');
    return !!part && !sameOwner(part.owner, identity.owner) && !isClaimable(part, identity);
  };
  return all.filter((one) => named.includes(one.id) && isOfTheirs(one)).map((one) => foreignLoadBalancer(one, around));
}

/** The one that it asks for, and those on the VIPs of its own. */
function floatingIPsOf(
  { owner, service }: ServiceIdentity,
  { floatingIPs, parts }: Seen,
  around: Parameters<typeof foreignFloatingIP>[2],
): readonly ForeignThing[] {
  const balancers = parts.filter(({ kind, owner: whose }) => kind === 'load-balancer' && sameOwner(whose, owner));
  const attached = new Set(balancers.flatMap((part) => loadBalancerIn(part).floatingIPs.map(({ id }) => id)));
  const servedAt = { namespace: service.namespace, addresses: service.ingress.map(({ ip }) => ip) };
  const asked = canonicalAddress(service.requestedIP ?? '');
  return floatingIPs
    .filter((one) => attached.has(one.id) || one.floating_ip_address === asked)
    .filter(({ id }) => !parts.some((part) => part.kind === 'floating-ip' && part.id === id && part.owner))
    .map((one) => foreignFloatingIP(one, servedAt, around));
}

/** Asked for one by one. */
async function placesOf(
  identity: ServiceIdentity,
  { parts }: Seen,
  { client, config }: { readonly client: ApiClient; readonly config: LoadBalancerSettings },
  call: CallContext,
): Promise<readonly ForeignThing[]> {
  const allowsAll = config.loadBalancer.allowAllNamedResources;
  const named = newPlaces(
    namedPlaces(identity.service, config),
    parts.filter(({ kind }) => kind === 'load-balancer'),
    identity,
  );
  const isNew = !parts.some(({ kind }) => kind === 'load-balancer');
  const firstPlace = isNew ? placeOfFirst(identity.service, named) : undefined;
  const seen = named.map(async (place): Promise<readonly ForeignThing[]> => {
    const { id, kind } = place;
    const isFirst = place === firstPlace;
    const first =
      allowsAll && !isFirst ? undefined : await readIfThere<WireNamed>(client, ['network', `/v2.0/${kind}s`], id, call);
    const allowed = [...grantedIn(first?.tags ?? []), ...(allowsAll ? ['*'] : [])];
    const second =
      first &&
      isFirst &&
      (await observeSecondPlace({ allowed, first, service: identity.service }, { client, config }, call));
    return [{ kind, id, allowed }, ...(second ? [second] : [])];
  });
  return (await Promise.all(seen)).flat();
}
