/**
 * What a Service names by annotation and that may be another's: subnets, security groups, Elastic IPs. It may use one that the
 * administrator of the account has set aside for its namespace by a tag, a subnet of the cluster, and what its load balancer has already.
 */
import {
  CloudError,
  quote,
  type CallContext,
  type DesiredLoadBalancer,
  type ForeignThing,
  type LoadBalancerPart,
  type PartName,
} from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { ServiceSettings } from './annotations/service-settings.ts';
import { CLASSIC, LOAD_BALANCER } from './frame.ts';
import { GRANT_TAG, grantedIn } from './grants.ts';
import type { NetworkFacts, SubnetFacts, SubnetLeave } from './subnets/network-facts.ts';

type Named = Pick<ServiceSettings, 'subnets' | 'eipAllocations' | 'groups' | 'type'>;

export interface NamedThingsOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly network: { readonly facts: NetworkFacts | undefined };
}

const SUBNET = 'subnet';
const GROUP = 'security-group';
const ADDRESS = 'elastic-ip';

export class NamedThings {
  readonly #options: NamedThingsOptions;

  constructor(options: NamedThingsOptions) {
    this.#options = options;
  }

  /** All that the Service names, with whom each is for. A request is made only where its load balancer does not have the thing yet. */
  async othersOf(
    settings: Named,
    own: readonly LoadBalancerPart[],
    call: CallContext,
  ): Promise<readonly ForeignThing[]> {
    const { client, network } = this.#options;
    // One of the other kind, or one that cannot be changed yet, has nothing for the one that is asked for.
    const kind = settings.type === 'nlb' ? LOAD_BALANCER : CLASSIC;
    const inUse = textOf(own.filter((part) => part.kind === kind && part.state === 'ready'));
    const asks = (ids: readonly string[]): boolean => ids.some((id) => !inUse.includes(JSON.stringify(id)));
    const groups = groupsIn(settings);
    const addresses = settings.eipAllocations;
    const granted = new Map<string, readonly string[]>();
    if (asks(groups)) {
      const Filters = [{ Name: 'group-id', Values: groups }];
      const { SecurityGroups = [] } = await client.ec2(call, 'DescribeSecurityGroups', { Filters });
      for (const { GroupId = '', Tags } of SecurityGroups) granted.set(GroupId, grantedIn(Tags));
    }
    if (asks(addresses)) {
      const Filters = [{ Name: 'allocation-id', Values: addresses }];
      const { Addresses = [] } = await client.ec2(call, 'DescribeAddresses', { Filters });
      for (const { AllocationId = '', Tags } of Addresses) granted.set(AllocationId, grantedIn(Tags));
    }
    const things = (kind: string, ids: readonly string[]): readonly ForeignThing[] =>
      ids.map((id) => ({ kind, id, allowed: granted.get(id) ?? [] }));
    return [
      ...subnetsNamed(network.facts, settings.subnets).map((one) => ({
        kind: SUBNET,
        id: one.id,
        allowed: one.cluster === 'own' ? ['*'] : one.allowed,
      })),
      ...things(GROUP, groups),
      ...things(ADDRESS, addresses),
    ];
  }
}

/**
 * What the load balancer would get that it does not have yet, of what the Service names. Pure. Throws `not-owned` for what it may not
 * use: one text for what is another's and for what there is not, since who asks may not find out which.
 */
export function touchesOf(
  { others = [], service }: Pick<DesiredLoadBalancer, 'others' | 'service'>,
  settings: Named,
  present: Pick<LoadBalancerPart, 'attributes'> | undefined,
  subnetIds: readonly string[],
): readonly PartName[] {
  const inUse = textOf(present ? [present] : []);
  const named = [
    ...(settings.subnets.length === 0 ? [] : subnetIds.map((id) => ({ kind: SUBNET, id }))),
    ...groupsIn(settings).map((id) => ({ kind: GROUP, id })),
    ...settings.eipAllocations.map((id) => ({ kind: ADDRESS, id })),
  ];
  const touched = named.filter(({ id }) => !inUse.includes(JSON.stringify(id)));
  const refused = others.find(
    (one) => !one.mayUse && touched.some(({ id, kind }) => one.id === id && one.kind === kind),
  );
  if (refused) throw mayNotUse(`${refused.kind} ${refused.id}`, service.namespace);
  return touched;
}

/** `what`: as the Service names it. */
function mayNotUse(what: string, namespace: string): CloudError {
  const message = `${what} does not exist, or may not be used by Services of the namespace ${namespace}; choose another, or have the administrator of the account set it aside with the tag ${GRANT_TAG}=${namespace}`;
  return new CloudError('not-owned', message);
}

/** Of subnets: of those that the Service may not use nothing is told, not even by a name that is theirs. */
export function maySee({ others = [], service }: Pick<DesiredLoadBalancer, 'others' | 'service'>): SubnetLeave {
  const closed = new Set(others.filter(({ kind, mayUse }) => kind === SUBNET && !mayUse).map(({ id }) => id));
  return {
    namespace: service.namespace,
    mayUse: (id) => !closed.has(id),
    refused: (name) => mayNotUse(`${SUBNET} ${quote(name)}`, service.namespace),
  };
}

/** Of both kinds of load balancers, and nothing else: there is much that a Service writes as it likes. */
const textOf = (parts: readonly Pick<LoadBalancerPart, 'attributes'>[]): string =>
  JSON.stringify(parts.map(({ attributes: { securityGroups, subnets, zones } }) => [securityGroups, subnets, zones]));

/** The one of the cloud config needs no leave: the administrator has named it. */
const groupsIn = ({ groups }: Pick<Named, 'groups'>): readonly string[] => [
  ...new Set([...(groups.isOfConfig ? [] : groups.named), ...groups.extra]),
];

function subnetsNamed(facts: NetworkFacts | undefined, names: readonly string[]): readonly SubnetFacts[] {
  return (facts?.subnets ?? []).filter(
    ({ id, name }) => names.includes(id) || (name !== undefined && names.includes(name)),
  );
}
