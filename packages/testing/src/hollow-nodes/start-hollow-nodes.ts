/** Thousands of kubelets in one process. Entry point: `startHollowNodes`. */
import {
  resources,
  systemClock,
  systemRandom,
  WatchListMemory,
  reflector,
  type Client,
  type Clock,
  type Node,
  type Selectors,
} from '@outrigger/kube';
import { HollowKubelet, type Heartbeats, type KubeletContext } from './hollow-kubelet.ts';
import { hollowNode, type HollowNodeOptions } from './hollow-node.ts';
import { Limiter } from './limiter.ts';

export interface HollowNodesOptions {
  readonly client: Client;
  readonly count: number;
  /** How each one registers; `index` counts from 0. Default: `hollow-00000` … with an IP of 10.0.0.0/8. */
  readonly node?: (index: number) => HollowNodeOptions;
  /** Requests in flight. Default: 32. */
  readonly concurrency?: number;
  /** `false`: none, so that only a controller's writes load the server. Default: the kubelet's periods. */
  readonly heartbeats?: Heartbeats | false;
  /** Turn Ready when the taint is gone; needs one watch of all nodes. Default: true. */
  readonly becomeReady?: boolean;
  /** Of that watch. Default: all nodes; where others write large ones, these need not be read. */
  readonly selectors?: Selectors;
  /** Told of every error, which the kubelets deal with themselves. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
  /** In [0, 1). Default: the system's. */
  readonly random?: () => number;
  readonly signal?: AbortSignal;
}

/** Writes that have succeeded. */
export interface HollowNodeCounts {
  readonly registration: number;
  readonly lease: number;
  readonly status: number;
  readonly error: number;
}

/** A running fleet. Disposing stops the kubelets and leaves the Node objects. */
export interface HollowNodes extends AsyncDisposable {
  readonly names: readonly string[];
  readonly counts: HollowNodeCounts;
  /** How many have reported Ready. */
  readonly ready: number;
  /** Registers more; resolves with their names when all are. */
  add(count: number): Promise<readonly string[]>;
  /** The kubelet of this node dies: heartbeats end, the Node stays. Throws a `RangeError` when there is none. */
  stop(name: string): void;
  /** It runs again. */
  resume(name: string): void;
}

/** Registers `count` nodes and resolves when all are registered; from then on they live by `clock`. */
export async function startHollowNodes(options: HollowNodesOptions): Promise<HollowNodes> {
  const fleet = new Fleet(options);
  try {
    await fleet.add(options.count);
    return fleet;
  } catch (error) {
    await fleet[Symbol.asyncDispose]();
    throw error;
  }
}

/** A kubelet's periods (`pkg/kubelet/apis/config/v1beta1/defaults.go`). */
const KUBELET_HEARTBEATS: Required<Heartbeats> = { leaseMs: 10_000, statusMs: 300_000 };

class Fleet implements HollowNodes {
  readonly #options: HollowNodesOptions;
  readonly #context: KubeletContext;
  readonly #stop = new AbortController();
  readonly #kubelets = new Map<string, HollowKubelet>();
  readonly #counts = { registration: 0, lease: 0, status: 0, error: 0 };
  #watching: Promise<void> | undefined;

  constructor(options: HollowNodesOptions) {
    this.#options = options;
    const { heartbeats = {}, becomeReady = true } = options;
    this.#context = {
      client: options.client,
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      limiter: new Limiter(options.concurrency ?? 32),
      heartbeats: heartbeats === false ? undefined : { ...KUBELET_HEARTBEATS, ...heartbeats },
      becomeReady,
      signal: options.signal ? AbortSignal.any([options.signal, this.#stop.signal]) : this.#stop.signal,
      onWrite: (kind) => void this.#counts[kind]++,
      onError: (error) => this.#fail(error),
    };
  }

  get names(): readonly string[] {
    return [...this.#kubelets.keys()];
  }

  get counts(): HollowNodeCounts {
    return { ...this.#counts };
  }

  get ready(): number {
    let ready = 0;
    for (const kubelet of this.#kubelets.values()) if (kubelet.ready) ready++;
    return ready;
  }

  async add(count: number): Promise<readonly string[]> {
    const { node = defaultNode } = this.#options;
    const first = this.#kubelets.size;
    const added: HollowKubelet[] = [];
    for (let index = first; index < first + count; index++) {
      const now = this.#context.clock.now();
      const kubelet = new HollowKubelet(hollowNode({ now, ...node(index) }), this.#context);
      if (this.#kubelets.has(kubelet.name)) throw new RangeError(`there is a hollow node "${kubelet.name}" already`);
      this.#kubelets.set(kubelet.name, kubelet);
      added.push(kubelet);
    }
    if (this.#context.becomeReady) this.#watching ??= this.#watch();
    await Promise.all(added.map((kubelet) => kubelet.register()));
    return added.map((kubelet) => kubelet.name);
  }

  stop(name: string): void {
    this.#kubelet(name).stop();
  }

  resume(name: string): void {
    this.#kubelet(name).resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const kubelet of this.#kubelets.values()) kubelet.stop();
    this.#stop.abort(new DOMException('the hollow nodes were stopped', 'AbortError'));
    await this.#watching;
  }

  #kubelet(name: string): HollowKubelet {
    const kubelet = this.#kubelets.get(name);
    if (!kubelet) throw new RangeError(`there is no hollow node "${name}"`);
    return kubelet;
  }

  /** One watch for all: as many watches as nodes would measure this process, not the controller under test. */
  async #watch(): Promise<void> {
    const { client, clock, random, signal } = this.#context;
    const events = reflector(client.of(resources.nodes), {
      ...this.#options.selectors,
      clock,
      random,
      signal,
      watchList: new WatchListMemory(),
      transform: keepTaints,
      onError: ({ error }) => this.#fail(error),
    });
    for await (const event of events) {
      if (event.type !== 'apply' && event.type !== 'init-apply') continue;
      this.#kubelets.get(event.object.metadata?.name ?? '')?.observe(event.object);
    }
  }

  #fail(error: unknown): void {
    this.#counts.error++;
    this.#options.onError?.(error);
  }
}

/** All that a hollow kubelet looks at. */
function keepTaints(node: Node): Node {
  const { name = '', resourceVersion = '' } = node.metadata ?? {};
  return { metadata: { name, resourceVersion }, spec: { taints: node.spec?.taints ?? [] } };
}

function defaultNode(index: number): HollowNodeOptions {
  const ip = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return { name: `hollow-${String(index).padStart(5, '0')}`, ip };
}
