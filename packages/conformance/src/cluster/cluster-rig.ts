/**
 * What a test works with: the API, bounded waits, and what several tests look at together, which is made once. A machine or a load
 * balancer takes minutes in some clouds, and costs money in most.
 */
import { createHash } from 'node:crypto';
import { isNotFound, resources, type Client, type Node, type Service } from '@outrigger/kube';
import type { ClusterFixture, ClusterMachine, ServiceIdentity } from './cluster-fixture.ts';
import { History } from './history.ts';
import type { OwnObjects } from './own-objects.ts';
import type { Patience } from './patience.ts';
import { NotVerifiable } from './verdict.ts';

export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
/** Keeps pods off the Nodes of the run; and no manager may take it away, as it is another's. */
export const OWN_TAINT = 'conformance.outrigger.dev/no-pods';
export const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers';

export interface ClusterRigOptions {
  readonly client: Client;
  readonly patience: Patience;
  readonly own: OwnObjects;
  readonly fixture: ClusterFixture | undefined;
  /** The Node that the user named; empty: none. */
  readonly node: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** A Node of the run, or the one that the user named. */
export interface JudgedNode {
  readonly name: string;
  readonly machine: ClusterMachine | undefined;
  /** From its registration on; of the user's Node, from the beginning of the run on. */
  readonly history: History<Node>;
}

export interface NewNodeOptions {
  /**
   * Load balancers may send to it: all of the cluster's, as a cloud-controller-manager takes every Node into each of them, and nothing
   * serves behind a Node that the suite has made. Default: it is excluded.
   */
  readonly backEnd?: boolean | undefined;
}

export interface JudgedService {
  readonly created: Service;
  readonly identity: ServiceIdentity;
  readonly history: History<Service>;
}

export class ClusterRig implements AsyncDisposable {
  readonly client: Client;
  readonly patience: Patience;
  readonly own: OwnObjects;
  readonly fixture: ClusterFixture | undefined;
  readonly #options: ClusterRigOptions;
  readonly #shared = new Map<string, Promise<unknown>>();
  readonly #owned = new AsyncDisposableStack();

  constructor(options: ClusterRigOptions) {
    this.#options = options;
    this.client = options.client;
    this.patience = options.patience;
    this.own = options.own;
    this.fixture = options.fixture;
  }

