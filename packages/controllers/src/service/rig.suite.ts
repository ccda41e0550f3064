/** For tests: the controller over the memory cloud and the fake API, on a clock that stands still. */
import type {
  CallContext,
  DesiredLoadBalancer,
  LoadBalancerAction,
  LoadBalancerActionResult,
  LoadBalancers,
} from '@outrigger/cloud-provider';
import { noMetrics, silentLogger, type EventNote, type Node, type Service } from '@outrigger/kube';
import { createMemoryCloud, type MemoryCloud, type MemoryPart } from '@outrigger/provider-memory';
import { FakeClock } from '@outrigger/testing';
import type { Fact, Standing } from '../finding.ts';
import { FakeApi } from './fake-api.suite.ts';
import { Locks } from '../load-balancer/locks.ts';
import { callContext, CLUSTER, openLoadBalancers } from '../load-balancer/memory-provider.suite.ts';
import { createServiceController, type ServiceController } from './service-controller.ts';
import type { ServiceControllerDependencies, ServiceControllerOptions } from './service-dependencies.ts';

export const webSpec: NonNullable<Service['spec']> = {
  type: 'LoadBalancer',
  ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
};

export function nodeOf(name: string, more: Partial<Node> = {}): Node {
  const addresses = [{ type: 'InternalIP' as const, address: '10.0.0.1' }];
  const metadata = { name, uid: `uid-${name}`, ...more.metadata };
  return { spec: { providerID: `memory://r/${name}` }, status: { addresses }, ...more, metadata };
}

/** The provider, with something in the way of each `apply`. */
class WatchedProvider implements LoadBalancers {
  readonly inner: LoadBalancers;
  readonly features: LoadBalancers['features'];
  readonly classes: readonly string[];
  readonly annotations: LoadBalancers['annotations'];
  readonly batchSize: number;
  readonly applied: string[] = [];
  observes: number = 0;
  listLagMs: number = 0;
  consistency: 'strong' | 'eventual';
  namedByOwner: readonly string[];
  /** Questions about single parts, in words. */
  readonly asked: string[] = [];
  /** Before each question about parts. */
  reading: () => void | Promise<void> = () => {};
  /** Tests take it away. */
  read?: NonNullable<LoadBalancers['read']>;
  /** Before and after an action takes effect. */
  before: (action: LoadBalancerAction, desired: DesiredLoadBalancer) => void | Promise<void> = () => {};
  after: (action: LoadBalancerAction, desired: DesiredLoadBalancer) => void | Promise<void> = () => {};
  plan: LoadBalancers['plan'];
  planMembers: NonNullable<LoadBalancers['planMembers']>;
  selectBackEnds: NonNullable<LoadBalancers['selectBackEnds']>;
  observing: (services: number) => void | Promise<void> = () => {};
  lockKey: NonNullable<LoadBalancers['lockKey']> = ({ uid }) => uid;
  takesForeignNodes: boolean = false;
  readonly foreignNodesOption: string = 'foreign';

  constructor(inner: LoadBalancers) {
    this.inner = inner;
    ({
      features: this.features,
      classes: this.classes,
      annotations: this.annotations,
      batchSize: this.batchSize = 100,
    } = inner);
    ({ consistency: this.consistency = 'eventual', namedByOwner: this.namedByOwner = [] } = inner);
    this.read = async (parts, call) => {
      await this.reading();
      this.asked.push(...parts.map(({ id = 'any', kind }) => `${kind} ${id}`));
      return (await inner.read?.(parts, call)) ?? [];
    };
    this.plan = (desired, parts) => inner.plan(desired, parts);
    this.planMembers = (desired, parts) => inner.planMembers?.(desired, parts) ?? inner.plan(desired, parts);
    this.selectBackEnds = (service, backEnds) => inner.selectBackEnds?.(service, backEnds) ?? backEnds;
  }

  async observe(...[services, call]: Parameters<LoadBalancers['observe']>): ReturnType<LoadBalancers['observe']> {
    this.observes += 1;
    await this.observing(services.length);
    return this.inner.observe(services, call);
  }

  async apply(
    action: LoadBalancerAction,
    desired: DesiredLoadBalancer,
    call: CallContext,
  ): Promise<LoadBalancerActionResult> {
    await this.before(action, desired);
    this.applied.push(`${action.kind} ${action.part} ${desired.service.name}`);
    const result = await this.inner.apply(action, desired, call);
    await this.after(action, desired);
    return result;
  }

