/**
 * Two kubelets in the hands of somebody else, on a cluster with NodeRestriction. One has a machine of its own, to which load
 * balancers lead, and rewrites whatever of its Node a kubelet may; the other registers with the provider ID of an honest node.
 */
import { isStatusError, resources, systemClock, type ResourceClient, type Node } from '@outrigger/kube';
import { clientOf, hollowNode, type HollowNodeOptions } from '@outrigger/testing';
import { Pacer } from './pacer.ts';

/** How much the two do together. */
export const KUBELETS = { pace: { perSecond: 5, atOnce: 2 } } as const;
const LARGE = 240_000;
const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers';
const ZONES = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region', 'node.kubernetes.io/instance-type'];

/**
 * Of a strategic merge patch, which is what a kubelet sends, and costs the API server a tenth of what a merge patch of a Node of 700 KB
 * does: the list as a whole.
 */
const replacing = (list: readonly object[]): readonly object[] => [{ $patch: 'replace' }, ...list];

export interface HostileKubeletsOptions {
  readonly random: () => number;
  /** The one with a machine; the file with which it signs in. */
  readonly own: HollowNodeOptions & { readonly kubeconfig: string };
  /** The one without: its name, and the provider ID of an honest node. */
  readonly twin: { readonly name: string; readonly providerID: string; readonly kubeconfig: string };
  /** Those of honest machines, of Services, and of nobody. */
  readonly addresses: readonly string[];
  readonly providerIDs: readonly string[];
}

export interface KubeletCounts {
  written: number;
  refused: number;
}

export class HostileKubelets implements AsyncDisposable {
  readonly counts: KubeletCounts = { written: 0, refused: 0 };
  readonly #owned = new AsyncDisposableStack();
  readonly #options: HostileKubeletsOptions;
  #pacer: Pacer | undefined;

  private constructor(options: HostileKubeletsOptions) {
    this.#options = options;
  }

  /** Registers both, and begins. */
  static async start(options: HostileKubeletsOptions): Promise<HostileKubelets> {
    const hostile = new HostileKubelets(options);
    const { own, twin } = options;
    const now = systemClock.now();
    const nodes = await hostile.#nodesAs(own.kubeconfig);
    await nodes.create(hollowNode({ ...own, now }));
    const claimed = hollowNode({ name: twin.name, now });
    const twins = await hostile.#nodesAs(twin.kubeconfig);
    await twins.create({ ...claimed, spec: { ...claimed.spec, providerID: twin.providerID } });
    const writers = [
      { nodes, name: own.name },
      { nodes: twins, name: twin.name },
    ];
    let turn = 0;
    const act = (): Promise<void> => hostile.#act(writers[turn++ % writers.length]!);
    hostile.#pacer = new Pacer({ ...KUBELETS.pace, act });
    hostile.#pacer.start();
    return hostile;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pacer?.stop();
    await this.#owned.disposeAsync();
  }

  async #nodesAs(kubeconfig: string): Promise<ResourceClient<Node>> {
    const client = this.#owned.use(await clientOf(kubeconfig));
    return client.of(resources.nodes);
  }

  async #act({ name, nodes }: { readonly name: string; readonly nodes: ResourceClient<Node> }): Promise<void> {
    const isStatus = this.#options.random() < 0.6;
    const body = isStatus ? { status: this.#status() } : this.#object();
    const subresource = isStatus ? { subresource: 'status' } : {};
    try {
      await nodes.patch({ name }, { type: 'strategic', body }, { ...subresource, answer: 'metadata' });
      this.counts.written++;
    } catch (error) {
      if (!isStatusError(error)) throw error;
      this.counts.refused++;
    }
  }

  #choose<T>(among: readonly T[]): T {
    return among[Math.floor(this.#options.random() * among.length)]!;
  }

  #status(): object {
    const { addresses, random } = this.#options;
    const choice = random();
    const at = new Date(systemClock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = (type: string, status: string, message: string): object => ({
      type,
      status,
      reason: 'Hostile',
      message,
      lastHeartbeatTime: at,
      lastTransitionTime: at,
    });
    if (choice < 0.4) {
      const some = Array.from({ length: 1 + Math.floor(random() * 5) }, () => this.#choose(addresses));
      const types = ['InternalIP', 'ExternalIP'];
      return { addresses: replacing(some.map((address) => ({ type: this.#choose(types), address }))) };
    }
    if (choice < 0.7)
      return { conditions: replacing([condition('Ready', this.#choose(['True', 'False', 'Unknown']), 'x')]) };
    if (choice < 0.85) {
      const large = condition('Ready', 'True', '-eyJ'.repeat(LARGE / 4));
      return { conditions: replacing([large, condition('NetworkUnavailable', 'True', 'x'.repeat(LARGE))]) };
    }
    const names = Array.from({ length: 50 }, (_, i) => `${'-eyJ'.repeat(1_000)}${i}`);
    return { images: names.map((image) => ({ names: [image], sizeBytes: 1 })) };
  }

  #object(): object {
    const { addresses, providerIDs, random } = this.#options;
    const choice = random();
    const metadata = (of: object): object => ({ metadata: of });
    if (choice < 0.15) return { spec: { providerID: this.#choose(providerIDs) } };
    if (choice < 0.3) return { spec: { taints: replacing([{ key: 'example.com/mine', effect: 'NoSchedule' }]) } };
    if (choice < 0.5) return metadata({ labels: { [EXCLUDED]: this.#choose(['true', null]) } });
    if (choice < 0.65) return metadata({ labels: { [this.#choose(ZONES)]: `z${Math.floor(random() * 9)}` } });
    if (choice < 0.75) return metadata({ labels: { edge: this.#choose(['true', null]) } });
    const ip = this.#choose([...addresses, '-eyJ'.repeat(LARGE / 4)]);
    return metadata({ annotations: { 'alpha.kubernetes.io/provided-node-ip': ip } });
  }
}
