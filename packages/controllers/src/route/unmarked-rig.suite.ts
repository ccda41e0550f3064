/** For tests: the route controller over a cloud that keeps no owner with a route, and that can be started again. */
import { canonicalIp, CloudError, type Route, type RouteRequest, type Routes } from '@outrigger/cloud-provider';
import {
  noMetrics,
  resources,
  silentLogger,
  StatusError,
  type Client,
  type ConfigMap,
  type EventNote,
  type KubeObject,
  type Node,
  type Patch,
  type Resource,
  type ResourceClient,
} from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { createRouteController } from './route-controller.ts';

/** The UID of kube-system. */
export const CLUSTER = 'cluster-1';

/** Routes as a router of Neutron has them: a set of `destination via hop`. */
export class UnmarkedCloud implements Routes {
  readonly batchSize = 3;
  readonly unmarked = true;
  readonly routes: Set<string> = new Set();
  /** What was done, in order. */
  readonly done: string[] = [];
  /** Before each request; throw to fail it. */
  before: (request: 'list' | 'create' | 'delete') => void = () => {};
  /** After the work; throw for an answer that is lost. */
  after: (request: 'list' | 'create' | 'delete') => void = () => {};
  readonly #clock: FakeClock;

  /** `instance`: its routes lead to machines, as those of a route table that names no addresses. */
  readonly nextHop: 'address' | 'instance';
  /** Said of routes to machines besides. */
  addressBeside: string | undefined;
  /** Machines of which the cloud knows nothing any more: their routes are black holes. */
  readonly forgotten: Set<string> = new Set();

  constructor(clock: FakeClock, nextHop: 'address' | 'instance' = 'address') {
    this.#clock = clock;
    this.nextHop = nextHop;
  }

  async list(): Promise<{ readonly asOf: number; readonly routes: readonly Route[] }> {
    const asOf = this.#clock.monotonic();
    this.before('list');
    const routes = Array.from(this.routes, (id): Route => {
      const [destination = '', hop = ''] = id.split(' via ');
      const blackhole = this.forgotten.has(hop);
      const target = blackhole
        ? {}
        : this.nextHop === 'instance'
          ? { targetProviderID: hop, ...(this.addressBeside && { nextHops: [this.addressBeside] }) }
          : { nextHops: [hop] };
      return { id, destination, ...target, blackhole, ownership: 'unmarked' };
    });
    await Promise.resolve();
    return { asOf, routes };
  }

  async create(
    requests: readonly RouteRequest[],
  ): Promise<readonly ({ kind: 'done' } | { kind: 'exists' } | Failed)[]> {
    this.before('create');
    await Promise.resolve();
    const results = requests.map(({ addresses, destination, node, replaces = [] }) => {
      const hop = this.nextHop === 'instance' ? node.providerID : canonicalIp(addresses[0]?.address ?? '');
      const id = `${destination} via ${hop}`;
      if (hop === undefined) return failed('conflict');
      if (this.routes.has(id)) return { kind: 'exists' } as const;
      const old = replaces.map((route) => route.id);
      const others = [...this.routes].filter((other) => other.startsWith(`${destination} `) && !old.includes(other));
      if (others.length > 0) return failed('conflict');
      this.routes.add(id);
      this.done.push(`+ ${id}`);
      return { kind: 'done' } as const;
    });
    this.after('create');
    return results;
  }

  async delete(routes: readonly Route[]): Promise<readonly ({ kind: 'done' } | Failed)[]> {
    this.before('delete');
    await Promise.resolve();
    const results = routes.map(({ id, ownership }) => {
      if (ownership !== 'owned') return failed('not-owned');
      if (this.routes.delete(id)) this.done.push(`- ${id}`);
      return { kind: 'done' } as const;
    });
    this.after('delete');
    return results;
  }
}

interface Failed {
  readonly kind: 'failed';
  readonly error: Error;
}

function failed(code: 'conflict' | 'not-owned'): Failed {
  return { kind: 'failed', error: new CloudError(code, code) };
}

