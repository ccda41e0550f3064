/** For tests: the route controller between nodes in memory and a cloud in memory, on a clock that stands still. */
import assert from 'node:assert/strict';
import type { Route } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, type EventNote, type Metrics, type Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { Standing } from '../finding.ts';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '../../../../providers/memory/src/index.ts';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { Journal } from '../journal.ts';
import { createRouteController } from './route-controller.ts';
import type { RouteControllerOptions } from './route-dependencies.ts';

export const CLUSTER = 'cluster-1';

/** What the nodes are made of: the machine of node `a` is `a`, unless told. */
export function nodeOf(
  name: string,
  podCIDRs: readonly string[],
  machine: string = name,
  uid: string = `uid-${name}`,
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { providerID: `memory://region-1/${machine}`, podCIDRs: [...podCIDRs] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export class RouteRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  readonly cloud: MemoryCloud;
  readonly events: { readonly name: string; readonly note: EventNote }[] = [];
  /** What the provider was asked to delete. */
  readonly deletions: Route[] = [];
  readonly metrics: Map<string, number> = new Map();
  readonly journal: Journal;
  explain: (key: string) => readonly string[] | undefined = () => undefined;
  list: () => readonly Standing[] = () => [];
  replan: () => void = () => {};
  /** Of the controller, from 0 to 1. */
  chance = 0;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;

  constructor(random: () => number = () => 0, dryRun = false) {
    const redact = (text: string): string => text;
    this.journal = new Journal({ clock: this.clock, logger: silentLogger, dryRun, redact });
    this.cloud = createMemoryCloud({ clock: this.clock, random });
  }

  /** A machine and the node on it. */
  join(name: string, ...podCIDRs: readonly string[]): void {
    if (!this.cloud.instance(name)) this.cloud.createInstance({ name });
    this.api.put(nodeOf(name, podCIDRs));
  }

  async start(options: Partial<RouteControllerOptions> = {}): Promise<void> {
    const { clock, api, cloud } = this;
    const opened = await openProvider(createMemoryProvider({ cloud }), {
      cluster: { id: CLUSTER, name: 'test' },
      clock,
      logger: silentLogger,
      random: () => 0,
      budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    });
    const { routes } = opened.capabilities;
    assert.ok(routes);
    const count = (name: string, labels: Readonly<Record<string, string>> = {}): string =>
      [name, ...Object.values(labels)].join(' ');
    const metrics: Metrics = {
      counter: ({ name }) => ({
        inc: (labels, by = 1) =>
          void this.metrics.set(count(name, labels), (this.metrics.get(count(name, labels)) ?? 0) + by),
      }),
      gauge: ({ name }) => ({ set: (value, labels) => void this.metrics.set(count(name, labels), value) }),
      histogram: () => ({ observe: () => {} }),
      onCollect: () => {},
    };
    const controller = createRouteController({
      client: api.client,
      store: api.store,
      routes: {
        batchSize: routes.batchSize,
        list: (call) => routes.list(call),
        create: (requests, call) => routes.create(requests, call),
        delete: (asked, call) => {
          this.deletions.push(...asked);
          return routes.delete(asked, call);
        },
      },
      callContext: (wanted) => opened.callContext(wanted),
      events: { record: ({ metadata }, note) => void this.events.push({ name: metadata?.name ?? '', note }) },
      clock,
      logger: silentLogger,
      metrics,
      random: () => this.chance,
      journal: this.journal.of('route'),
      // Not spread: some of them change.
      options: Object.defineProperties(
        { providerName: 'memory', clusterId: CLUSTER, clusterCidrs: parseClusterCidrs('10.0.0.0/16,fd00::/48') },
        Object.getOwnPropertyDescriptors(options),
      ),
    });
    this.explain = (key) => {
      const finding = controller.explain(key);
      return finding && [...finding.observed, ...finding.planned].map(({ text }) => text);
    };
    this.list = () => [...(controller.list?.('route') ?? [])];
    this.replan = () => controller.replan();
    this.#running = controller.run(this.#ended.signal);
    await this.settle();
  }

  /** Ends the controller and waits for it. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  /** Lets everything run that needs no time. */
  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  /** `destination → machine`, of this cluster's routes. */
  get owned(): readonly string[] {
    return this.cloud
      .routes()
      .filter(({ clusterId }) => clusterId === CLUSTER)
      .map(({ destination, instanceId }) => `${destination} → ${instanceId}`)
      .toSorted();
  }

  /** Requests by operation since the last time that this was asked. */
  takeCalls(): Readonly<Record<string, number>> {
    const { byOperation } = this.cloud.calls();
    this.cloud.resetCalls();
    return byOperation;
  }

  condition(name: string): string | undefined {
    const found = this.api.nodes.get(name)?.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
    return found && `${found.status} ${found.reason}`;
  }

  eventsOf(name: string): readonly string[] {
    return this.events.filter((event) => event.name === name).map(({ note }) => `${note.reason}: ${note.message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
