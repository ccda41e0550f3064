/** For tests: the controller over the memory cloud, on a clock that stands still, with the objects of an API in memory. */
import {
  loadBalancerOwnerAnnotation,
  type CallContext,
  type LoadBalancers,
  type Routes,
} from '@outrigger/cloud-provider';
import { silentLogger, type EventNote, type KubeObject, type Metrics, type Node, type Service } from '@outrigger/kube';
import { createMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { FakeClock } from '@outrigger/testing';
import { callContext, CLUSTER, openMemoryProvider } from '../load-balancer/memory-provider.suite.ts';
import { Journal } from '../journal.ts';
import { cleanupFinalizer } from '../service/well-known-names.ts';
import type { Locks } from '../load-balancer/locks.ts';
import { createOrphanController, type OrphanController, type OrphanControllerOptions } from './orphan-controller.ts';

const PERIOD_MS = 600_000;
export const GRACE_MS = 86_400_000;

const PARTS = ['address', 'load-balancer', 'firewall', 'dns'] as const;

const SERVED: Service = {
  metadata: { annotations: { [loadBalancerOwnerAnnotation]: 'memory' }, finalizers: [cleanupFinalizer] },
  spec: { type: 'LoadBalancer' },
};

export class OrphanRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly cloud: MemoryCloud = createMemoryCloud({ clock: this.clock, random: () => 0.5 });
  readonly services: Map<string, Service> = new Map();
  readonly nodes: Map<string, Node> = new Map();
  readonly events: EventNote[] = [];
  readonly metrics: Map<string, number> = new Map();
  /** Called before each list of objects; throw to fail it, or change what is there. */
  beforeList: (plural: string) => void = () => {};
  /** Kinds of which whole objects were listed. */
  readonly wholeLists: string[] = [];
  /** The UID of kube-system on the API server that answers now. */
  clusterUid: string = CLUSTER;
  /** The record of routes, as stored. */
  record: Readonly<Record<string, string>> = {};
  recordFails = false;
  dryRun = false;
  /** Whether calls with this context are known to change nothing. */
  readonly isForReads = (call: CallContext): boolean => this.#forReads.has(call.signal);
  readonly #forReads = new WeakSet<AbortSignal>();
  /** Warnings, and what each is about. */
  readonly warnings: string[] = [];
  /** What is planned, in a dry run. */
  planned: () => readonly string[] = () => [];
  controller: OrphanController | undefined;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;

  constructor() {
    // Each API server has it.
    this.service('the-api-server');
  }

  /** Default: one that the provider serves. */
  service(uid: string, { metadata, ...rest }: Service = SERVED): void {
    this.services.set(uid, { ...rest, metadata: { ...metadata, name: uid, namespace: 'default', uid } });
  }

  /** What a Service with this UID has, or had. */
  loadBalancer(uid: string, clusterId: string = CLUSTER): void {
    for (const kind of PARTS) this.cloud.createPart({ kind, tags: { clusterId, uid }, attributes: {} });
  }

  /** A route as it is made for the node of this name. */
  route(node: string, destination: string, clusterId: string = CLUSTER): void {
    if (!this.cloud.instance(node)) this.cloud.createInstance({ name: node });
    this.cloud.createRoute({ destination, instanceId: node, nodeName: node, clusterId });
  }

  /** UIDs that still have parts. */
  get left(): readonly string[] {
    return [...new Set(this.cloud.parts().map(({ tags }) => tags.uid ?? ''))].toSorted();
  }

  get destinations(): readonly string[] {
    return this.cloud.routes().map(({ destination }) => destination);
  }

  get reasons(): readonly string[] {
    return this.events.map(({ reason }) => reason);
  }

  async start(
    options: Partial<OrphanControllerOptions> = {},
    change: (provider: { loadBalancers?: LoadBalancers; routes?: Routes }) => object = (provider) => provider,
    locks?: Locks,
  ): Promise<void> {
    const { clock, cloud } = this;
    const { loadBalancers, routes } = await openMemoryProvider(cloud, clock);
    const provider = change({ ...(loadBalancers && { loadBalancers }), ...(routes && { routes }) });
    const name = (metric: string, labels: object = {}): string => [metric, ...Object.values(labels)].join(' ');
    const metrics: Metrics = {
      counter: (metric) => ({
        inc: (labels, by = 1) => {
          const key = name(metric.name, labels);
          this.metrics.set(key, (this.metrics.get(key) ?? 0) + by);
        },
      }),
      gauge: (metric) => ({ set: (value, labels) => void this.metrics.set(name(metric.name, labels), value) }),
      histogram: () => ({ observe: () => {} }),
      onCollect: () => {},
    };
    const journal = new Journal({ clock, logger: silentLogger, dryRun: this.dryRun, redact: (text) => text });
    this.planned = () => journal.plans().flatMap(({ actions }) => actions.map(({ summary }) => summary));
    this.controller = createOrphanController({
      client: { of: (resource) => this.#client(resource.plural) as never },
      provider,
      callContext: ({ signal, priority, reads = false }) => {
        const call = callContext(signal, priority);
        if (reads) this.#forReads.add(call.signal);
        return call;
      },
      ...(locks && { locks }),
      leaderSince: clock.monotonic(),
      events: { record: (_about: KubeObject, note) => void this.events.push(note) },
      clock,
      logger: {
        ...silentLogger,
        warn: (message, fields = {}) => void this.warnings.push(`${message}: ${JSON.stringify(fields['orphan'])}`),
      },
      metrics,
      random: () => 0,
      journal: journal.of('orphan-controller'),
      options: {
        providerName: 'memory',
        clusterId: CLUSTER,
        policy: 'report',
        gracePeriodMs: GRACE_MS,
        maxDeletions: 10,
        maxFraction: 0.3,
        lookedAfter: [],
        periodMs: PERIOD_MS,
        ...options,
      },
    });
    this.#running = this.controller.run(this.#ended.signal);
    await clock.settle();
  }

  /** So many passes after the first one, which comes after a tenth of the period. */
  async passes(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.clock.advance(PERIOD_MS);
      // A pass reads and changes without a timer between; the last answer of it has no timer either.
      for (let turn = 0; turn < 5; turn++) await this.clock.settle();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  #client(plural: string): object {
    const list = (): readonly KubeObject[] => [...(plural === 'services' ? this.services : this.nodes).values()];
    const before = (options: { readonly trimmed?: boolean } = {}): void => {
      if (options.trimmed !== true) this.wholeLists.push(plural);
      this.beforeList(plural);
    };
    return {
      get: async ({ name }: { readonly name: string }) => {
        await Promise.resolve();
        if (plural === 'configmaps' && this.recordFails) throw new Error('forbidden');
        return { metadata: { name, uid: this.clusterUid }, ...(plural === 'configmaps' && { data: this.record }) };
      },
      pages: async function* (options?: { readonly trimmed?: boolean }) {
        await Promise.resolve();
        before(options);
        yield { items: list(), resourceVersion: '1' };
      },
    };
  }
}
