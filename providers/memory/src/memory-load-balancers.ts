/** Load balancers of the memory cloud: an address, the load balancer, a firewall and a DNS record, or fewer, each found by its tags, of which there is one of a kind. */
import {
  asError,
  CloudError,
  isCloudError,
  parseProviderID,
  sameOwner,
  type BackEnd,
  type CallContext,
  type ClusterIdentity,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerFeatures,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
  type LoadBalancerService,
  type LoadBalancerVerdict,
  type PartAnswer,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import type { CloudClient } from './cloud-client.ts';
import type { MemoryPart } from './cloud-model.ts';

/** In the order of making; they go in the opposite one. */
export const loadBalancerParts = ['address', 'load-balancer', 'firewall', 'dns'] as const;
export type PartKind = (typeof loadBalancerParts)[number];

/** How often a part that is being made is looked at. */
const POLL_MS = 500;

type Wanted = Readonly<Record<string, unknown>>;

export class MemoryLoadBalancers implements LoadBalancers {
  readonly classes: readonly string[];
  readonly annotations: LoadBalancers['annotations'] = [];
  /** The cloud has one part of a kind for an owner, and can be asked for it. */
  readonly namedByOwner: readonly string[] = loadBalancerParts;
  readonly features: LoadBalancerFeatures = {
    protocols: ['TCP', 'UDP'],
    mixedProtocols: true,
    ipFamilies: ['IPv4'],
    dualStack: false,
    sessionAffinity: false,
    externalTrafficPolicyLocal: true,
    sourceRanges: true,
    withoutNodePorts: false,
    requestedIP: false,
  };
  readonly #client: () => CloudClient;
  readonly #cluster: ClusterIdentity;
  readonly #name: string;
  readonly #kinds: readonly PartKind[];

  /** `name`: the provider's. `kinds`: of the parts that each has, in the order of `loadBalancerParts`; with the load balancer at least. */
  constructor(
    client: () => CloudClient,
    cluster: ClusterIdentity,
    name: string,
    kinds: readonly PartKind[] = loadBalancerParts,
  ) {
    this.classes = [`outrigger.dev/${name}`];
    this.#client = client;
    this.#cluster = cluster;
    this.#name = name;
    this.#kinds = kinds;
  }

  /** A provider's back ends are its own nodes only. */
  selectBackEnds(_service: LoadBalancerService, backEnds: readonly BackEnd[]): readonly BackEnd[] {
    return backEnds.filter(({ node }) => parseProviderID(node.providerID, this.#name) !== undefined);
  }

  /** What its own plan would refuse, and whether there is room for what it lacks. */
  async validate(service: LoadBalancerService, call: CallContext): Promise<LoadBalancerVerdict> {
    const [all, quota] = await Promise.all([
      this.#list(call),
      this.#client().request<{ parts?: number }>(call, 'GET /quota', { method: 'GET', path: '/quota' }),
    ]);
    const owner = { clusterId: this.#cluster.id, uid: service.uid };
    const parts = all.filter((part) => this.#concerns(part, service));
    const { refused } = this.plan({ service, wanted: true, owner, backEnds: [] }, parts);
    if (isCloudError(refused, 'not-owned')) return { refused };
    const there = parts.filter((part) => part.owner?.uid === service.uid).length;
    const room = (quota.parts ?? Number.POSITIVE_INFINITY) - all.length;
    const warnings = [
      ...(refused ? [refused.message] : []),
      ...(room < this.#kinds.length - there
        ? [`the quota leaves room for ${Math.max(0, room)} more parts of load balancers`]
        : []),
    ];
    return { warnings };
  }

  async observe(
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<readonly LoadBalancerObservation[]> {
    const all = await this.#list(call);
    return services.map((service) => ({
      kind: 'parts',
      parts: all.filter((part) => this.#concerns(part, service)),
    }));
  }

  plan(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    const own = parts.filter(({ owner }) => sameOwner(owner, desired.owner));
    const claims = parts.filter(({ owner }) => owner === undefined);
    if (claims.length > 0) return planClaiming(claims);
    const foreign = parts.find((part) => !own.includes(part));
    if (desired.wanted && foreign) return refuse(foreign, desired.owner.clusterId);
    return desired.wanted ? planMaking(desired, own, this.#kinds) : planRemoving(own);
  }

  /** Of the parts only the load balancer knows of nodes. */
  planMembers({ owner, backEnds }: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    const there = parts.find((part) => part.kind === 'load-balancer' && sameOwner(part.owner, owner));
    // Without one, there is no member that could be wrong.
    if (!there) return { actions: [], ingress: [], complete: true };
    const input = { ...there.attributes, backEnds: idsOf(backEnds) };
    if (holds(there.attributes, input)) return { actions: [], ingress: [] };
    const summary = `send it to ${backEnds.length} nodes`;
    return { actions: [{ ...updateOf(there, input), summary }], ingress: [] };
  }

  async apply(
    action: LoadBalancerAction,
    { owner }: DesiredLoadBalancer,
    call: CallContext,
  ): Promise<LoadBalancerActionResult> {
    const { kind, part, id = '', input } = action;
    const path = `/parts/${encodeURIComponent(id)}`;
    switch (kind) {
      case 'create': {
        const body = { kind: part, tags: { clusterId: owner.clusterId, uid: owner.uid }, attributes: input };
        const request = { method: 'POST', path: '/parts', body } as const;
        const { id, state } = await this.#client().request<MemoryPart>(call, 'POST /parts', request);
        return { ...resultOf(id, state), made: { kind: part, id } };
      }
      case 'update': {
        const request = { method: 'PUT', path, body: { attributes: input } } as const;
        const { state } = await this.#client().request<MemoryPart>(call, 'PUT /parts/{id}', request);
        return resultOf(id, state);
      }
      case 'delete':
        try {
          await this.#client().request(call, 'DELETE /parts/{id}', { method: 'DELETE', path });
        } catch (error) {
          if (!isCloudError(error, 'not-found')) throw error;
        }
        return { kind: 'done' };
      default: {
        const body = { tags: { clusterId: owner.clusterId, uid: owner.uid } };
        await this.#client().request(call, 'PUT /parts/{id}', { method: 'PUT', path, body });
        return { kind: 'done' };
      }
    }
  }

  read(parts: readonly PartQuestion[], call: CallContext): Promise<readonly PartAnswer[]> {
    return Promise.all(parts.map((part) => this.#readOne(part, call)));
  }

  async listOwned(call: CallContext): Promise<readonly LoadBalancerPart[]> {
    const all = await this.#list(call);
    return all.filter(({ owner }) => owner?.clusterId === this.#cluster.id);
  }

  /** Its own parts, a predecessor's by their address, those that it is to take over, and whoever has its DNS name. */
  #concerns({ kind, id, owner, attributes }: LoadBalancerPart, service: LoadBalancerService): boolean {
    if (service.adopt?.some((name) => name.kind === kind && name.id === id)) return true;
    if (owner?.clusterId === this.#cluster.id && owner.uid === service.uid) return true;
    if (kind === 'dns' && attributes.name === dnsName(service)) return true;
    return owner === undefined && service.ingress.some(({ ip }) => ip !== undefined && ip === attributes.ip);
  }

  async #readOne({ id, kind, owner }: PartQuestion, call: CallContext): Promise<PartAnswer> {
    const { clusterId, uid } = owner;
    if (!this.namedByOwner.includes(kind)) {
      const error = new CloudError('unsupported', `the memory cloud has no part of the kind ${kind}`);
      return { kind: 'failed', error };
    }
    const byOwner = `/parts:byOwner?${new URLSearchParams({ kind, clusterId, uid }).toString()}`;
    const [name, path] =
      id === undefined ? ['GET /parts:byOwner', byOwner] : ['GET /parts/{id}', `/parts/${encodeURIComponent(id)}`];
    try {
      const { kind: found, tags } = await this.#client().request<MemoryPart>(call, name, { method: 'GET', path });
      if (found !== kind) return { kind: 'absent', proof: `${name}: it is of the kind ${found}` };
      if (tags.uid === undefined) return { kind: 'there', isUnowned: true };
      if (tags.uid === uid && tags.clusterId === clusterId) return { kind: 'there' };
      return { kind: 'absent', proof: `${name}: it belongs to ${tags.uid} of cluster ${tags.clusterId}` };
    } catch (error) {
      if (isCloudError(error, 'not-found')) return { kind: 'absent', proof: error.message };
      return { kind: 'failed', error: asError(error) };
    }
  }

  async #list(call: CallContext): Promise<readonly LoadBalancerPart[]> {
    const request = { method: 'GET', path: '/parts' } as const;
    const { parts } = await this.#client().request<{ parts: readonly MemoryPart[] }>(call, 'GET /parts', request);
    return parts.map(({ id, kind, tags: { clusterId, uid }, attributes, state = 'ready' }) => {
      const owner = clusterId !== undefined && uid !== undefined ? { clusterId, uid } : undefined;
      // The cloud gives it to the first; what others lead to is what they were made with.
      const { ip } = attributes;
      const addresses = kind === this.#kinds[0] && typeof ip === 'string' ? [ip] : [];
      return { id, kind, owner, state, attributes, addresses };
    });
  }
}

function resultOf(id: string, state: MemoryPart['state']): Exclude<LoadBalancerActionResult, { kind: 'failed' }> {
  return state === 'pending' ? { kind: 'pending', handle: id, pollAfterMs: POLL_MS } : { kind: 'done' };
}

function planClaiming(parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
  const actions = parts.map(({ kind, id }) => {
    return { kind: 'claim', part: kind, id, summary: 'from a predecessor', input: {} } as const;
  });
  return { actions, ingress: [] };
}

/** A DNS name is one for all clusters. */
function refuse({ id, kind, owner, attributes }: LoadBalancerPart, clusterId: string): LoadBalancerPlan {
  const what = `${kind} ${typeof attributes.name === 'string' ? attributes.name : id}`;
  const refused =
    owner?.clusterId === clusterId
      ? new CloudError('conflict', `${what} still belongs to an earlier Service of this name`)
      : new CloudError('not-owned', `${what} belongs to another cluster; name the Service otherwise`);
  return { actions: [], ingress: [], refused };
}

function dnsName({ name, namespace }: LoadBalancerService): string {
  return `${name}.${namespace}.memory.test`;
}

/** Each part once the one that it needs is there: all need the IP, which comes with the first. */
function planMaking(
  desired: DesiredLoadBalancer,
  own: readonly LoadBalancerPart[],
  kinds: readonly PartKind[],
): LoadBalancerPlan {
  const [first] = kinds;
  const ip = own.find(({ kind }) => kind === first)?.attributes.ip as string | undefined;
  const actions = kinds.flatMap((kind): readonly LoadBalancerAction[] => {
    if (kind !== first && ip === undefined) return [];
    const wanted = wantedPart(kind, desired, kind === first ? undefined : ip);
    const there = own.find((part) => part.kind === kind);
    if (!there) return [{ kind: 'create', part: kind, input: wanted }];
    if (holds(there.attributes, wanted)) return [];
    return [updateOf(there, wanted)];
  });
  const serves = actions.length === 0 && own.every(({ state }) => state === 'ready');
  return { actions, ingress: serves && ip !== undefined ? [{ ip, ipMode: 'VIP' }] : [] };
}

function planRemoving(own: readonly LoadBalancerPart[]): LoadBalancerPlan {
  const order: readonly string[] = loadBalancerParts;
  const actions = own
    .toSorted((a, b) => order.indexOf(b.kind) - order.indexOf(a.kind))
    .map(({ kind, id }) => ({ kind: 'delete', part: kind, id, input: {} }) as const);
  return { actions, ingress: [] };
}

function idsOf(backEnds: readonly BackEnd[]): readonly string[] {
  return backEnds.map(({ node }) => node.providerID ?? '').toSorted();
}

function wantedPart(kind: PartKind, { service, backEnds }: DesiredLoadBalancer, ip: string | undefined): Wanted {
  const ports = service.ports.map(({ port, protocol, nodePort }) => ({ port, protocol, nodePort: nodePort ?? 0 }));
  switch (kind) {
    case 'address':
      return {};
    case 'load-balancer':
      return {
        ...(ip !== undefined && { ip }),
        ports,
        backEnds: idsOf(backEnds),
      };
    case 'firewall':
      return { ports: ports.map(({ port, protocol }) => ({ port, protocol })), sources: service.sourceRanges };
    default:
      return { name: dnsName(service), ip };
  }
}

/** Without a port, a node or a source range that is there, it may cut traffic. No source range at all lets everybody in. */
function updateOf({ attributes, id, kind }: LoadBalancerPart, wanted: Wanted): LoadBalancerAction {
  const mayCutTraffic = Object.entries(wanted).some(([name, value]) => {
    const there = attributes[name];
    const left = Array.isArray(value) ? value.map((one) => JSON.stringify(one)) : [];
    if (name === 'sources' && Array.isArray(there) && there.length * left.length === 0) return left.length > 0;
    return Array.isArray(there) && there.some((one) => !left.includes(JSON.stringify(one)));
  });
  return { kind: 'update', part: kind, id, input: wanted, ...(mayCutTraffic && { mayCutTraffic }) };
}

function holds(there: Wanted, wanted: Wanted): boolean {
  return Object.entries(wanted).every(([key, value]) => JSON.stringify(there[key]) === JSON.stringify(value));
}