  listOwned(call: CallContext): ReturnType<LoadBalancers['listOwned']> {
    return this.inner.listOwned(call);
  }
}

/** What a provider can be asked about parts: by their names, by their IDs alone, or not at all. */
export type Asking = 'named' | 'by-id' | 'never';

export function ask(provider: WatchedProvider, asking: Asking): void {
  if (asking !== 'named') provider.namedByOwner = [];
  if (asking === 'never') delete provider.read;
}

export interface Rig {
  readonly api: FakeApi;
  readonly cloud: MemoryCloud;
  readonly provider: WatchedProvider;
  readonly clock: FakeClock;
  readonly locks: Locks;
  readonly events: (EventNote & { readonly name: string })[];
  /** Whether calls with this context are known to change nothing. */
  readonly isForReads: (call: CallContext) => boolean;
  readonly reasons: (name: string) => readonly string[];
  /** By its key or, of one that is deleted, its UID. */
  readonly explain: ServiceController['explain'];
  /** What is known of a Service, in words. */
  readonly observed: (name: string) => readonly Fact[];
  /** What is planned for a Service, in words. */
  readonly planned: (name: string) => readonly Fact[];
  /** Its line of the list. */
  readonly listed: (name: string) => Standing | undefined;
  /** A changed cloud config was taken. */
  readonly reconfigured: () => void;
  /** Parts that this Service owns, by kind. */
  readonly partsOf: (uid: string) => readonly MemoryPart[];
  start(
    options?: Partial<ServiceControllerOptions>,
    more?: Partial<Pick<ServiceControllerDependencies, 'journal' | 'logger' | 'machines' | 'metrics'>>,
  ): Promise<void>;
  stop(): Promise<void>;
}

export async function createRig(): Promise<Rig> {
  const clock = new FakeClock();
  const api = new FakeApi();
  const cloud = createMemoryCloud({ clock, random: () => 0.5 });
  const provider = new WatchedProvider(await openLoadBalancers(cloud, clock));
  const locks = new Locks();
  const events: (EventNote & { name: string })[] = [];
  let stop: () => Promise<void> = () => Promise.resolve();
  let explain: ServiceController['explain'] = () => undefined;
  let list: () => Iterable<Standing> = () => [];
  const reconfigured = new Set<() => void>();
  const forReads = new WeakSet<AbortSignal>();
  return {
    api,
    cloud,
    provider,
    clock,
    locks,
    events,
    isForReads: (call) => forReads.has(call.signal),
    reasons: (name) => events.filter((event) => event.name === name).map(({ reason }) => reason),
    explain: (key) => explain(key),
    observed: (name) => explain(`default/${name}`)?.observed ?? [],
    planned: (name) => explain(`default/${name}`)?.planned ?? [],
    listed: (name) => [...list()].find((one) => one.name === `default/${name}`),
    reconfigured: () => reconfigured.forEach((listener) => listener()),
    partsOf: (uid) => cloud.parts().filter(({ tags }) => tags.uid === uid && tags.clusterId === CLUSTER),
    start: async (options = {}, more = {}) => {
      const ended = new AbortController();
      const controller = createServiceController({
        client: api.client,
        services: api.services.store,
        nodes: api.nodes.store,
        provider,
        callContext: ({ signal, priority, reads = false }) => {
          const call = callContext(signal, priority);
          if (reads) forReads.add(call.signal);
          return call;
        },
        events: { record: (about, note) => void events.push({ ...note, name: about.metadata?.name ?? '' }) },
        clock,
        logger: silentLogger,
        metrics: noMetrics,
        random: () => 0,
        locks,
        ...more,
        onReconfigured: (listener) => {
          reconfigured.add(listener);
          return () => void reconfigured.delete(listener);
        },
        options: { providerName: 'memory', clusterId: CLUSTER, ...options },
      });
      explain = (key) => controller.explain(key);
      list = () => controller.list?.('service') ?? [];
      const running = controller.run(ended.signal);
      stop = async () => {
        ended.abort();
        await clock.advance(31_000);
        await running;
      };
      await clock.settle();
    },
    stop: () => stop(),
  };
}

/** `web` on one node, served. */
export async function servedRig(): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(10_000);
  return rig;
}
