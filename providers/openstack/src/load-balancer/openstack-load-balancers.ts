/** Load balancers by Octavia and Neutron: observed by their tags, planned as data, changed one request at a time. */
import {
  isCloudError,
  sameOwner,
  type BackEnd,
  type CallContext,
  type Clock,
  type ClusterIdentity,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
  type LoadBalancerService,
  type LoadBalancerVerdict,
  type PartAnswer,
  type PartName,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import type { Home } from '../home.ts';
import { ChangingClient } from './apply/changing-client.ts';
import { carryOut } from './apply/carry-out.ts';
import { OctaviaChanges } from './apply/apply-octavia.ts';
import { PortTurns } from './apply/port-turns.ts';
import { Settling } from './apply/settling.ts';
import { declaredAnnotations, declaredFeatures, lockKeyOf, selectBackEnds } from './desired/declared.ts';
import { desiredTree } from './desired/desired-tree-of.ts';
import type { DesiredTreeResult } from './desired/desired-tree.ts';
import type { LoadBalancerSettings } from './desired/service-options.ts';
import { thingOf } from './foreign-things.ts';
import { LearnedFacts } from './learned-facts.ts';
import { identityOf, namedBy } from './service-identity.ts';
import { ofKnownServers } from './desired/members.ts';
import { ExternalNetwork } from './observe/floating-networks.ts';
import { LatenessTracker } from './observe/lateness.ts';
import { Observer } from './observe/observe.ts';
import { SubnetCidrs } from './observe/read-lists.ts';
import { PartReader } from './observe/read-parts.ts';
import { isLoadBalancer, loadBalancerIn } from './observed-tree.ts';
import { choosePart } from './plan/begin.ts';
import { changeOf } from './plan/change.ts';
import { needsNetwork } from './plan/plan-floating-ip.ts';
import { planMembers } from './plan/plan-members.ts';
import { planRemoving } from './plan/plan-removing.ts';
import { planServing } from './plan/plan-serving.ts';

/** Of an Octavia whose document of versions names none. */
const OLDEST = '2.0';

export interface OpenStackLoadBalancersOptions {
  /** The provider's name: the prefix of its nodes' provider IDs. */
  readonly name: string;
  readonly client: ApiClient;
  readonly config: () => LoadBalancerSettings;
  readonly clock: Clock;
  readonly cluster: ClusterIdentity;
  /** Whether this is known to be the cluster's place. */
  readonly home: Home;
  /** What `--cluster-name` of the predecessor was, where it is another now. */
  readonly previousClusterName?: string | undefined;
}

export class OpenStackLoadBalancers implements LoadBalancers {
  readonly batchSize = 100;
  /** Octavia and Neutron answer lists from the database that their writes went to. */
  readonly consistency = 'strong';
  readonly foreignNodesOption = 'foreign-nodes in [LoadBalancer] of the cloud config';
  readonly classes: readonly string[];
  readonly annotations: LoadBalancers['annotations'] = declaredAnnotations;
  readonly #options: OpenStackLoadBalancersOptions;
  readonly #facts: LearnedFacts;
  readonly #externalNetwork: ExternalNetwork;
  readonly #subnets = new SubnetCidrs();
  readonly #turns = new PortTurns();
  readonly #observer: Observer;
  readonly #octavia: OctaviaChanges;
  readonly #settling: Settling;
  readonly #reader: PartReader;
  /** Of the cloud's Octavia, as the last look found it. */
  #apiVersion: string | undefined;

  constructor(options: OpenStackLoadBalancersOptions) {
    const { client, clock, cluster, config, home, name, previousClusterName } = options;
    this.classes = [`outrigger.dev/${name}`];
    this.#options = options;
    this.#facts = new LearnedFacts(clock);
    this.#externalNetwork = new ExternalNetwork(clock);
    this.#settling = new Settling(client, clock);
    const lateness = new LatenessTracker(clock);
    this.#octavia = new OctaviaChanges(client, this.#settling, lateness);
    this.#reader = new PartReader({ client, clock, home });
    this.#observer = new Observer({
      client,
      clock,
      home,
      cluster,
      previousClusterName,
      facts: this.#facts,
      lateness,
      externalNetwork: this.#externalNetwork,
      subnets: this.#subnets,
      config,
      floatingWish: (service, driver) => {
        const wish = this.#wishOf(service, [], withDriver(config(), driver));
        return wish.kind === 'tree' ? wish.tree.floatingIP : { kind: 'none', keep: true };
      },
    });
  }

  get features(): LoadBalancers['features'] {
    return declaredFeatures(this.#options.config().loadBalancer);
  }

  /** By default, what cloud-provider-openstack serves is taken over with all its members (RKE2, Metal3, k3s). */
  get takesForeignNodes(): boolean | 'at-start' {
    return this.#options.config().loadBalancer.foreignNodes;
  }

  lockKey(service: LoadBalancerService, parts?: readonly LoadBalancerPart[]): string {
    return lockKeyOf(service, parts);
  }

  selectBackEnds(service: LoadBalancerService, backEnds: readonly BackEnd[]): readonly BackEnd[] {
    return selectBackEnds(service, backEnds, this.#options.config().loadBalancer);
  }

  /** What cannot be served is refused; what another Service or a quota stands in the way of may change, and is told. */
  async validate(service: LoadBalancerService, call: CallContext): Promise<LoadBalancerVerdict> {
    const [observation] = await this.observe([service], call);
    if (observation?.kind !== 'parts') throw observation?.error ?? new Error('no answer');
    const owner = { clusterId: this.#options.cluster.id, uid: service.uid };
    // Who owns what is not known here; the controller looks again.
    const others = observation.others?.map((one) => {
      const isOfNamespace = one.ownerNamespace === service.namespace;
      return { ...one, mayUse: isOfNamespace || one.allowed.includes('*') || one.allowed.includes(service.namespace) };
    });
    const goal = { service, wanted: true, owner, backEnds: [], others };
    const { refused, warnings = [] } = this.plan(goal, observation.parts);
    if (!refused) return warnings.length === 0 ? {} : { warnings: warnings.map(({ message }) => message) };
    const isFinal = isCloudError(refused, 'invalid') || isCloudError(refused, 'unsupported');
    return isFinal ? { refused } : { warnings: [refused.message] };
  }

  async observe(
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<readonly LoadBalancerObservation[]> {
    this.#apiVersion = (await this.#options.client.maxMicroversion(call, 'load-balancer')) ?? OLDEST;
    const startedAt = this.#options.clock.monotonic();
    const observations = await this.#observer.observe(services, call);
    await this.#readPlaces(services, observations, call);
    for (const one of observations) {
      if (one.kind !== 'parts') continue;
      this.#note(one.parts);
      for (const part of one.parts)
        if (isLoadBalancer(part)) this.#settling.saw(part.id, loadBalancerIn(part).status, startedAt);
    }
    return observations;
  }

  /**
   * The subnets in which load balancers are to be made, and the network of floating IPs for which nothing names one: once each. Of a subnet that
   * cannot be read Octavia says so; without the network the floating IP waits until the load balancer is there.
   */
  async #readPlaces(
    services: readonly LoadBalancerService[],
    observations: readonly LoadBalancerObservation[],
    call: CallContext,
  ): Promise<void> {
    const { client, config } = this.#options;
    const trees = services.flatMap((service, i) => {
      const seen = observations[i];
      if (seen?.kind !== 'parts' || seen.parts.some(isLoadBalancer)) return [];
      const wish = this.#wishOf(service, [], config());
      return wish.kind === 'tree' ? [wish.tree] : [];
    });
    const subnets = new Set(trees.map(({ loadBalancer }) => loadBalancer.vip.subnetId ?? ''));
    const asked = [...subnets].filter((id) => id !== '');
    await Promise.allSettled([
      ...asked.map((id) => this.#subnets.read(client, [id], call)),
      ...(trees.some((tree) => needsNetwork(tree)) ? [this.#externalNetwork.read(client, call)] : []),
    ]);
  }

  plan(given: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan {
    const { desired, identity, settings } = this.#goalOf(given);
    const { service, backEnds } = desired;
    const { cascadeDelete } = settings.loadBalancer;
    if (!desired.wanted) return planRemoving(parts, { identity, others: desired.others, cascadeDelete });
    const wish = this.#wishOf(service, backEnds, settingsFor(desired, parts, settings));
    if (wish.kind === 'refused') return { actions: [], complete: false, ingress: [], refused: wish.error };
    const { tree, warnings } = wish;
    return planServing({ desired, identity, tree, warnings, parts, externalNetwork: this.#externalNetwork.id });
  }

  planMembers(given: DesiredLoadBalancer, parts: readonly LoadBalancerPart[], isRefused = false): LoadBalancerPlan {
    const { settings, ...goal } = this.#goalOf(given);
    const { lbProvider: provider, providerRequiresSerialApiCalls: serial } = settings.loadBalancer;
    return planMembers({ ...goal, parts, provider, serial, isRefused });
  }

  #goalOf(given: DesiredLoadBalancer) {
    const { config, name } = this.#options;
    const desired = { ...given, backEnds: ofKnownServers(given.backEnds, name) };
    return { desired, identity: identityOf(given.service, this.#options), settings: config() };
  }

  async apply(
    action: LoadBalancerAction,
    _desired: DesiredLoadBalancer,
    call: CallContext,
  ): Promise<LoadBalancerActionResult> {
    const client = new ChangingClient(this.#options.client);
    try {
      const change = changeOf(action);
      const hands = { client, facts: this.#facts, octavia: this.#octavia, turns: this.#turns };
      const result = await carryOut(change, hands, call);
      // To share a load balancer is to make a part of it.
      const isShare = action.kind === 'create' && change.op === 'tags';
      const made = isShare ? { kind: action.part, id: change.loadBalancerId } : result.made;
      if (!made) return result;
      this.#note([made]);
      return { ...result, made };
    } catch (error) {
      throw client.ofAll(error);
    }
  }

  read(parts: readonly PartQuestion[], call: CallContext): Promise<readonly PartAnswer[]> {
    return this.#reader.read(parts, call);
  }

  async listOwned(call: CallContext): Promise<readonly LoadBalancerPart[]> {
    const parts = await this.#observer.listOwned(call);
    this.#note(parts);
    return parts;
  }

  /** Of what was here a 404 says that it is gone. */
  #note(parts: readonly PartName[]): void {
    for (const { id } of parts) if (id !== undefined) this.#options.home.sawPart(id);
  }

  #wishOf(service: LoadBalancerService, backEnds: readonly BackEnd[], config: LoadBalancerSettings): DesiredTreeResult {
    const { cluster } = this.#options;
    const apiVersion = this.#apiVersion ?? OLDEST;
    const cidrOf = (id: string): string | undefined => this.#subnets.of(id);
    return desiredTree({ service, backEnds, clusterName: cluster.name, config, apiVersion, cidrOf });
  }
}

/** Of a load balancer that the Service may not use, nothing is said: nor what its driver can do. */
function settingsFor(
  { others, owner, service }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
  settings: LoadBalancerSettings,
): LoadBalancerSettings {
  const there = choosePart(parts, owner, namedBy(service)[0]);
  if (!there || there.state === 'deleting') return settings;
  const isUsed = parts.some((one) => one.id === there.id && sameOwner(one.owner, owner));
  const isHidden = !isUsed && thingOf(others, 'load-balancer', there.id)?.mayUse === false;
  return isHidden ? settings : withDriver(settings, loadBalancerIn(there).provider);
}

/** What a load balancer can do is by the driver that has made it: older ones stay with theirs when `lb-provider` changes. */
function withDriver(settings: LoadBalancerSettings, lbProvider: string | undefined): LoadBalancerSettings {
  if (!lbProvider) return settings;
  return { ...settings, loadBalancer: { ...settings.loadBalancer, lbProvider } };
}
