/** The contract's load balancers, of kinds of parts that are declared: what is written here is what each provider would write again. */
import {
  asError,
  CloudError,
  isCloudError,
  parseProviderID,
  type BackEnd,
  type CallContext,
  type ClusterPlace,
  type DesiredLoadBalancer,
  type ForeignThing,
  type GonePart,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerFeatures,
  type LoadBalancerIngress,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
  type LoadBalancerService,
  type LoadBalancerWarning,
  type Owner,
  type PartAnswer,
  type PartQuestion,
  type ProviderHost,
  sameOwner,
} from '@outrigger/cloud-provider';
import type { Begun, ListedPart, PartKind, PartRequest } from './part-kind.ts';
import { inOrder, isInTheWay, planMembersOf, planParts, uses, type KeyedPart, type PlanOptions } from './plan-parts.ts';
import { SharedSelections } from './shared-selections.ts';

export interface PartLoadBalancersOptions extends Pick<
  LoadBalancers,
  'consistency' | 'listLagMs' | 'lockKey' | 'selectBackEnds' | 'takesForeignNodes' | 'validate'
> {
  readonly host: Pick<ProviderHost, 'clock' | 'cluster'>;
  /** The provider's: its own nodes are the back ends, unless it says `takesForeignNodes`. */
  readonly name: string;
  /** What is not named is not offered; of protocols TCP is, of IP families IPv4. */
  readonly features: Partial<LoadBalancerFeatures>;
  /**
   * Judges a "not found" of `read`, and is told of the parts that were seen or made: the one that the provider's instances have. Default:
   * each `not-found` proves that the part is gone, whatever account the credentials lead to.
   */
  readonly place?: ClusterPlace;
  /** In any order: what they need says in which they are made. */
  readonly kinds: readonly PartKind[];
  /** Where it is reached, of a Service that has all its parts. Default: their `addresses`. */
  readonly ingress?: (own: readonly LoadBalancerPart[], desired: DesiredLoadBalancer) => readonly LoadBalancerIngress[];
  /** What a person should know of a wish that is served: see `LoadBalancerPlan`. Pure. Default: nothing. */
  readonly warnings?: (desired: DesiredLoadBalancer) => readonly LoadBalancerWarning[];
  /** Requests take effect after they were answered. Default: with the answer. */
  readonly isAsync?: boolean;
  /** Default: none. */
  readonly annotations?: LoadBalancers['annotations'];
  /** Default: none. */
  readonly classes?: readonly string[];
  /** Most Services that one look takes: it lists all, whatever their number. Default: 500. */
  readonly batchSize?: number;
  /** What the Service names or its parts are attached to, and that is not its own: see `LoadBalancerObservation`. Default: nothing. */
  readonly others?: (
    service: LoadBalancerService,
    own: readonly LoadBalancerPart[],
    call: CallContext,
  ) => Promise<readonly ForeignThing[]>;
}

const DEFAULT_BATCH_SIZE = 500;
/** After the start, until nodes must have been looked up. */
const EARLY_MS = 60_000;
const LEAST: LoadBalancerFeatures = {
  protocols: ['TCP'],
  mixedProtocols: false,
  ipFamilies: ['IPv4'],
  dualStack: false,
  sessionAffinity: false,
  externalTrafficPolicyLocal: false,
  sourceRanges: false,
  withoutNodePorts: false,
  requestedIP: false,
};

/** Throws an `Error` for kinds that need one another in a circle. */
export function partLoadBalancers(
  options: PartLoadBalancersOptions,
): LoadBalancers & Required<Pick<LoadBalancers, 'planMembers' | 'selectBackEnds'>> {
  return new PartLoadBalancers(options);
}

class PartLoadBalancers implements LoadBalancers {
  readonly features: LoadBalancers['features'];
  readonly classes: readonly string[];
  readonly annotations: LoadBalancers['annotations'];
  readonly batchSize: number;
  readonly consistency: 'strong' | 'eventual';
  readonly listLagMs: number;
  readonly takesForeignNodes: NonNullable<LoadBalancers['takesForeignNodes']>;
  readonly namedByOwner: readonly string[];
  declare readonly lockKey?: NonNullable<LoadBalancers['lockKey']>;
  declare readonly validate?: NonNullable<LoadBalancers['validate']>;
  declare readonly read?: NonNullable<LoadBalancers['read']>;
  readonly #options: PartLoadBalancersOptions;
  readonly #plan: PlanOptions;
  readonly #startedAt: number;
  readonly #ownNodes = new SharedSelections();