export function addressedNode(
  name: string,
  podCIDRs: readonly string[],
  address: string,
  uid: string = `uid-${name}`,
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { providerID: `cloud:///${uid}`, podCIDRs: [...podCIDRs] },
    status: { addresses: [{ type: 'InternalIP', address }], conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export class UnmarkedRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  readonly cloud: UnmarkedCloud;
  readonly events: EventNote[] = [];
  /** The record, as stored; `undefined`: there is no ConfigMap. */
  configMap: ConfigMap | undefined;
  recordWrites: number = 0;
  /** The prefix of the nodes' provider IDs. */
  readonly providerName: string;
  /** What is observed and planned for a node, in words. */
  explain: (key: string) => readonly string[] = () => [];
  /** Before each request of the ConfigMap; throw to fail it. */
  beforeRecord: (verb: 'get' | 'patch' | 'create') => void = () => {};
  #ended = new AbortController();
  #running: Promise<void> | undefined;

  constructor(nextHop: 'address' | 'instance' = 'address', providerName: string = 'cloud') {
    this.cloud = new UnmarkedCloud(this.clock, nextHop);
    this.providerName = providerName;
  }

  /** `routes`: of a provider. Default: of `cloud`. */
  async start(routes: Routes = this.cloud): Promise<void> {
    this.#ended = new AbortController();
    const { signal } = this.#ended;
    const controller = createRouteController({
      client: this.#client,
      store: this.api.store,
      routes,
      callContext: ({ signal: given, priority }) => ({
        signal: given,
        priority,
        logger: silentLogger,
        call: (_operation, send) => send(given),
      }),
      events: { record: (_about, note) => void this.events.push(note) },
      clock: this.clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      options: {
        providerName: this.providerName,
        clusterId: CLUSTER,
        clusterCidrs: parseClusterCidrs('10.0.0.0/16,fd00::/48'),
      },
    });
    this.explain = (key) => {
      const { observed = [], planned = [] } = controller.explain(key) ?? {};
      return [...observed, ...planned].map(({ text }) => text);
    };
    this.#running = controller.run(signal);
    await this.settle();
  }

  /** As kill -9: nothing more is written. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    this.#running = undefined;
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  get recorded(): readonly string[] {
    return (this.configMap?.data?.[this.providerName] ?? '').split('\n').filter((line) => line !== '');
  }

  /** The status of NetworkUnavailable. */
  condition(name: string): string | undefined {
    const conditions = this.api.nodes.get(name)?.status?.conditions;
    return conditions?.find(({ type }) => type === 'NetworkUnavailable')?.status;
  }

  get routes(): readonly string[] {
    return [...this.cloud.routes].toSorted();
  }

  readonly #client: Pick<Client, 'of'> = {
    of: <T extends KubeObject>(resource: Resource<T>): ResourceClient<T> =>
      (resource.plural === resources.configMaps.plural
        ? this.#configMaps
        : this.api.client.of(resource)) as ResourceClient<T>,
  };

  readonly #configMaps: object = {
    get: async () => {
      await this.#askRecord('get');
      return this.#existing();
    },
    patch: async (_ref: unknown, patch: Patch) => {
      await this.#askRecord('patch');
      const before = this.#existing();
      const { data, metadata = {} } = (patch as { body: ConfigMap }).body;
      const { resourceVersion = before.metadata?.resourceVersion } = metadata;
      if (resourceVersion !== before.metadata?.resourceVersion) {
        throw new StatusError('configmaps', 409, { reason: 'Conflict', code: 409 });
      }
      return this.#store({ ...before, data: { ...before.data, ...data } });
    },
    create: async (object: ConfigMap) => {
      await this.#askRecord('create');
      if (this.configMap) throw new StatusError('configmaps', 409, { reason: 'AlreadyExists', code: 409 });
      return this.#store(object);
    },
  };

  #store(object: ConfigMap): ConfigMap {
    const resourceVersion = String(++this.recordWrites);
    return (this.configMap = { ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  async #askRecord(verb: 'get' | 'patch' | 'create'): Promise<void> {
    await Promise.resolve();
    if (this.#ended.signal.aborted) throw new Error('stopped');
    this.beforeRecord(verb);
  }

  #existing(): ConfigMap {
    if (this.configMap) return this.configMap;
    throw new StatusError('configmaps', 404, { reason: 'NotFound', code: 404 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
