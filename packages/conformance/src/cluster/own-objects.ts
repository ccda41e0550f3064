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
  /** Milliseconds for each step of the removal. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export class OwnObjects {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly #options: OwnObjectsOptions;
  readonly #machines: ClusterMachine[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #openedAt = 0;
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
    const created = await client
      .of(resources.namespaces)
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata }, { signal });
    this.#openedAt = Date.parse(created.metadata?.creationTimestamp ?? '');
  }

  /** By the clock of the API server. */
  isOlderThanRun({ metadata }: Node): boolean {
    return Date.parse(metadata?.creationTimestamp ?? '') < this.#openedAt;
  }

  /** The removal waits for this to end: it may be making things, or have the cloud fail, when the run is stopped. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
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
    const name = `conformance-${run}-${this.#named}`;
    try {
      const machine = await fixture.makeMachine(name, signal);
      this.#machines.push(machine);
      return machine;
    } catch (error) {
      // It may have been made all the same.
      this.#machines.push({ nodeName: name });
      throw error;
    }
  }

  /**
   * Takes all of it away, whether or not the run was stopped. Services go first, as the manager has to undo what stands in the cloud for
   * them. What stays holds up nothing else: each step has the time of its own. Gives one line for each thing that is left.
   */
  async remove(): Promise<readonly string[]> {
    const { client, fixture } = this.#options;
    await this.#step('the end of the tests', (signal) =>
      raceAbort(Promise.allSettled(this.#underWay), signal).catch(() => {}),
    );
    const left = [...(await this.#step('the removal of Services', (signal) => this.#removeServices(signal)))];
    const attempt = async (what: string, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> => {
      try {
        await this.#step(`the removal of ${what}`, work);
      } catch (error) {
        if (!isNotFound(error)) left.push(`${what} could not be removed: ${String(error)}`);
      }
    };
    // A kubelet would register anew while its machine runs, hence machines before Nodes.
    await Promise.all(
      this.#machines.map((machine) =>
        attempt(`the machine of node ${machine.nodeName}`, async (signal) => fixture?.deleteMachine(machine, signal)),
      ),
    );
    await attempt('Nodes', (signal) => this.#removeNodes(signal));
    await attempt(`namespace ${this.namespace}`, (signal) =>
      client.of(resources.namespaces).delete({ name: this.namespace }, { signal }),
    );
    return left;
  }

  async #step<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    const deadline = deadlineSignal(clock, timeoutMs, what);
    try {
      return await work(deadline.signal);
    } finally {
      deadline.cancel();
    }
  }

  async #removeServices(signal: AbortSignal): Promise<readonly string[]> {
    const { client, clock } = this.#options;
    const services = client.of(resources.services);
    const { namespace } = this;
    let there: readonly Service[] | undefined;
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
      if (there === undefined || !signal.aborted)
        return [`the Services of namespace ${namespace} could not be removed: ${String(error)}`];
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
