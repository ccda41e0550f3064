/** For tests: the load balancers over the fake OpenStack, brought to their goal as the host does it, without the host. */
import { strict as assert } from 'node:assert';
import {
  isCloudError,
  type BackEnd,
  type CallContext,
  type Clock,
  type DesiredLoadBalancer,
  type ForeignThing,
  type JudgedThing,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancerService,
  type Owner,
  type PartName,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { connectionOf } from '../client/connection.ts';
import { OpenStackClient } from '../client/openstack-client.ts';
import type { LoadBalancerConfig } from '../config/cloud-config.ts';
import { readCloudConfig } from '../config/read-cloud-config.ts';
import { Home } from '../home.ts';
import { createFakeOpenStack, type FakeOpenStack } from '../../fake/fake-openstack.ts';
import { fakeCloudConf, NOWHERE } from '../../fake/fake-cloud-conf.ts';
import { inProcessFetch } from '../../fake/in-process-fetch.ts';
import { seededRandom } from '../../fake/seeded-random.ts';
import { seedProject, type SeededProject } from '../../fake/seed-project.ts';
import { serviceOf } from './desired/tree-inputs.suite.ts';
import { OpenStackLoadBalancers } from './openstack-load-balancers.ts';
import { assertTouchesDeclared } from './undeclared-touches.suite.ts';

/** Time that passes only by those who wait for it, at once: nothing else runs meanwhile. */
class HastyClock implements Clock {
  #now = 1_000;

  now(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#now += Math.max(0, delayMs);
    await Promise.resolve();
  }
}

/** For the client: what it waits for is that a request takes too long, and none does. */
function patient(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (_delayMs, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  };
}

/** An Octavia that takes half a minute for each change is looked at some seven times meanwhile. */
const MOST_PASSES = 150;

const COLLECTIONS = [
  { service: 'load-balancer', path: 'loadbalancers' },
  { service: 'load-balancer', path: 'listeners' },
  { service: 'load-balancer', path: 'pools' },
  { service: 'load-balancer', path: 'healthmonitors' },
  { service: 'network', path: 'floatingips' },
  { service: 'network', path: 'security-groups' },
  { service: 'network', path: 'ports' },
] as const;

export interface RigOptions {
  readonly loadBalancer?: Partial<LoadBalancerConfig>;
  readonly clusterId?: string;
  readonly clusterName?: string;
  readonly previousClusterName?: string;
  /** Of the fake's random numbers. */
  readonly seed?: number;
  /** Nodes are servers of nova, and have been looked up. Default: true. */
  readonly hasServers?: boolean;
  /** Default: one on which time passes by waiting alone. */
  readonly clock?: Clock;
}

/** One program over one cloud; a second one may be opened over the same. */
export class Rig {
  readonly clock: Clock;
  readonly cloud: FakeOpenStack;
  readonly seeded: SeededProject;
  readonly provider: OpenStackLoadBalancers;
  readonly client: OpenStackClient;
  readonly clusterId: string;
  /** The cluster's, for sure: its nodes have been looked up. */
  readonly home: Home = new Home();
  config: Partial<LoadBalancerConfig>;
  backEnds: readonly BackEnd[] = [];
  /** What the host knows of Services: the namespace of each, by UID. */
  readonly namespaces: Map<string, string> = new Map();
  readonly #whole: LoadBalancerConfig;

  private constructor(
    world: Pick<Rig, 'clock' | 'cloud' | 'seeded'>,
    client: OpenStackClient,
    whole: LoadBalancerConfig,
    options: RigOptions,
  ) {
    const { clusterId = 'cluster-1', clusterName = 'kubernetes', loadBalancer = {}, previousClusterName } = options;
    this.clock = world.clock;
    this.cloud = world.cloud;
    this.seeded = world.seeded;
    this.client = client;
    if (options.hasServers ?? true) this.home.sawById();
    this.clusterId = clusterId;
    this.config = loadBalancer;
    this.#whole = whole;
    this.provider = new OpenStackLoadBalancers({
      name: 'openstack',
      client,
      config: () => ({ loadBalancer: { ...whole, ...this.config }, loadBalancerClasses: new Map() }),
      clock: world.clock,
      cluster: { id: clusterId, name: clusterName },
      home: this.home,
      previousClusterName,
    });
  }

  static async open(options: RigOptions = {}): Promise<Rig> {
    const { clock = new HastyClock() } = options;
    const cloud = createFakeOpenStack({ clock, random: seededRandom(options.seed ?? 1) });
    const seeded = seedProject(cloud);
    const rig = await Rig.#over({ clock, cloud, seeded }, options);
    rig.backEnds = ['node-1', 'node-2'].map((name) => rig.addNode(name));
    return rig;
  }

  /** Another process, with no memory of what the first one did. */
  async restarted(options: RigOptions = {}): Promise<Rig> {
    const rig = await Rig.#over(this, { loadBalancer: this.config, clusterId: this.clusterId, ...options });
    rig.backEnds = this.backEnds;
    for (const [uid, namespace] of this.namespaces) rig.namespaces.set(uid, namespace);
    return rig;
  }

  static async #over(world: Pick<Rig, 'clock' | 'cloud' | 'seeded'>, options: RigOptions): Promise<Rig> {
    const text = fakeCloudConf({ region: world.cloud.region });
    const config = await readCloudConfig({ fileName: 'cloud.conf', text }, NOWHERE, () => {});
    const connection = await connectionOf(config, 'cloud.conf', {});
    const host = {
      clock: patient(world.clock),
      logger: silentLogger,
      redact: () => {},
      callContext: () => callContext(),
    };
    const client = new OpenStackClient({ connection, host, userAgent: 'test', fetch: inProcessFetch(world.cloud) });
    return new Rig(world, client, config.loadBalancer, options);
  }

  addNode(name: string): BackEnd {
    const { port, server } = this.seeded.addNode({ name });
    const address = port.fixed_ips.find(({ ip_address: ip }) => !ip.includes(':'))?.ip_address ?? '';
    return {
      node: { name, uid: `uid-${name}`, providerID: `openstack:///${server.id}`, labels: {}, annotations: {} },
      addresses: [{ type: 'InternalIP', address }],
    };
  }

  desired(service: LoadBalancerService, wanted = true): DesiredLoadBalancer {
    const owner = { clusterId: this.clusterId, uid: service.uid };
    if (service.namespace) this.namespaces.set(service.uid, service.namespace);
    return { service, wanted, owner, backEnds: wanted ? this.backEnds : [] };
  }

  async look(service: LoadBalancerService): Promise<readonly LoadBalancerPart[]> {
    return (await this.lookAround(service)).parts;
  }

  /** With what is no part, and the host's word on it as by `--load-balancer-sharing=namespace`. */
  async lookAround(
    service: LoadBalancerService,
  ): Promise<{ readonly parts: readonly LoadBalancerPart[]; readonly others: readonly JudgedThing[] }> {
    const [observation] = await this.provider.observe([service], callContext());
    assert.ok(observation);
    if (observation.kind === 'failed') throw observation.error;
    const { others = [], parts } = observation;
    const { namespace } = service;
    const isOfNamespace = ({ owner, ownerNamespace }: ForeignThing): boolean =>
      owner === undefined
        ? ownerNamespace === namespace
        : owner.clusterId === this.clusterId && this.namespaces.get(owner.uid) === namespace;
    const mayUse = (thing: ForeignThing): boolean =>
      thing.allowed.includes(namespace) || thing.allowed.includes('*') || isOfNamespace(thing);
    return { parts, others: others.map((thing) => ({ ...thing, mayUse: mayUse(thing) })) };
  }

  /** All that is in Octavia and Neutron, by collection and ID: what is left, and what others have. */
  async everything(): Promise<Readonly<Record<string, unknown>>> {
    const all: Record<string, unknown> = {};
    for (const collection of COLLECTIONS) {
      const path = collection.service === 'network' ? `/v2.0/${collection.path}` : `/v2.0/lbaas/${collection.path}`;
      const request = { service: collection.service, operation: `GET ${path}`, path } as const;
      const key = collection.path.replaceAll('-', '_');
      const items = await this.client.list<{ readonly id: string }>(callContext(), { ...request, collection: key });
      for (const item of items) all[`${collection.path} ${item.id}`] = item;
    }
    return all;
  }

  /** One look, one plan, and what it says; fails on a plan that the host would refuse. */
  async pass(
    goal: DesiredLoadBalancer,
    onAction?: (action: LoadBalancerAction) => void,
    onLook?: (parts: readonly LoadBalancerPart[]) => void,
  ): Promise<LoadBalancerPlan> {
    const { others, parts } = await this.lookAround(goal.service);
    const desired = { ...goal, others };
    onLook?.(parts);
    const wish = this.provider.plan(desired, parts);
    // What is refused keeps what it has, and its members follow the nodes.
    const members = wish.refused && this.provider.planMembers(desired, parts, true);
    const plan = members ? { ...members, refused: wish.refused } : wish;
    assert.deepEqual(this.provider.plan(desired, parts), wish, 'the same input gives the same plan');
    assertAllowed(plan, desired, parts);
    const config = { ...this.#whole, ...this.config };
    assertTouchesDeclared(plan, desired, parts, { cloud: this.cloud, config, nodes: this.backEnds });
    for (const action of plan.actions) {
      onAction?.(action);
      const result = await this.provider.apply(action, desired, callContext());
      if (result.kind === 'failed') throw result.error;
    }
    return plan;
  }

  /** Passes until all is as it should be, or is refused. */
  async bring(service: LoadBalancerService, wanted = true): Promise<LoadBalancerPlan> {
    let polls = 0;
    // What the host would go on to expect, and wait for, although nothing is left to be done.
    const expected = new Set<string>();
    const { owner } = this.desired(service, wanted);
    const onLook = (parts: readonly LoadBalancerPart[]): void => {
      for (const part of parts) if (isOwn(part, owner) && part.state !== 'deleting') expected.add(nameOf(part));
    };
    const onAction = ({ ends = [], id = '', kind, part }: LoadBalancerAction): void => {
      for (const one of kind === 'delete' ? [{ kind: part, id }, ...ends] : ends) expected.delete(nameOf(one));
    };
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      let plan: LoadBalancerPlan;
      try {
        plan = await this.pass(this.desired(service, wanted), onAction, onLook);
      } catch (error) {
        if (!isCloudError(error, 'retry-after')) throw error;
        await this.clock.sleep(error.retryAfterMs ?? 5_000);
        continue;
      }
      if (plan.complete && !wanted) assert.deepEqual([...expected], [], 'it is known what became of each part');
      if (plan.complete) return plan;
      // As the host waits.
      polls = plan.actions.length > 0 ? 0 : polls + 1;
      await this.clock.sleep(Math.min(30_000, 1_000 * 1.5 ** polls));
    }
    throw new Error(`${MOST_PASSES} passes, and it is not complete`);
  }
}

