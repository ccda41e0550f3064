/** For tests: the node lifecycle controller between nodes in memory and a cloud that can lie, on a clock that stands still. */
import { CloudError, type CloudErrorCode, type InstanceResult, type NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, AnswerListener, InstanceLookups, ReadOptions } from '@outrigger/cloud-runtime';
import {
  silentLogger,
  StatusError,
  type Client,
  type DeleteOptions,
  type EventNote,
  type KubeObject,
  type Metrics,
  type Node,
  type ResourceClient,
  type Taint,
} from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { refOfNode } from '../node-ref.ts';
import { ToldHints } from '../told-hints.suite.ts';
import type { NodeLifecycleControllerOptions } from './lifecycle-dependencies.ts';
import { createNodeLifecycleController } from './node-lifecycle-controller.ts';
import { shutdownTaintKey } from './well-known-names.ts';

export interface NodeSpec {
  readonly uid?: string;
  /** Default: `True`. */
  readonly ready?: 'True' | 'False' | 'Unknown';
  /** `null`: none. Default: `fake://<name>`. */
  readonly providerID?: string | null;
  readonly taints?: readonly Taint[];
  readonly zone?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Default: a day before the clock begins. */
  readonly createdAt?: string;
  /** Of the Ready condition. */
  readonly transitionAt?: string;
  readonly heartbeatAt?: string;
}

export function nodeOf(name: string, spec: NodeSpec = {}): Node {
  const { uid = `uid-${name}`, ready = 'True', providerID = `fake://${name}`, taints, zone, annotations } = spec;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid,
      creationTimestamp: spec.createdAt ?? '2025-12-31T00:00:00Z',
      labels: zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone },
      ...(annotations && { annotations: { ...annotations } }),
    },
    spec: { ...(providerID !== null && { providerID }), ...(taints && { taints: [...taints] }) },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: ready,
          lastTransitionTime: spec.transitionAt ?? '2025-12-31T12:00:00Z',
          lastHeartbeatTime: spec.heartbeatAt ?? '2025-12-31T12:00:00Z',
        },
      ],
    },
  };
}

export const isShutdownTainted = (node: Node | undefined): boolean =>
  !!node?.spec?.taints?.some(({ key }) => key === shutdownTaintKey);

/** As the host's call budget has it; together they take longer than a read that counts as slow. */
const HOST_ATTEMPTS = 5;
const SENT_AGAIN_MS = 600;

/** Machines by provider ID, or by name where a node has none. */
export class LyingCloud {
  readonly machines: Map<string, 'running' | 'shutdown'> = new Map();
  /** Called for each answer, before it is given: change it, or throw. */
  listLie: (node: NodeRef, truth: InstanceResult) => InstanceResult = (_, truth) => truth;
  readLie: (node: NodeRef, truth: InstanceResult) => InstanceResult | Promise<InstanceResult> = (_, truth) => truth;
  /** Machines that are gone, and of which the cloud still knows that it had them. */
  readonly remembers: Set<string> = new Set();
  readonly batches: (readonly string[])[] = [];
  readonly reads: string[] = [];
  /** How often the host sends a read of which it may send so many: more than once for what passes, as a 500. */
  sendsOfRead: (node: NodeRef, most: number) => number = () => 1;
  /** Requests for reads, those sent again included. */
  sends: number = 0;
  /** Whether a name that is unknown is an answer about one machine. */
  provesByName: boolean = true;
  readonly #clock: FakeClock;
  #gathering: { node: NodeRef; resolve: (answer: DatedAnswer) => void }[] = [];
  /** What the node controller was told, by UID. */
  readonly known: Map<string, DatedAnswer> = new Map();
  /** Where it is asked: what its answers say. */
  place: string | undefined = undefined;
  readonly #listeners = new Set<AnswerListener>();
  readonly snapshot: Pick<InstanceLookups['snapshot'], 'get' | 'subscribe' | 'forget' | 'size'> = {
    get: (uid) => this.known.get(uid),
    subscribe: (listener) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    },
    forget: () => {},
    size: 0,
  };

  readonly hints: ToldHints = new ToldHints();

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  get calls(): number {
    return this.batches.length + this.reads.length;
  }

  /** What the node controller was told of a machine that it has just initialised the node of. */
  tellFound(node: NodeRef): void {
    const instance = { providerID: node.providerID ?? '', state: 'running' } as const;
    this.#answer(node, this.#clock.monotonic(), { kind: 'found', instance });
  }

  /** What the node controller asks about all nodes at its start, and once a status period. */
  refresh(nodes: Iterable<NodeRef>): void {
    for (const node of nodes) {
      this.#answer(node, this.#clock.monotonic(), this.listLie(node, this.#truth(node, 'missing')));
    }
  }

  lookUp(node: NodeRef): Promise<DatedAnswer> {
    if (this.#gathering.length === 0) queueMicrotask(() => this.#flush());
    return new Promise((resolve) => void this.#gathering.push({ node, resolve }));
  }

  async read(node: NodeRef, { signal, maxAttempts = HOST_ATTEMPTS }: ReadOptions): Promise<DatedAnswer> {
    this.reads.push(node.name);
    const sends = this.sendsOfRead(node, maxAttempts);
    this.sends += sends;
    const asOf = this.#clock.monotonic();
    if (sends > 1) await this.#clock.sleep(SENT_AGAIN_MS * (sends - 1), signal);
    const truth = this.#truth(node, 'absent');
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    aborted.catch(() => {});
    return this.#answer(node, asOf, await Promise.race([this.readLie(node, truth), aborted]));
  }

  #answer(node: NodeRef, asOf: number, result: InstanceResult): DatedAnswer {
    const answer = { asOf, result, ...(this.place === undefined ? {} : { place: this.place }) };
    for (const listener of this.#listeners) listener(node, 'state', answer);
    return answer;
  }

  #flush(): void {
    const batch = this.#gathering;
    this.#gathering = [];
    this.batches.push(batch.map(({ node }) => node.name));
    const asOf = this.#clock.monotonic();
    for (const { node, resolve } of batch) {
      resolve(this.#answer(node, asOf, this.listLie(node, this.#truth(node, 'missing'))));
    }
  }

  #truth(node: NodeRef, none: 'absent' | 'missing'): InstanceResult {
    const providerID = node.providerID ?? `fake://${node.name}`;
    const state = this.machines.get(providerID);
    if (state) return { kind: 'found', instance: { providerID, state } };
    const proves = none === 'absent' && (node.providerID !== undefined || this.provesByName);
    if (!proves) return { kind: 'missing' };
    const wasHere = this.remembers.has(providerID) && { wasHere: true as const };
    return { kind: 'absent', proof: `GET ${providerID}: 404`, ...wasHere };
  }
}

