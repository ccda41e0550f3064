/** Load balancers of AWS: Network ones in parts, Classic ones, and the security groups of both. Both APIs are looked at, whichever a Service asks for. */
import {
  asError,
  CloudError,
  isCloudError,
  sameOwner,
  type BackEnd,
  type CallContext,
  type ClusterPlace,
  type DesiredLoadBalancer,
  type LoadBalancerActionResult,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
  type LoadBalancerService,
  type LoadBalancerWarning,
  type PartAnswer,
  type PartQuestion,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { partLoadBalancers, SharedSelections, type PartKind } from '@outrigger/provider-kit';
import type { AwsClient } from '../client/aws-client.ts';
import { instanceIdIn } from '../instances/asked-instance.ts';
import { annotations, annotationRows } from './annotations/annotation-rows.ts';
import {
  isServedElsewhere,
  settingsOf,
  targetLabelsOf,
  theirFinalizerOn,
  type LoadBalancerConfig,
  type ServiceSettings,
} from './annotations/service-settings.ts';
import {
  CLASSIC,
  LOAD_BALANCER,
  TARGET_GROUP,
  type BackEndAccess,
  type KindSetup,
  type LoadBalancerFacts,
} from './frame.ts';
import { InUse } from './in-use.ts';
import { LeftOut, ToldLast } from './left-out.ts';
import type { NamedThings } from './named-things.ts';
import { isHostNameOf } from './names.ts';
import { listenerKind } from './nlb/listener-kind.ts';
import { clearLeftRules, dnsNameOf, loadBalancerKind } from './nlb/load-balancer-kind.ts';
import type { NlbSetup } from './nlb/nlb-setup.ts';
import { targetGroupKind } from './nlb/target-group-kind.ts';
import { TargetMemory } from './nlb/target-memory.ts';
import { Elbv2Look } from './observe/elbv2-look.ts';
import { SettingsMemory } from './observe/settings-memory.ts';

/** What is learned before each look. */
export interface FactsSource {
  /** Rejects where it could not be found out: what is there can be seen and removed all the same. */
  refresh(call: CallContext): Promise<void>;
  /** Throws a `CloudError` while it is not known. */
  current(): LoadBalancerFacts;
}

export interface AwsLoadBalancersOptions {
  /** The provider's: the prefix of its nodes' provider IDs. */
  readonly name: string;
  readonly client: AwsClient;
  readonly config: () => LoadBalancerConfig;
  readonly host: Pick<ProviderHost, 'clock' | 'cluster'>;
  readonly facts: FactsSource;
  readonly access: BackEndAccess;
  /** Whom the things are for that Services name. Default: nobody looks, and a Service that names one is refused. */
  readonly named?: Pick<NamedThings, 'othersOf'>;
  /** Whose "not found" proves something. Default: any account's. */
  readonly place?: ClusterPlace;
  /** Those beside the Network Load Balancer's: security groups, and Classic Load Balancers. */
  readonly otherKinds: (setup: KindSetup) => readonly PartKind[];
}

export class AwsLoadBalancers implements LoadBalancers {
  readonly features: LoadBalancers['features'];
  readonly classes: readonly string[];
  readonly annotations: LoadBalancers['annotations'] = annotations.declared;
  /** Of what this process does itself, looks show all: see `RecentChanges`. */
  readonly consistency = 'eventual';
  readonly #parts: ReturnType<typeof partLoadBalancers>;
  readonly #options: AwsLoadBalancersOptions;
  readonly #nlb: NlbSetup;
  readonly #leftOut: LeftOut;
  readonly #toldLast: ToldLast;
  #factsError: Error | undefined;

  constructor(options: AwsLoadBalancersOptions) {
    const { access, client, config, facts, host, name, named, otherKinds, place } = options;
    const { clock, cluster } = host;
    this.#options = options;
    this.#leftOut = new LeftOut(clock);
    this.#toldLast = new ToldLast(this.#leftOut);
    const idsOf = (backEnds: readonly BackEnd[]): readonly string[] =>
      [...new Set(backEnds.flatMap(({ node }) => instanceIdIn(node.providerID, name) ?? []))].toSorted();
    const targets = new SharedSelections();
    // Each port of a Service asks for the same.
    const known = new WeakMap<readonly BackEnd[], readonly string[]>();
    const instanceIdsOf: KindSetup['instanceIdsOf'] = (backEnds) => {
      const ids = known.get(backEnds) ?? idsOf(backEnds);
      known.set(backEnds, ids);
      return ids;
    };
    const setup: KindSetup = {
      client,
      clock,
      access,
      instanceIdsOf,
      facts: () => this.#facts(facts),
      settingsOf: ({ service }) => settingsOf(service, config()),
      look: new Elbv2Look({ client, clock, clusterId: cluster.id }),
      leftOut: this.#leftOut,
      inUse: new InUse(clock),
    };
    const nlb: NlbSetup = {
      ...setup,
      settings: new SettingsMemory(clock),
      targets: new TargetMemory(client, clock),
    };
    this.#nlb = nlb;
    this.#parts = partLoadBalancers({
      host,
      name,
      ...(place && { place }),
      others: async (service, own, call) => {
        const settings = wishOf(service, config());
        return settings && named ? named.othersOf(settings, own, call) : [];
      },
      // In this order they are made, and go the other way round: security groups last, which AWS holds for minutes.
      kinds: [...otherKinds(setup), targetGroupKind(nlb), loadBalancerKind(nlb), listenerKind(nlb)],
      classes: [`outrigger.dev/${name}`],
      annotations: annotations.declared,
      features: {
        protocols: ['TCP', 'UDP'],
        mixedProtocols: true,
        ipFamilies: ['IPv4', 'IPv6'],
        dualStack: true,
        externalTrafficPolicyLocal: true,
        sourceRanges: true,
      },
      selectBackEnds: (service, own) => {
        const labels = wantedLabels(service);
        const isTarget = ({ node }: BackEnd): boolean =>
          instanceIdIn(node.providerID, name) !== undefined && hasLabels(node.labels, labels);
        return targets.select(own, JSON.stringify(labels), () => isTarget);
      },
      ingress: (own, desired) => ingressOf(own, settingsOf(desired.service, config()).type),
      warnings: ({ service }) => {
        const warnings: LoadBalancerWarning[] = [];
        settingsOf(service, config(), (warning) => warnings.push(warning));
        return warnings;
      },
    });
    this.features = this.#parts.features;
    this.classes = this.#parts.classes;
  }

  selectBackEnds(service: LoadBalancerService, backEnds: readonly BackEnd[]): readonly BackEnd[] {
    return this.#parts.selectBackEnds(service, backEnds);
  }

  async observe(
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<readonly LoadBalancerObservation[]> {
    const look = ownContext(call);
    await this.#learn(look);
    return this.#parts.observe(services, look);
  }

  plan(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    if (desired.wanted && isServedElsewhere(desired.service)) return elsewhere(desired, parts);
    if (desired.wanted) checkNotHeld(desired, parts, () => this.#facts(this.#options.facts));
    return this.#told(desired, this.#parts.plan(desired, parts), parts);
  }

  planMembers(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    return this.#told(desired, this.#parts.planMembers(desired, parts), parts);
  }

  #told(desired: DesiredLoadBalancer, plan: LoadBalancerPlan, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    return this.#toldLast.planned(this.#leftOut.told(desired, plan, parts));
  }

  apply(...asked: Parameters<LoadBalancers['apply']>): Promise<LoadBalancerActionResult> {
    const [action, desired, call] = asked;
    return this.#toldLast.apply(action, async () => {
      const { id, kind, part } = action;
      if (kind === 'delete' && part === TARGET_GROUP && id) await clearLeftRules(this.#nlb, id, desired, call);
      return this.#parts.apply(...asked);
    });
  }

  async read(parts: readonly PartQuestion[], call: CallContext): Promise<readonly PartAnswer[]> {
    return (await this.#parts.read?.(parts, call)) ?? [];
  }

  async listOwned(call: CallContext): Promise<readonly LoadBalancerPart[]> {
    const look = ownContext(call);
    await this.#learn(look);
    return this.#parts.listOwned(look);
  }

  /** What is there must be seen, and go, whatever could not be learned: that is said by what is planned. */
  async #learn(call: CallContext): Promise<void> {
    try {
      await this.#options.facts.refresh(call);
      this.#factsError = undefined;
    } catch (error) {
      call.signal.throwIfAborted();
      this.#factsError = asError(error);
    }
  }

  #facts(source: FactsSource): LoadBalancerFacts {
    if (this.#factsError !== undefined) throw this.#factsError;
    return source.current();
  }
}