  /** Made by the first test that asks; the others get the same. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    let made = this.#shared.get(name) as Promise<T> | undefined;
    if (made === undefined) {
      made = make();
      this.#shared.set(name, made);
    }
    return made;
  }

  /** The Node that most tests look at: registered, and not yet waited for. */
  judgedNode(): Promise<JudgedNode> {
    return this.once('node', async () => {
      if (this.fixture) return await this.newNode();
      const { node: name } = this.#options;
      return { name, machine: undefined, history: this.#watched(await this.node(name)) };
    });
  }

  /** The same, when its taint is gone. */
  initialisedNode(): Promise<JudgedNode> {
    return this.once('initialised node', async () => {
      const judged = await this.judgedNode();
      await this.#initialised(judged);
      return judged;
    });
  }

  /** Another machine with its Node, initialised. */
  async newInitialisedNode(options: NewNodeOptions = {}): Promise<JudgedNode & { readonly machine: ClusterMachine }> {
    const judged = await this.newNode(options);
    await this.#initialised(judged);
    return judged;
  }

  /** Another machine with its Node, as a kubelet registers it. */
  async newNode(options: NewNodeOptions = {}): Promise<JudgedNode & { readonly machine: ClusterMachine }> {
    const machine = await this.own.makeMachine();
    const { nodeName: name } = machine;
    const node =
      this.fixture?.nodesFrom === 'kubelet' ? await this.#joined(name) : await this.#registered(machine, options);
    return { name, machine, history: this.#watched(node) };
  }

  /** A Node of no machine at all, with this provider ID, which needs no initialisation. */
  async foreignNode(providerID: string): Promise<string> {
    const name = `${this.own.namespace}-foreign`;
    await this.own.createNode(nodeOf(name, this.#options.now(), { providerID, taints: [ownTaint()] }));
    return name;
  }

  /** `sign`: something that the manager does. Where it does not run, what must not happen does not happen either. */
  async whileAtWork(sign: Promise<unknown>): Promise<void> {
    try {
      await sign;
    } catch (error) {
      this.patience.signal.throwIfAborted();
      throw new NotVerifiable(
        `the manager does nothing at all: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
  }

  node(name: string): Promise<Node> {
    return this.client.of(resources.nodes).get({ name }, { signal: this.patience.signal });
  }

  /** As what watches kubelets sets it. Where there are kubelets, they and the control plane do that. */
  async setReady(name: string, status: 'True' | 'Unknown'): Promise<void> {
    if (this.fixture?.nodesFrom === 'kubelet') return;
    const body = { status: { conditions: [readyCondition(status, this.#options.now())] } };
    const options = { subresource: 'status', signal: this.patience.signal };
    await this.client.of(resources.nodes).patch({ name }, { type: 'strategic', body }, options);
  }

  async newService(name: string, spec: NonNullable<Service['spec']>): Promise<JudgedService> {
    const created = await this.own.createService(name, spec);
    const history = this.#owned.use(new History(this.client, resources.services, created));
    return { created, identity: { namespace: this.own.namespace, name, uid: created.metadata?.uid ?? '' }, history };
  }

  service({ namespace, name }: ServiceIdentity): Promise<Service> {
    return this.client.of(resources.services).get({ namespace, name }, { signal: this.patience.signal });
  }

  /** Its addresses, as soon as there is one. */
  async balanced(judged: JudgedService): Promise<readonly string[]> {
    const what = `Service ${judged.identity.name} of type LoadBalancer gets an address`;
    const look = (): Promise<Service> => this.service(judged.identity);
    return addressesOf(await this.patience.until(what, look, (seen) => addressesOf(seen).length > 0));
  }

  /** The Service that most tests look at; not yet waited for. */
  judgedService(): Promise<JudgedService> {
    return this.once('service', () => this.newService('balanced', balancedSpec('balanced')));
  }

  async changeService({ namespace, name }: ServiceIdentity, spec: object): Promise<void> {
    const { signal } = this.patience;
    await this.client.of(resources.services).patch({ namespace, name }, { type: 'merge', body: { spec } }, { signal });
  }

  async deleteService({ namespace, name }: ServiceIdentity): Promise<void> {
    await this.client.of(resources.services).delete({ namespace, name }, { signal: this.patience.signal });
  }

  async untilServiceIsGone(identity: ServiceIdentity): Promise<void> {
    const what = `Service ${identity.name} goes after its deletion`;
    await this.patience.until(
      what,
      () => orGone(this.service(identity)),
      (seen) => seen === undefined,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  #watched(node: Node): History<Node> {
    return this.#owned.use(new History(this.client, resources.nodes, node));
  }

  async #initialised({ name }: JudgedNode): Promise<void> {
    const what = `node ${name} has no taint ${UNINITIALIZED_TAINT} any more`;
    await this.patience.until(
      what,
      () => this.node(name),
      (node) => !hasTaint(node, UNINITIALIZED_TAINT),
    );
  }

  async #joined(name: string): Promise<Node> {
    const look = (): Promise<Node | undefined> => orGone(this.node(name));
    const node = await this.patience
      .until(`a kubelet registers node ${name}`, look, (seen) => seen !== undefined)
      .catch((error: unknown) => {
        throw new NotVerifiable(String(error));
      });
    if (node === undefined) throw new NotVerifiable(`no kubelet registers node ${name}`);
    // What carries the label is deleted at the end.
    if (this.own.isOlderThanRun(node))
      throw new NotVerifiable(
        `node ${name} was there before the run began: makeMachine of the fixture must make a new one`,
      );
    const body = { metadata: { labels: this.own.labels } };
    return await this.client
      .of(resources.nodes)
      .patch({ name }, { type: 'merge', body }, { signal: this.patience.signal });
  }

  async #registered({ nodeName, podCIDRs }: ClusterMachine, { backEnd }: NewNodeOptions): Promise<Node> {
    const [podCIDR] = podCIDRs ?? [];
    const spec: NonNullable<Node['spec']> = {
      ...(podCIDR !== undefined && podCIDRs && { podCIDR, podCIDRs: [...podCIDRs] }),
      taints: [ownTaint(), { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' }],
    };
    return await this.own.createNode(nodeOf(nodeName, this.#options.now(), spec, { backEnd }));
  }
}

function ownTaint(): NonNullable<NonNullable<Node['spec']>['taints']>[number] {
  return { key: OWN_TAINT, effect: 'NoSchedule' };
}

/**
 * What a kubelet that was started with `--cloud-provider=external` registers, in short. Without the label `kubernetes.io/os`, which most
 * DaemonSets that tolerate every taint ask for.
 */
function nodeOf(
  name: string,
  now: number,
  spec: NonNullable<Node['spec']>,
  { backEnd = false }: NewNodeOptions = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...(!backEnd && { [EXCLUDED]: 'true' }) } },
    spec,
    status: {
      addresses: [{ type: 'Hostname', address: name }],
      conditions: [readyCondition('True', now)],
      nodeInfo: {
        architecture: 'amd64',
        bootID: '',
        containerRuntimeVersion: '',
        kernelVersion: '',
        kubeProxyVersion: '',
        kubeletVersion: 'v1.30.0',
        machineID: '',
        operatingSystem: 'linux',
        osImage: '',
        systemUUID: createHash('sha256').update(name).digest('hex').slice(0, 32),
      },
    },
  };
}

function readyCondition(
  status: 'True' | 'Unknown',
  now: number,
): NonNullable<NonNullable<Node['status']>['conditions']>[number] {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/u, 'Z');
  return {
    type: 'Ready',
    status,
    reason: status === 'True' ? 'KubeletReady' : 'NodeStatusUnknown',
    message: 'set by the conformance suite: no kubelet stands behind this Node',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
}

/** A Service of type LoadBalancer with one port. */
export function balancedSpec(name: string): NonNullable<Service['spec']> {
  return {
    type: 'LoadBalancer',
    selector: { 'conformance.outrigger.dev/nobody': name },
    ports: [{ name: 'http', port: 80, targetPort: 8_080, protocol: 'TCP' }],
  };
}

export function hasTaint({ spec }: Node, key: string): boolean {
  return spec?.taints?.some((taint) => taint.key === key) ?? false;
}

export function hasFinalizer({ metadata }: Service): boolean {
  return metadata?.finalizers?.includes(FINALIZER) ?? false;
}

/** IPs and host names. */
export function addressesOf({ status }: Service): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '');
}

/** `undefined` when there is no such object. */
export async function orGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
