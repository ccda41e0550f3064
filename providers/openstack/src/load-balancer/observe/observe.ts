/** What there is for each Service of a batch. Entry point: `Observer`. */
import {
  asError,
  isCloudError,
  sameOwner,
  type CallContext,
  type Clock,
  type ForeignThing,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { groupPairs } from '../../group-pairs.ts';
import type { Home } from '../../home.ts';
import type { FloatingIPWish } from '../desired/desired-tree.ts';
import type { LoadBalancerSettings } from '../desired/service-options.ts';
import type { ThingKind } from '../foreign-things.ts';
import type { LearnedFacts } from '../learned-facts.ts';
import type { WireFloatingIP, WirePort, WireSecurityGroup } from '../neutron-wire.ts';
import type { ObservedChildren, PartKind } from '../observed-tree.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';
import { markOf, ownersIn, ownerTag, sharerTag, type OwnerMark } from '../ownership.ts';
import {
  cpoFloatingIPText,
  identityOf,
  relationOf,
  type ClusterNames,
  type ServiceIdentity,
} from '../service-identity.ts';
import { hasPredecessorsShare, isClaimable } from '../predecessor.ts';
import { FloatingNetworks, type ExternalNetwork } from './floating-networks.ts';
import { observeForeignThings } from './foreign-things.ts';
import { KnownMembers } from './known-members.ts';
import type { LatenessTracker } from './lateness.ts';
import { ListSizes } from './list-sizes.ts';
import { floatingIPPart, loadBalancerPart, ownedParts, securityGroupPart, type Related } from './parts.ts';
import { readChildren, type Children, type ChildrenMemory } from './read-children.ts';
import {
  listLoadBalancers,
  readLists,
  readLoadBalancer,
  readPortsOfGroups,
  readSecurityGroups,
  type SubnetCidrs,
  type Lists,
} from './read-lists.ts';

export interface ObserverOptions extends ClusterNames {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly home: Home;
  readonly facts: LearnedFacts;
  readonly lateness: LatenessTracker;
  readonly externalNetwork: ExternalNetwork;
  readonly subnets: SubnetCidrs;
  readonly config: () => LoadBalancerSettings;
  /** For a load balancer that this driver has made. Of a Service that is refused: none. */
  readonly floatingWish: (service: LoadBalancerService, driver: string | undefined) => FloatingIPWish;
}

/** Services whose load balancers are asked for by their tags: two for each, in one URL of some 4 KB. */
const MOST_TAGGED = 20;
/** Of a Service that no tag leads to: those of its two names. */
const REQUESTS_FOR_UNKNOWN = 2;

/** One of a list, its mark read once for all Services that look for their own in it. */
interface Marked<T> {
  readonly wire: T;
  readonly mark: OwnerMark | undefined;
}

const marked = <T extends WireFloatingIP | WireSecurityGroup>(wire: T): Marked<T> => ({
  wire,
  mark: markOf(wire.description ?? '', wire.tags ?? []),
});

interface Marks {
  readonly floatingIPs: readonly Marked<WireFloatingIP>[];
  /** The same, as they were listed. */
  readonly plainIPs: readonly WireFloatingIP[];
  readonly securityGroups: readonly Marked<WireSecurityGroup>[];
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #memory: ChildrenMemory;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#memory = {
      lateness: options.lateness,
      members: new KnownMembers(),
      sizes: new ListSizes(),
    };
  }

  async observe(
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<readonly LoadBalancerObservation[]> {
    const client = this.#options.client;
    const identities = services.map((service) => identityOf(service, this.#options));
    const { lateness, sizes } = this.#memory;
    const isFew =
      services.length <= MOST_TAGGED && !sizes.isWorthIt('loadbalancers', services.length, REQUESTS_FOR_UNKNOWN);
    const lists = await readLists(client, call, isFew ? this.#findTagged(identities, call) : undefined);
    if (!isFew) sizes.note('loadbalancers', lists.loadBalancers.length);
    const unlisted = await this.#readUnlisted(identities, lists, call);
    const shown = [...lists.loadBalancers, ...[...unlisted.values()].filter((one) => isLoadBalancer(one))];
    const floatingIPs = lists.floatingIPs.map(marked);
    const more = isFew ? await this.#findMore(identities, shown, floatingIPs, call) : [];
    const all = [...new Map([...shown, ...more].map((one) => [one.id, one])).values()];
    const places = placesByTrait(all);
    const related = identities.map((identity) => relatedOf(all, places, identity));
    const wanted = related.flat().filter(({ relation, wire }) => relation !== 'namesake' && isSettled(wire));
    const ids = [...new Set(wanted.map(({ wire }) => wire.id))];
    const children = await readChildren(client, ids, this.#memory, call);
    const groupIDs = lists.securityGroups
      .map(marked)
      .filter((group) => identities.some((identity) => groupRelation(group, identity) !== undefined))
      .map(({ wire }) => wire.id);
    const [securityGroups, ports] = await Promise.all([
      readSecurityGroups(client, groupIDs, call),
      readPortsOfGroups(client, groupIDs, call),
    ]);
    const found = { plainIPs: lists.floatingIPs, floatingIPs, securityGroups: securityGroups.map(marked) };
    const byVip = new Map(all.map((one) => [one.vip_port_id, one]));
    const networks = new FloatingNetworks(client, this.#options.externalNetwork, call);
    lateness.prune();
    this.#options.facts.prune();
    return Promise.all(
      identities.map(async (identity, i): Promise<LoadBalancerObservation> => {
        try {
          const unread = identity.named.map((id) => unlisted.get(id)).find((one) => one instanceof Error);
          if (unread) throw unread;
          const parts = await this.#partsOf(identity, related[i] ?? [], found, children, ports, byVip, networks, call);
          const seen = { all, floatingIPs: lists.floatingIPs, parts };
          const config = this.#options.config();
          const others = [
            ...hiddenThings(identity, unlisted),
            ...(await observeForeignThings(identity, seen, { client, config }, call)),
          ];
          return { kind: 'parts', parts, ...(others.length > 0 && { others }) };
        } catch (error) {
          return { kind: 'failed', error: asError(error) };
        }
      }),
    );
  }

  async listOwned(call: CallContext): Promise<readonly LoadBalancerPart[]> {
    return ownedParts(await readLists(this.#options.client, call), this.#options.cluster.id);
  }

  /** In place of all of the project: those with the tag of an owner or sharer. */
  #findTagged(identities: readonly ServiceIdentity[], call: CallContext): Promise<readonly WireLoadBalancer[]> {
    const tags = identities.flatMap(({ owner }) => [ownerTag(owner), sharerTag(owner)]);
    return listLoadBalancers(this.#options.client, [['tags-any', tags.join(',')]], call);
  }

  /**
   * What no tag of a Service's leads to: where nothing else says which is its own, those of its name; and those on whose VIPs its
   * floating IPs are.
   */
  async #findMore(
    identities: readonly ServiceIdentity[],
    loadBalancers: readonly WireLoadBalancer[],
    floatingIPs: readonly Marked<WireFloatingIP>[],
    call: CallContext,
  ): Promise<readonly WireLoadBalancer[]> {
    const unknown = identities.filter((identity) => !loadBalancers.some((one) => relationOf(one, identity)));
    const names = unknown.flatMap((one) => one.names.flatMap(({ legacy, loadBalancer }) => [loadBalancer, legacy]));
    const ours = floatingIPs.filter(({ mark }) => mark && identities.some(({ owner }) => sameOwner(mark.owner, owner)));
    const ports = ours
      .flatMap(({ wire: { port_id: port } }) => (port === null ? [] : [port]))
      .filter((port) => !loadBalancers.some((one) => one.vip_port_id === port));
    const filters = [
      ...[...new Set(names)].map((name) => ['name', name] as const),
      ...[...new Set(ports)].map((port) => ['vip_port_id', port] as const),
    ];
    const lists = filters.map((filter) => listLoadBalancers(this.#options.client, [filter], call));
    return (await Promise.all(lists)).flat();
  }

  /** A list proves presence only: what a Service names and no list shows is asked for by its ID. */
  async #readUnlisted(
    identities: readonly ServiceIdentity[],
    { loadBalancers }: Lists,
    call: CallContext,
  ): Promise<ReadonlyMap<string, Unlisted>> {
    const listed = new Set(loadBalancers.map(({ id }) => id));
    const missing = new Set(identities.flatMap(({ named }) => named).filter((id) => !listed.has(id)));
    const adopted = new Set(identities.flatMap(({ service }) => service.adopt?.map(({ id }) => id) ?? []));
    const read = [...missing].map(async (id): Promise<[string, Unlisted]> => {
      try {
        return [id, await readLoadBalancer(this.#options.client, id, call)];
      } catch (error) {
        const isHidden = !adopted.has(id) && (await this.#isElsewhere(id, error, call));
        return [id, isHidden ? 'hidden' : asError(error)];
      }
    });
    return new Map(await Promise.all(read));
  }

  /** Octavia says 403 of what another project has: that is not the cluster's, where this is known to be its place. */
  async #isElsewhere(id: string, error: unknown, call: CallContext): Promise<boolean> {
    if (!isCloudError(error, 'forbidden')) return false;
    const gone = { kind: 'load-balancer', id, proof: error.message, isEarly: true };
    return this.#options.home.partGone(gone, call).then(
      () => true,
      () => false,
    );
  }

  async #partsOf(
    identity: ServiceIdentity,
    related: readonly Related[],
    { floatingIPs, plainIPs, securityGroups }: Marks,
    children: ReadonlyMap<string, Children | Error>,
    ports: readonly WirePort[],
    byVip: ReadonlyMap<string | null, WireLoadBalancer>,
    networks: FloatingNetworks,
    call: CallContext,
  ): Promise<readonly LoadBalancerPart[]> {
    const { facts, floatingWish: wishOf } = this.#options;
    const parts: LoadBalancerPart[] = [];
    const ownVips = new Set<string | null>();
    for (const one of related) {
      const below = children.get(one.wire.id);
      if (below instanceof Error) throw below;
      const part = loadBalancerPart(one, identity, {
        children: below && (await this.#withSubnets(one.wire, below, call)),
        late: this.#memory.lateness.ofLoadBalancer(one.wire.id, one.wire.provisioning_status),
        floatingIPs: plainIPs,
        floatingNetwork:
          one.relation === 'shared'
            ? undefined
            : await networks.of(
                one.wire,
                { requestedIP: identity.service.requestedIP, wish: () => wishOf(identity.service, one.wire.provider) },
                plainIPs,
              ),
      });
      parts.push(part);
      // Naming a load balancer makes nobody its owner, nor its address's.
      if (one.relation === 'own' || isClaimable(part, identity)) ownVips.add(one.wire.vip_port_id);
      else if (one.relation === 'named' && hasPredecessorsShare(part, identity)) {
        // After the load balancer itself, which is what a Service that is to be served joins.
        const kind: PartKind = 'shared-load-balancer';
        parts.push({ ...part, kind, owner: identity.owner });
      }
    }
    for (const { mark, wire: one } of floatingIPs) {
      const isOurs = mark && sameOwner(mark.owner, identity.owner);
      const isPredecessors =
        !mark && one.description?.startsWith(cpoFloatingIPText) && one.port_id !== null && ownVips.has(one.port_id);
      const isAdopted = identity.service.adopt?.some(({ kind, id }) => kind === 'floating-ip' && id === one.id);
      if (!isOurs && !isPredecessors && !isAdopted) continue;
      const under = one.port_id === null ? undefined : byVip.get(one.port_id);
      const loadBalancerOwner = ownersIn(under?.tags ?? []).owner;
      parts.push(floatingIPPart(one, mark, { loadBalancerOwner, triedTags: facts.hasTriedTags(one.id) }));
    }
    for (const group of securityGroups) {
      const relation = groupRelation(group, identity);
      if (relation) {
        const { wire } = group;
        const owner = relation === 'own' ? identity.owner : undefined;
        const without = facts.membersWithoutGroup(wire.id);
        parts.push(securityGroupPart(wire, { owner, ports, without, triedTags: facts.hasTriedTags(wire.id) }));
      }
    }
    return parts;
  }

  async #withSubnets(wire: WireLoadBalancer, children: Children, call: CallContext): Promise<ObservedChildren> {
    // Only then the subnets' CIDRs are of interest.
    if (!this.#options.config().loadBalancer.manageSecurityGroups) return { ...children, subnetCidrs: {} };
    const pools = [...children.loosePools, ...children.listeners.flatMap(({ pool }) => (pool ? [pool] : []))];
    const vips = [wire.vip_subnet_id, ...(wire.additional_vips ?? []).map((one) => one.subnet_id)];
    const ids = [...vips, ...pools.flatMap(({ members }) => members.map(({ subnetId }) => subnetId))];
    const subnetCidrs = await this.#options.subnets.read(
      this.#options.client,
      ids.filter((id) => id !== null),
      call,
    );
    return { ...children, subnetCidrs };
  }
}

/** Only then anything below it can be changed. */
const isSettled = ({ provisioning_status: status }: WireLoadBalancer): boolean =>
  status === 'ACTIVE' || status === 'ERROR';

/** `hidden`: another project's. */
type Unlisted = WireLoadBalancer | Error | 'hidden' | undefined;

const isLoadBalancer = (one: Unlisted): one is WireLoadBalancer => typeof one === 'object' && !(one instanceof Error);

/** What the Service names, and no Service of the cluster may use. */
function hiddenThings({ named }: ServiceIdentity, unlisted: ReadonlyMap<string, Unlisted>): readonly ForeignThing[] {
  const kind: ThingKind = 'load-balancer';
  return named.filter((id) => unlisted.get(id) === 'hidden').map((id) => ({ kind, id, allowed: [] }));
}

/** Places in the list, by all that a Service can be related to a load balancer by: it is compared with its own alone. */
function placesByTrait(all: readonly WireLoadBalancer[]): ReadonlyMap<string, readonly number[]> {
  return groupPairs(
    all.flatMap(({ id, name, tags = [] }, at) => [id, name, ...tags].map((trait) => [trait, at] as const)),
  );
}

/** In the order of the list. Namesakes only where nothing else says which is meant. */
function relatedOf(
  all: readonly WireLoadBalancer[],
  places: ReadonlyMap<string, readonly number[]>,
  identity: ServiceIdentity,
): readonly Related[] {
  const { named, names, owner } = identity;
  const traits = [
    ownerTag(owner),
    sharerTag(owner),
    ...named,
    ...names.flatMap((one) => [one.loadBalancer, one.legacy]),
  ];
  const near = new Set(traits.flatMap((trait) => places.get(trait) ?? []));
  const related = [...near]
    .sort((a, b) => a - b)
    .flatMap((at): readonly Related[] => {
      const wire = all[at];
      const relation = wire && relationOf(wire, identity);
      return relation ? [{ wire, relation }] : [];
    });
  const sure = related.filter(({ relation }) => relation !== 'namesake');
  return sure.length > 0 ? sure : related;
}

/** The name holds the Service's UID: a predecessor's is known by it. */
function groupRelation(
  { mark, wire: { id, name } }: Marked<WireSecurityGroup>,
  { names, owner, service }: ServiceIdentity,
): 'own' | 'unclaimed' | undefined {
  if (mark) return sameOwner(mark.owner, owner) ? 'own' : undefined;
  const isAdopted = service.adopt?.some((one) => one.kind === 'security-group' && one.id === id);
  return isAdopted || names.some(({ securityGroup }) => securityGroup === name) ? 'unclaimed' : undefined;
}