/** `undefined`: it cannot be read, which the plan says. */
function wishOf(service: LoadBalancerService, config: LoadBalancerConfig): ServiceSettings | undefined {
  try {
    return settingsOf(service, config);
  } catch (error) {
    if (!isCloudError(error)) throw error;
    return undefined;
  }
}

/** One for each look: by it the kinds know that they are asked about the same. */
function ownContext(call: CallContext): CallContext {
  const { logger, priority, signal } = call;
  return { logger, priority, signal, call: (operation, send) => call.call(operation, send) };
}

/** Nothing is looked at of what the AWS Load Balancer Controller serves; what was made here before stays until the Service goes. */
function elsewhere({ owner }: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
  if (!parts.some((part) => sameOwner(part.owner, owner))) {
    throw new CloudError('implemented-elsewhere', 'the AWS Load Balancer Controller serves it');
  }
  const message = `annotation ${annotationRows.type.name}: it has a load balancer already, which is not left to the AWS Load Balancer Controller: create the Service again`;
  return { actions: [], complete: false, ingress: [], refused: new CloudError('unsupported', message) };
}

/**
 * Nothing is made beside what the AWS Load Balancer Controller has not given up. What serves already, made here or by cloud-provider-aws, goes
 * on: that controller knows nothing of it, and without this one it would not follow the nodes. It is ours too while it is being replaced, by
 * the Service's address. `facts` throws while they are not known: without them nothing of cloud-provider-aws is seen.
 */
