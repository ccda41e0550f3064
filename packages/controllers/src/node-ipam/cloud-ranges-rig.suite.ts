/** For tests: the controller of the cloud's ranges over nodes in memory and a cloud of a few lines, through restarts. */
import type { Instance, InstanceAnswer, PodRangeRequest, PodRangeResult } from '@outrigger/cloud-provider';
import { createInstanceLookups, type InstanceLookups, type MakeCallContext } from '@outrigger/cloud-runtime';
import { noMetrics, silentLogger, StatusError, type EventNote, type Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { FakeNodeApi, type BeforeRequest } from '../node/fake-node-api.suite.ts';
import { refOfNode } from '../node-ref.ts';
import { createCloudRanges, type CloudRanges } from './cloud-ranges.ts';
import type { RangeDirection } from './cloud-ranges-plan.ts';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';

export class CloudRangesRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  readonly events: { readonly name: string; readonly reason: string; readonly message: string }[] = [];
  /** Ranges of the machines, by the name of their nodes. */
  readonly machines: Map<string, readonly string[]> = new Map();
  /** Names of nodes of whose machines the cloud says nothing for now. */
  readonly silent: Set<string> = new Set();
  lookUps = 0;
  /** Requests of each `assign`. */
  readonly batches: number[] = [];
  setsNetworkCondition = true;
  /** For so long another allocator is looked for. */
  observeMs = 0;
  exclusive = false;
  unmanaged: readonly UnmanagedRule[] = [];
  /** Called before each request to the API server; throw for a failure. */
  beforeRequest: BeforeRequest = () => {};
  /** Called before each request to the cloud, and after each assignment took effect. */
  onCloud: (when: 'before' | 'after') => void = () => {};
  readonly #direction: RangeDirection;
  #ended = new AbortController();
  #running: Promise<void> | undefined;
  #lookups: InstanceLookups | undefined;
  #controller: CloudRanges | undefined;
  #uids = 0;

  constructor(direction: RangeDirection) {
    this.#direction = direction;
    this.api.before = (request) => {
      const { verb, name, subresource } = request;
      this.beforeRequest(request);
      const isSet = (this.api.nodes.get(name)?.spec?.podCIDRs?.length ?? 0) > 0;
      if (verb === 'patch' && subresource === '' && isSet) {
        throw new StatusError(`PATCH ${name}`, 422, { reason: 'Invalid', code: 422 });
      }
    };
  }

  join(name: string, podCIDRs: readonly string[] = [], providerID = `test://${name}`): void {
    const spec = { providerID, ...(podCIDRs.length > 0 && { podCIDR: podCIDRs[0] ?? '', podCIDRs: [...podCIDRs] }) };
    this.api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${this.#uids++}` }, spec, status: {} });
  }

  /** As its kubelet can, once. */
  claim(name: string, podCIDRs: readonly string[]): void {
    const node = this.api.nodes.get(name);
    this.api.put({ ...node, spec: { ...node?.spec, podCIDR: podCIDRs[0] ?? '', podCIDRs: [...podCIDRs] } });
  }

  cidrsOf(name: string): readonly string[] {
    return this.api.nodes.get(name)?.spec?.podCIDRs ?? [];
  }

  networkOf(name: string): string | undefined {
    const conditions = this.api.nodes.get(name)?.status?.conditions ?? [];
    return conditions.find(({ type }) => type === 'NetworkUnavailable')?.status;
  }

  eventsOf(name: string): readonly string[] {
    return this.events.filter((event) => event.name === name).map(({ reason }) => reason);
  }

  /** Another controller asks the cloud about this node. */
  async lookUp(name: string): Promise<void> {
    const node = this.api.store.get(name);
    const asked = node && this.#lookups?.lookUp(refOfNode(node), { need: 'metadata', signal: this.#ended.signal });
    asked?.catch(() => {});
    await this.settle();
  }

  /** A person looks at all nodes. */
  explain(): readonly string[] {
    const controller = this.#controller;
    const findings = [...this.api.nodes.keys()].flatMap((name) => controller?.explain(name) ?? []);
    const planned = findings.flatMap((finding) => finding.planned.map(({ text }) => text));
    return [...planned, ...Array.from(controller?.list?.('node') ?? [], ({ name }) => name)];
  }

  async start(): Promise<void> {
    const { api, clock } = this;
    this.#ended = new AbortController();
    const callContext: MakeCallContext = ({ signal, priority }) => ({
      signal,
      priority,
      logger: silentLogger,
      call: (_operation, send) => send(signal),
    });
    const lookups = createInstanceLookups({
      instances: {
        batchSize: 500,
        lookUp: async (nodes) => {
          this.lookUps += 1;
          this.onCloud('before');
          const asOf = clock.monotonic();
          return nodes.map(({ name }): InstanceAnswer => ({ asOf, result: this.#instance(name) }));
        },
        read: () => Promise.reject(new Error('nothing is read directly')),
      },
      clock,
      logger: silentLogger,
      callContext,
    });
    this.#lookups = lookups;
    const controller = createCloudRanges({
      client: api.client,
      store: api.store,
      lookups,
      podRanges: { batchSize: 2, assign: (requests) => this.#assign(requests) },
      callContext,
      events: {
        record: ({ metadata }: Node, { message, reason }: EventNote) =>
          void this.events.push({ name: metadata?.name ?? '', reason, message }),
      },
      clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      observeMs: this.observeMs,
      exclusive: this.exclusive,
      options: {
        direction: this.#direction,
        providerName: 'test',
        setsNetworkCondition: this.setsNetworkCondition,
        unmanaged: this.unmanaged,
      },
    });
    this.#controller = controller;
    const run = async (): Promise<void> => {
      await controller.run(this.#ended.signal);
      await lookups[Symbol.asyncDispose]();
    };
    this.#running = run();
    await this.settle();
  }

  #instance(name: string): InstanceAnswer['result'] {
    if (this.silent.has(name)) return { kind: 'failed', error: new Error('not now') };
    const podCidrs = this.machines.get(name);
    if (!podCidrs) return { kind: 'missing' };
    const instance: Instance = { providerID: `test://${name}`, state: 'running', podCidrs };
    return { kind: 'found', instance };
  }

  async #assign(requests: readonly PodRangeRequest[]): Promise<readonly PodRangeResult[]> {
    this.batches.push(requests.length);
    this.onCloud('before');
    const results = requests.map(({ node, podCidrs }): PodRangeResult => {
      const holders = [...this.machines].filter(([, has]) => has.some((one) => podCidrs.includes(one)));
      if (holders.some(([name]) => name !== node.name)) return { kind: 'failed', error: new Error('taken') };
      if (holders.length > 0) return { kind: 'exists' };
      this.machines.set(node.name, podCidrs);
      return { kind: 'done' };
    });
    this.onCloud('after');
    return results;
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 10; i++) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
