/** In which subnet the second VIP of a Service would lie that has named the place of the first: leave for that is none for this. */
import type { CallContext, ForeignThing, LoadBalancerService } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { readIfThere } from '../../client/read-one.ts';
import { annotationTable } from '../desired/annotation-table.ts';
import type { NamedPlace } from '../desired/desired-tree.ts';
import type { LoadBalancerSettings } from '../desired/service-options.ts';
import { grantedIn, type ThingKind } from '../foreign-things.ts';
import { configuredPlaces } from '../named-places.ts';
import type { WireNamed } from '../neutron-wire.ts';
import { listSubnetsOf } from './read-lists.ts';

/** The one of `named` beside which a second VIP would lie, where the Service wants two. */
export function placeOfFirst(
  { annotations, ipFamilies }: Pick<LoadBalancerService, 'annotations' | 'ipFamilies'>,
  named: readonly NamedPlace[],
): NamedPlace | undefined {
  if (ipFamilies.length < 2) return undefined;
  const subnetId = annotations[annotationTable.subnetId.name]?.toLowerCase();
  return (
    named.find(({ kind }) => kind === 'port') ?? named.find(({ id, kind }) => kind === 'subnet' && id === subnetId)
  );
}

/** `undefined`: there is none, or it cannot be told which. A port is allowed with the subnets in which it has addresses. */
export async function observeSecondPlace(
  {
    allowed,
    first,
    service,
  }: Pick<ForeignThing, 'allowed'> & {
    readonly first: WireNamed;
    readonly service: Pick<LoadBalancerService, 'ipFamilies'>;
  },
  { client, config }: { readonly client: ApiClient; readonly config: LoadBalancerSettings },
  call: CallContext,
): Promise<ForeignThing | undefined> {
  const { fixed_ips: addresses = [], network_id: networkId } = first;
  const [, family] = service.ipFamilies;
  if (networkId === undefined || family === undefined) return undefined;
  const [subnet, ...others] = await listSubnetsOf(client, networkId, family, call);
  if (!subnet || others.length > 0) return undefined;
  const { id, tags = [] } = subnet;
  const kind: ThingKind = 'subnet';
  const configured = configuredPlaces(config);
  if (config.loadBalancer.allowAllNamedResources || configured.has(networkId) || configured.has(id))
    return { kind, id, allowed: ['*'] };
  const network = await readIfThere<WireNamed>(client, ['network', '/v2.0/networks'], networkId, call);
  const ofPort = addresses.some(({ subnet_id }) => subnet_id === id) ? allowed : [];
  return { kind, id, allowed: [...new Set([...ofPort, ...grantedIn(tags), ...grantedIn(network?.tags ?? [])])] };
}