function checkNotHeld(
  { owner, service }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
  facts: () => LoadBalancerFacts,
): void {
  const finalizer = theirFinalizerOn(service);
  if (finalizer === undefined) return;
  const isThere = parts.some(({ kind, owner: whose }) =>
    whose ? sameOwner(whose, owner) : kind === LOAD_BALANCER || kind === CLASSIC,
  );
  if (isThere || service.ingress.some(({ hostname = '' }) => isHostNameOf(service.uid, hostname))) return;
  facts();
  throw new CloudError(
    'implemented-elsewhere',
    `the AWS Load Balancer Controller serves it until it removes its finalizer ${finalizer}`,
  );
}

/** A wish that cannot be read narrows nothing: the plan refuses it. */
function wantedLabels(service: LoadBalancerService): readonly (readonly [key: string, value: string])[] {
  try {
    return [...targetLabelsOf(service)];
  } catch (error) {
    if (!isCloudError(error)) throw error;
    return [];
  }
}

function hasLabels(labels: BackEnd['node']['labels'], wanted: ReturnType<typeof wantedLabels>): boolean {
  return wanted.every(([key, value]) => Object.hasOwn(labels, key) && (value === '' || labels[key] === value));
}

function ingressOf(own: readonly LoadBalancerPart[], type: 'nlb' | 'clb'): LoadBalancerPlan['ingress'] {
  const kind = type === 'nlb' ? LOAD_BALANCER : CLASSIC;
  return own
    .filter((part) => part.kind === kind)
    .flatMap((part) => dnsNameOf(part) ?? [])
    .map((hostname) => ({ hostname }));
}
