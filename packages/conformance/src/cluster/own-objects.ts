/**
 * All that a run makes, so that all of it can be taken away: a namespace with a name of its own, Nodes that carry the run's label, and the
 * fixture's machines. Nothing else is ever written.
 */
import {
  deadlineSignal,
  isNotFound,
  raceAbort,
  resources,
  type Client,
  type Clock,
  type Node,
  type Service,
} from '@outrigger/kube';
import type { ClusterFixture, ClusterMachine } from './cluster-fixture.ts';

/** On the namespace and on each Node that the run makes. */
export const RUN_LABEL = 'conformance.outrigger.dev/run';

export interface OwnObjectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fixture: ClusterFixture | undefined;
  /** Random, in lower case: with it everything is named and labelled. */
  readonly run: string;
  readonly signal: AbortSignal;
}

export class OwnObjects {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly #options: OwnObjectsOptions;
  readonly #machines: ClusterMachine[] = [];
  readonly #making = new Set<Promise<unknown>>();
  #named = 0;

  constructor(options: OwnObjectsOptions) {
    this.#options = options;
    this.namespace = `outrigger-conformance-${options.run}`;
    this.labels = { [RUN_LABEL]: options.run };
  }

  /** Throws what the API server answers: who may not make a namespace learns it before anything is there. */
  async open(): Promise<void> {
    const { client, signal } = this.#options;
    const metadata = { name: this.namespace, labels: { ...this.labels } };
    await client.of(resources.namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata }, { signal });
  }

  async createService(name: string, spec: NonNullable<Service['spec']>): Promise<Service> {
    const { client, signal } = this.#options;
    const metadata = { namespace: this.namespace, name, labels: { ...this.labels } };
    return await client
      .of(resources.services)
      .create({ apiVersion: 'v1', kind: 'Service', metadata, spec }, { signal });
  }

  async createNode(node: Node): Promise<Node> {
    const { client, signal } = this.#options;
    const metadata = { ...node.metadata, labels: { ...node.metadata?.labels, ...this.labels } };
    return await client.of(resources.nodes).create({ ...node, metadata }, { signal });
  }

  /** A machine of its own, with a name of its own. */
  async makeMachine(): Promise<ClusterMachine> {
    const { fixture, run, signal } = this.#options;
    if (!fixture) throw new TypeError('there is no fixture to make a machine with');
    this.#named++;
    // What is being made when the run is stopped is waited for, so that it can be taken away.
    const making = fixture.makeMachine(`conformance-${run}-${this.#named}`, signal);
    this.#making.add(making);
    try {
      const machine = await making;
      this.#machines.push(machine);
      return machine;
    } finally {
      this.#making.delete(making);
    }
  }

  /**
   * Takes all of it away, within `timeoutMs`, whether or not the run was stopped. Services go first, as the manager has to undo what
   * stands in the cloud for them. Gives one line for each thing that is left.
   */
  async remove(timeoutMs: number): Promise<readonly string[]> {
    const { clock, fixture } = this.#options;
    const deadline = deadlineSignal(clock, timeoutMs, 'the removal of what the run made');
    try {
      return await this.#removeAll(fixture, deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  async #removeAll(fixture: ClusterFixture | undefined, signal: AbortSignal): Promise<readonly string[]> {
    await raceAbort(Promise.allSettled(this.#making), signal).catch(() => {});
    const left = [...(await this.#removeServices(signal))];
    const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!isNotFound(error)) left.push(`${what} could not be removed: ${String(error)}`);
      }
    };
    // A kubelet would register anew while its machine runs, hence machines before Nodes.
    for (const machine of this.#machines)
      await attempt(`the machine of node ${machine.nodeName}`, async () => fixture?.deleteMachine(machine, signal));
    await attempt('Nodes', () => this.#removeNodes(signal));
    const { client } = this.#options;
    await attempt(`namespace ${this.namespace}`, () =>
      client.of(resources.namespaces).delete({ name: this.namespace }, { signal }),
    );
    return left;
  }

  async #removeServices(signal: AbortSignal): Promise<readonly string[]> {
    const { client, clock } = this.#options;
    const services = client.of(resources.services);
    const { namespace } = this;
    let there: readonly Service[] = [];
    try {
      for (;;) {
        there = (await services.list({ namespace, signal })).items;
        if (there.length === 0) return [];
        const asked = there.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
        await Promise.all(
          asked.map(({ metadata }) => gone(services.delete({ namespace, name: metadata?.name ?? '' }, { signal }))),
        );
        await clock.sleep(200, signal);
      }
    } catch (error) {
      if (!signal.aborted) return [`the Services of namespace ${namespace} could not be removed: ${String(error)}`];
      return there.map(
        ({ metadata }) =>
          `Service ${namespace}/${metadata?.name} is left: it waits for ${metadata?.finalizers?.join(', ') ?? 'its deletion'}`,
      );
    }
  }

  async #removeNodes(signal: AbortSignal): Promise<void> {
    const nodes = this.#options.client.of(resources.nodes);
    const labelSelector = `${RUN_LABEL}=${this.#options.run}`;
    for (const { metadata } of (await nodes.list({ labelSelector, signal })).items)
      await gone(nodes.delete({ name: metadata?.name ?? '' }, { signal }));
  }
}

async function gone(deleting: Promise<void>): Promise<void> {
  await deleting.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