  constructor(options: PartLoadBalancersOptions) {
    const { kinds, lockKey, validate } = options;
    this.#options = options;
    this.#startedAt = options.host.clock.monotonic();
    const { ingress = addressesOf, isAsync = false, warnings } = options;
    this.#plan = { kinds: inOrder(kinds), isAsync, ingress, warnings };
    this.features = { ...LEAST, ...options.features };
    this.classes = options.classes ?? [];
    this.annotations = options.annotations ?? [];
    this.batchSize = options.batchSize ?? DEFAULT_BATCH_SIZE;
    this.consistency = options.consistency ?? 'eventual';
    this.listLagMs = options.listLagMs ?? 0;
    this.takesForeignNodes = options.takesForeignNodes ?? false;
    this.namedByOwner = kinds.every(({ readNamed }) => readNamed) ? kinds.map(({ kind }) => kind) : [];
    if (lockKey) this.lockKey = (service, parts) => lockKey.call(options, service, parts);
    if (validate) this.validate = (service, call) => validate.call(options, service, call);
    if (kinds.every(({ read }) => read)) {
      this.read = (parts, call) => Promise.all(parts.map((part) => this.#readOne(part, call)));
    }
  }

  selectBackEnds(service: LoadBalancerService, backEnds: readonly BackEnd[]): readonly BackEnd[] {
    const { name, selectBackEnds } = this.#options;
    const isOwn = ({ node }: BackEnd): boolean => parseProviderID(node.providerID, name) !== undefined;
    const own = this.takesForeignNodes ? backEnds : this.#ownNodes.select(backEnds, '', () => isOwn);
    return selectBackEnds?.call(this.#options, service, own) ?? own;
  }

  async observe(
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<readonly LoadBalancerObservation[]> {
    const { host, others, place } = this.#options;
    const all = await this.#list(call, services);
    const byUid = Map.groupBy(all, ({ owner }) => owner?.uid);
    const claimable = all.filter(({ kind }) => this.#kind(kind).claim);
    const unowned = claimable.filter(({ owner }) => owner === undefined);
    const nameable = all.filter(({ kind }) => this.#kind(kind).clashes);
    return Promise.all(
      services.map(async (service): Promise<LoadBalancerObservation> => {
        const own = (byUid.get(service.uid) ?? []).filter(({ owner }) => owner?.clusterId === host.cluster.id);
        const owner = { clusterId: host.cluster.id, uid: service.uid };
        for (const { id } of own) place?.sawPart(id);
        const claimed = [
          ...unowned.filter((part) => (this.#kind(part.kind).isPredecessors ?? isReachedAt)(part, service)),
          ...adopted(claimable, service),
        ];
        const parts = [
          ...own,
          ...claimed,
          ...this.#childrenOf(claimed, all, owner).map((part) => ({ ...part, owner })),
          ...nameable.filter((part) => isInTheWay(this.#plan, part, service, owner)),
        ];
        try {
          const found = await others?.(service, own, call);
          return { kind: 'parts', parts: [...new Set(parts)], ...(found && { others: found }) };
        } catch (error) {
          return { kind: 'failed', error: asError(error) };
        }
      }),
    );
  }

  /** What goes with a part that is taken over comes with it, too: whose it is the cloud knows by that part alone. */
  #childrenOf(claimed: readonly KeyedPart[], all: readonly KeyedPart[], owner: Owner): readonly KeyedPart[] {
    const free = claimed.filter((part) => sameOwner(part.owner ?? owner, owner));
    return all.filter((child) => {
      const { claim, goesWith } = this.#kind(child.kind);
      if (claim || child.owner !== undefined) return false;
      return free.some((part) => part.kind === goesWith && uses(this.#plan, child, part));
    });
  }

  plan(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    return planParts(desired, parts, this.#plan);
  }

  planMembers(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    return planMembersOf(desired, parts, this.#plan);
  }

  async apply(
    { id = '', input, kind: verb, part }: LoadBalancerAction,
    desired: DesiredLoadBalancer,
    call: CallContext,
  ): Promise<LoadBalancerActionResult> {
    const kind = this.#kind(part);
    const { attributes = {}, changed = [], key = '' } = input as Partial<PartRequest> & { changed?: readonly string[] };
    const request: PartRequest = { key, attributes, owner: desired.owner, desired };
    switch (verb) {
      case 'create': {
        const { begun, id: made } = await kind.create(request, call);
        this.#options.place?.sawPart(made);
        return { ...resultOf(begun), made: { kind: part, id: made } };
      }
      case 'update':
        return resultOf(await kind.update?.(id, { ...request, changed }, call));
      case 'claim':
        return resultOf(await kind.claim?.(id, desired.owner, call));
      default:
        try {
          return resultOf(await kind.delete(id, call));
        } catch (error) {
          if (!isCloudError(error, 'not-found')) throw error;
          return { kind: 'done' };
        }
    }
  }

  async listOwned(call: CallContext): Promise<readonly LoadBalancerPart[]> {
    return (await this.#list(call)).filter(({ owner }) => owner?.clusterId === this.#options.host.cluster.id);
  }

  #kind(name: string): PartKind {
    const found = this.#plan.kinds.find(({ kind }) => kind === name);
    if (!found) throw new Error(`${name} is no kind of part of ${this.#options.name}`);
    return found;
  }

  async #list(call: CallContext, services?: readonly LoadBalancerService[]): Promise<readonly KeyedPart[]> {
    const lists = this.#plan.kinds.map(async (one) =>
      (await one.list(call, services)).map((part) => keyed(one.kind, part)),
    );
    return (await Promise.all(lists)).flat();
  }

  async #readOne({ id, kind: name, owner }: PartQuestion, call: CallContext): Promise<PartAnswer> {
    const { name: provider } = this.#options;
    const kind = this.#plan.kinds.find((one) => one.kind === name);
    // A record may be of a newer version, or nobody's: that the kind is unknown proves nothing, and is no mistake of others in the question.
    const unknown = `${provider} has no part of the kind ${name}`;
    if (!kind) return { kind: 'failed', error: new CloudError('unsupported', unknown) };
    const what = `${name} ${id ?? 'by its owner'}`;
    try {
      const part = await (id === undefined ? kind.readNamed?.(owner, call) : kind.read?.(id, call));
      if (!part) throw new Error(`${what}: there is no way to ask about it`);
      return answerOf(what, part.owner, owner);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) return { kind: 'failed', error: asError(error) };
      return this.#gone({ kind: name, id: id ?? 'named by its owner', proof: error.message }, call);
    }
  }

  async #gone(gone: Omit<GonePart, 'isEarly'>, call: CallContext): Promise<PartAnswer> {
    const { host, place } = this.#options;
    const isEarly = host.clock.monotonic() - this.#startedAt < EARLY_MS;
    try {
      return (await place?.partGone({ ...gone, isEarly }, call)) ?? { kind: 'absent', proof: gone.proof };
    } catch (error) {
      return { kind: 'failed', error: asError(error) };
    }
  }
}

function answerOf(what: string, found: Owner | undefined, owner: Owner): PartAnswer {
  if (!found) return { kind: 'there', isUnowned: true };
  if (sameOwner(found, owner)) return { kind: 'there' };
  return { kind: 'absent', proof: `${what} belongs to ${found.uid} of cluster ${found.clusterId}` };
}

function keyed(kind: string, { key, attributes, ...part }: ListedPart): KeyedPart {
  return { ...part, kind, attributes: key === undefined ? attributes : { ...attributes, key } };
}

function isReachedAt({ addresses = [] }: ListedPart, { ingress }: LoadBalancerService): boolean {
  return ingress.some(({ ip }) => ip !== undefined && addresses.includes(ip));
}

/** Whoever owns them: the host refuses another's. */
function adopted(all: readonly KeyedPart[], { adopt = [] }: LoadBalancerService): readonly KeyedPart[] {
  if (adopt.length === 0) return [];
  return all.filter((part) => adopt.some(({ id, kind }) => id === part.id && kind === part.kind));
}

function addressesOf(own: readonly LoadBalancerPart[]): readonly LoadBalancerIngress[] {
  return [...new Set(own.flatMap(({ addresses = [] }) => addresses))].map((ip) => ({ ip, ipMode: 'VIP' }));
}

function resultOf(begun: Begun | void): Exclude<LoadBalancerActionResult, { kind: 'failed' }> {
  return begun ? { kind: 'pending', ...begun } : { kind: 'done' };
}
