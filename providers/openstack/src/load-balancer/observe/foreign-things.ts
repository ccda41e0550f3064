/** What each Service names, or has attached to its load balancer, and that is no part of its own. */
import { sameOwner, type CallContext, type ForeignThing, type LoadBalancerPart } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { readIfThere } from '../../client/read-one.ts';
import { isUuid } from '../../uuid.ts';
import { annotationTable } from '../desired/annotation-table.ts';
import type { LoadBalancerSettings } from '../desired/service-options.ts';
import { foreignFloatingIP, foreignLoadBalancer, grantedIn, type ThingKind } from '../foreign-things.ts';
import type { WireFloatingIP, WireNamed } from '../neutron-wire.ts';
import { loadBalancerIn } from '../observed-tree.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';
import { isClaimable } from '../predecessor.ts';
import type { ServiceIdentity } from '../service-identity.ts';

interface Seen {
  readonly all: readonly WireLoadBalancer[];
  readonly floatingIPs: readonly WireFloatingIP[];
  readonly parts: readonly LoadBalancerPart[];
}

/** Where a load balancer is placed when it is made, by the annotations that say so. */
const PLACES = [
  { kind: 'port', collection: 'ports', keys: ['portId'] },
  { kind: 'network', collection: 'networks', keys: ['networkId'] },
  { kind: 'subnet', collection: 'subnets', keys: ['subnetId', 'memberSubnetId'] },
] as const;

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
  return floatingIPs
    .filter((one) => attached.has(one.id) || one.floating_ip_address === service.requestedIP)
    .filter(({ id }) => !parts.some((part) => part.kind === 'floating-ip' && part.id === id && part.owner))
    .map((one) => foreignFloatingIP(one, servedAt, around));
}

/** Asked for one by one, and only as long as there is no load balancer; what the cloud config says too needs no leave. */
async function placesOf(
  { owner, service }: ServiceIdentity,
  { parts }: Seen,
  { client, config }: { readonly client: ApiClient; readonly config: LoadBalancerSettings },
  call: CallContext,
): Promise<readonly ForeignThing[]> {
  if (parts.some((part) => part.kind.endsWith('load-balancer') && sameOwner(part.owner, owner))) return [];
  const configured = configuredIn(config);
  const allowsAll = config.loadBalancer.allowAllNamedResources;
  const named = PLACES.flatMap(({ kind, collection, keys }) => {
    const ids = keys.map((key) => service.annotations[annotationTable[key].name]?.toLowerCase() ?? '');
    return [...new Set(ids)].filter((id) => isUuid(id) && !configured.has(id)).map((id) => ({ kind, collection, id }));
  });
  return Promise.all(
    named.map(async ({ kind, collection, id }): Promise<ForeignThing> => {
      const there = allowsAll
        ? { tags: [] }
        : await readIfThere<WireNamed>(client, ['network', `/v2.0/${collection}`], id, call);
      const allowed = [...grantedIn(there?.tags ?? []), ...(allowsAll ? ['*'] : [])];
      return { kind: kind satisfies ThingKind, id, allowed };
    }),
  );
}

function configuredIn({ loadBalancer, loadBalancerClasses }: LoadBalancerSettings): ReadonlySet<string> {
  const all = [loadBalancer, ...loadBalancerClasses.values()];
  const ids = all.flatMap(({ memberSubnetId, networkId, subnetId }) => [memberSubnetId, networkId, subnetId]);
  return new Set(ids.flatMap((id) => (id ? [id.toLowerCase()] : [])));
}