/** As the host leaves it: with the annotations and the status of what was brought about. */
export function served(service: LoadBalancerService, plan: LoadBalancerPlan): LoadBalancerService {
  const annotations = Object.entries({ ...service.annotations, ...plan.annotations }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return { ...service, annotations: Object.fromEntries(annotations), ingress: plan.ingress };
}

export function serviceNamed(name: string, more: Partial<LoadBalancerService> = {}): LoadBalancerService {
  const uid = `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0').slice(-12)}`;
  return serviceOf({ name, uid, ...more });
}

/** What is all that the host knows of a Service that is gone. */
export function goneService({ uid }: LoadBalancerService): LoadBalancerService {
  return serviceOf({ uid, name: '', namespace: '', ports: [] });
}

export function callContext(signal: AbortSignal = new AbortController().signal): CallContext {
  return { signal, priority: 'normal', logger: silentLogger, call: (_operation, send) => send(signal) };
}

const nameOf = ({ id, kind }: PartName): string => `${kind} ${id}`;
const isOwn = ({ owner }: LoadBalancerPart, one: Owner): boolean =>
  owner?.clusterId === one.clusterId && owner.uid === one.uid;

/** The rules of the host's own last look at a plan. */
function assertAllowed(
  { actions, complete, ingress }: LoadBalancerPlan,
  { others = [], owner, wanted }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
): void {
  const addresses = parts.flatMap((part) => (isOwn(part, owner) ? (part.addresses ?? []) : []));
  for (const { ip } of ingress) assert.ok(!ip || addresses.includes(ip), `the status says ${ip}`);
  for (const { id, kind, part: kindOfPart, summary, touches = [] } of actions) {
    for (const name of touches) {
      const thing = others.find((one) => one.kind === name.kind && one.id === name.id);
      assert.ok(thing?.mayUse, `${summary}: touches ${name.kind} ${name.id}`);
    }
    if (kind === 'create') {
      assert.ok(wanted, 'nothing is made for what is to go');
      continue;
    }
    const part = parts.find((one) => one.kind === kindOfPart && one.id === id);
    assert.ok(part, `${summary}: was not observed`);
    assert.ok(kind === 'claim' ? part.owner === undefined : isOwn(part, owner), `${summary}: is not ours`);
  }
  assert.ok(!complete || actions.length === 0);
  assert.ok(wanted || !complete || !parts.some((part) => isOwn(part, owner)), 'a part of ours is left');
}