export const failure = (code: CloudErrorCode): InstanceResult => ({
  kind: 'failed',
  error: new CloudError(code, `the cloud said ${code}`),
});

export class LifecycleRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  readonly cloud: LyingCloud = new LyingCloud(this.clock);
  readonly events: { readonly name: string; readonly note: EventNote }[] = [];
  readonly metrics: Map<string, number> = new Map();
  readonly deleted: string[] = [];
  /** Called before each delete: throw to refuse it. */
  beforeDelete: (name: string) => void = () => {};
  /** Called when a node has been deleted. */
  onDeleted: (node: Node) => void = () => {};
  readonly #ended = new AbortController();
  #stamp = 0;
  #running: Promise<void> | undefined;

  /** A node and its machine. */
  join(name: string, spec: NodeSpec = {}): void {
    const providerID = spec.providerID ?? `fake://${name}`;
    this.cloud.machines.set(providerID, 'running');
    this.api.put(nodeOf(name, spec));
  }

  /** The kubelet's word, or the node controller's when it hears none. No two have the same time. */
  ready(name: string, status: 'True' | 'False' | 'Unknown', when: { heartbeat?: boolean } = {}): void {
    const node = this.api.nodes.get(name);
    if (!node) return;
    this.#stamp = Math.max(this.#stamp + 1, this.clock.now());
    const now = new Date(this.#stamp).toISOString();
    const conditions = (node.status?.conditions ?? []).map((condition) => ({
      ...condition,
      status,
      ...(condition.status !== status && { lastTransitionTime: now }),
      ...((when.heartbeat ?? status === 'True') && { lastHeartbeatTime: now }),
    }));
    this.api.put({ ...node, status: { ...node.status, conditions } });
  }

  /** The machine is gone, and its node is heard of no more. */
  vanish(name: string): void {
    this.cloud.machines.delete(`fake://${name}`);
    this.ready(name, 'Unknown');
  }

  async start(options: Partial<NodeLifecycleControllerOptions> = {}): Promise<void> {
    const { clock, api, cloud } = this;
    const label = (name: string, labels: object = {}): string => [name, ...Object.values(labels)].join(' ');
    const metrics: Metrics = {
      counter: ({ name }) => ({
        inc: (labels, by = 1) =>
          void this.metrics.set(label(name, labels), (this.metrics.get(label(name, labels)) ?? 0) + by),
      }),
      gauge: ({ name }) => ({ set: (value, labels) => void this.metrics.set(label(name, labels), value) }),
      histogram: () => ({ observe: () => {} }),
      onCollect: () => {},
    };
    this.#running = createNodeLifecycleController({
      client: this.#client(),
      store: api.store,
      lookups: cloud,
      events: { record: ({ metadata }, note) => void this.events.push({ name: metadata?.name ?? '', note }) },
      clock,
      logger: silentLogger,
      metrics,
      random: () => 0.5,
      options: { providerName: 'fake', ...options },
    }).run(this.#ended.signal);
    await this.settle();
  }

  /** As the node controller does, beside this one. */
  refresh(): void {
    this.cloud.refresh([...this.api.nodes.values()].map(refOfNode));
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 4; i++) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  reasons(name: string): readonly string[] {
    return this.events.filter((event) => event.name === name).map(({ note }) => note.reason);
  }

  get deletedNames(): readonly string[] {
    return this.deleted.toSorted((a, b) => (a < b ? -1 : 1));
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #client(): Pick<Client, 'of'> {
    const remove = async ({ name }: { name: string }, { preconditions = {} }: DeleteOptions = {}): Promise<void> => {
      await Promise.resolve();
      this.beforeDelete(name);
      const node = this.api.nodes.get(name);
      if (!node) throw new StatusError(`DELETE ${name}`, 404, { reason: 'NotFound', code: 404 });
      const { uid, resourceVersion } = node.metadata ?? {};
      if (preconditions.uid !== uid || preconditions.resourceVersion !== resourceVersion) {
        throw new StatusError(`DELETE ${name}`, 409, { reason: 'Conflict', code: 409 });
      }
      this.deleted.push(name);
      this.onDeleted(node);
      this.api.remove(name);
    };
    return {
      of: <T extends KubeObject>(resource: Parameters<Client['of']>[0]): ResourceClient<T> => {
        const nodes = this.api.client.of(resource) as unknown as ResourceClient<Node>;
        return Object.assign(nodes, { delete: remove }) as unknown as ResourceClient<T>;
      },
    };
  }
}
