/**
 * The honest part of a cluster over the fake OpenStack: nodes that are servers of nova, some of them members of load balancers, and
 * Services. What is done to it is timed: how long each object takes to its state.
 */
import {
  noMetrics,
  openStore,
  resources,
  silentLogger,
  systemClock,
  type Client,
  type Node,
  type Selectors,
  type Service,
} from '@outrigger/kube';
import { hollowNode, startHollowNodes, type HollowNodeOptions, type HollowNodes } from '@outrigger/testing';
import type { FakeOpenStack } from '../providers/openstack/fake/fake-openstack.ts';
import type { SeededProject } from '../providers/openstack/fake/seed-project.ts';
import { isInitialised } from './initialised-node.ts';
import { addressOf } from './served-services.ts';

export const HONEST_NAMESPACE = 'honest';
/** Load balancers lead to nodes with this label. */
export const EDGE_LABEL = 'edge=true';
const EXCLUDED_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
const BARE_LABEL = 'bare';
const EDGE_NODES = 10;
const LIMIT_MS = 180_000;
const LOOK_MS = 25;
const OWNER_TAG = 'outrigger.dev/owner=';

interface Machine extends HollowNodeOptions {
  readonly name: string;
  readonly serverId: string;
  readonly portId: string;
  readonly address: string;
  readonly isEdge: boolean;
}

/** Milliseconds of each object, from the request to its state. */
export type Step = 'node joins' | 'service is served' | 'service is changed' | 'service is gone';
/** `bare`: of nodes that a client makes, and patches once when its watch shows them: what the API server alone takes in these minutes. */
export type Times = Readonly<Record<Step | 'bare', number[]>>;

export const noTimes = (): Times => ({
  bare: [],
  'node joins': [],
  'service is served': [],
  'service is changed': [],
  'service is gone': [],
});

export class HonestCluster implements AsyncDisposable {
  readonly #owned = new AsyncDisposableStack();
  readonly #client: Client;
  readonly #cloud: FakeOpenStack;
  readonly #project: SeededProject;
  readonly #services: ReturnType<typeof openStore<Service>>;
  readonly #nodes: ReturnType<typeof openStore<Node>>;
  readonly #selectors: Selectors;
  readonly #machines = new Map<string, Machine>();
  #byIndex: readonly Machine[] = [];
  #kubelets: HollowNodes | undefined;
  #made = 0;
  /** Of machines that load balancers lead to, or have led to. */
  readonly #edgeAddresses = new Set<string>();

  /** `others`: nodes that are not watched, as others write them, large and often: who looks must not be delayed by them. */
  constructor(client: Client, cloud: FakeOpenStack, project: SeededProject, others: readonly string[]) {
    this.#client = client;
    this.#cloud = cloud;
    this.#project = project;
    this.#selectors = { fieldSelector: others.map((name) => `metadata.name!=${name}`).join() };
    const common = { client, clock: systemClock, logger: silentLogger, metrics: noMetrics };
    this.#services = this.#owned.use(
      openStore<Service>({ ...common, resource: resources.services, namespace: HONEST_NAMESPACE }),
    );
    this.#nodes = this.#owned.use(
      openStore<Node>({ ...common, resource: resources.nodes, selectors: this.#selectors }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  get services(): readonly Service[] {
    return [...this.#services.values()];
  }

  get nodes(): ReadonlyMap<string, Node> {
    return new Map(Array.from(this.#nodes.values(), (node) => [node.metadata?.name ?? '', node]));
  }

  get machines(): ReadonlyMap<string, Machine> {
    return this.#machines;
  }

  /** A server, and what its kubelet registers with. */
  addMachine(name: string, isEdge: boolean): Machine {
    const { port, server } = this.#project.addNode({ name });
    const address = port.fixed_ips.find(({ ip_address }) => !ip_address.includes(':'))?.ip_address ?? '';
    if (isEdge) this.#edgeAddresses.add(address);
    const labels = isEdge ? { edge: 'true' } : {};
    return { name, ip: address, labels, images: 5, serverId: server.id, portId: port.id, address, isEdge };
  }

  /** All nodes and Services at once, on an empty cluster. */
  async fill(nodes: number, services: number): Promise<Times> {
    await Promise.all([this.#services.whenSynced(), this.#nodes.whenSynced()]);
    this.#kubelets = this.#owned.use(
      await startHollowNodes({
        client: this.#client,
        count: 0,
        node: (index) => this.#byIndex[index] ?? { name: `unexpected-${index}` },
        heartbeats: { leaseMs: 60_000, statusMs: 60_000 },
        selectors: this.#selectors,
      }),
    );
    const times = noTimes();
    await this.#join(nodes, EDGE_NODES, times);
    await this.#serve(
      Array.from({ length: services }, (_, i) => `web-${i}`),
      times,
    );
    return times;
  }

  /** A tenth of the Services comes, another tenth is changed, the first goes; a twentieth of the nodes comes and goes. */
  async turnOver(times: Times): Promise<void> {
    const standing = this.services
      .map(({ metadata }) => metadata?.name ?? '')
      .filter((name) => name.startsWith('web-'));
    const nodes = await this.#join(Math.max(1, Math.round(this.#machines.size / 20)), 1, times);
    await this.#joinBare(nodes.length, times);
    const count = Math.max(1, Math.round(standing.length / 10));
    const round = this.#made++;
    const some = Array.from({ length: count }, (_, i) => `more-${round}-${i}`);
    await this.#serve(some, times);
    const first = (round * count) % standing.length;
    await this.#change([...standing, ...standing].slice(first, first + count), times);
    await this.#remove(some, times);
    await this.#leave(nodes);
  }

  /** What is not as it must be, in sentences. */
  faults(): readonly string[] {
    const faults: string[] = [];
    const nodes = this.nodes;
    for (const { name } of this.#machines.values()) {
      const node = nodes.get(name);
      if (!node) faults.push(`${name}: the node was deleted, and its machine is there`);
      else if (!isInitialised(node)) faults.push(`${name}: is not initialised`);
    }
    const members = new Set(this.#edges().map(({ address }) => address));
    for (const service of this.services) {
      const { name = '', uid = '' } = service.metadata ?? {};
      const tree = this.#treeOf(uid);
      if (!tree) {
        faults.push(`${name}: has no load balancer of its own`);
        continue;
      }
      const { floatingIp, pools, ports } = tree;
      if (floatingIp === undefined || addressOf(service) !== floatingIp)
        faults.push(`${name}: says ${addressOf(service) ?? 'nothing'}, its floating IP is ${floatingIp ?? 'none'}`);
      const wanted = service.spec?.ports?.map(({ port }) => port) ?? [];
      if (ports.join() !== wanted.join() || pools.length !== wanted.length)
        faults.push(`${name}: has listeners of ${ports.join()} and ${pools.length} pools, not of ${wanted.join()}`);
      for (const pool of pools) {
        const there = new Set(pool.map(({ address }) => address));
        const missing = [...members].filter((address) => !there.has(address));
        if (missing.length > 0) faults.push(`${name}: ${missing.length} honest members are missing`);
      }
    }
    return faults;
  }

  /** Members of honest load balancers that are not the address of a machine that load balancers lead to. */
  strangeMembers(): readonly string[] {
    return this.services.flatMap(({ metadata: { name = '', uid = '' } = {} }) =>
      (this.#treeOf(uid)?.pools ?? []).flatMap((pool) =>
        pool
          .filter(({ address }) => !this.#edgeAddresses.has(address))
          .map(({ address }) => `${name} has the member ${address}`),
      ),
    );
  }

  #edges(): readonly Machine[] {
    return [...this.#machines.values()].filter(({ isEdge }) => isEdge);
  }

  async #join(count: number, edges: number, times: Times): Promise<readonly Machine[]> {
    const first = this.#byIndex.length;
    const joining = Array.from({ length: count }, (_, i) => this.addMachine(`honest-${first + i}`, i < edges));
    this.#byIndex = [...this.#byIndex, ...joining];
    const began = systemClock.monotonic();
    const added = this.#kubelets?.add(count);
    await this.#until(
      joining.map(({ name }) => name),
      (name) => {
        const node = this.#nodes.get(name);
        return node !== undefined && isInitialised(node);
      },
      began,
      times['node joins'],
    );
    await added;
    for (const machine of joining) this.#machines.set(machine.name, machine);
    return joining;
  }

  /** As many as joined, that concern the program nothing. */
  async #joinBare(count: number, times: Times): Promise<void> {
    const nodes = this.#client.of(resources.nodes);
    const names = Array.from({ length: count }, (_, i) => `bare-${i}`);
    const waiting = new Set(names);
    const patched: Promise<unknown>[] = [];
    const stop = this.#nodes.subscribe(({ key, type }) => {
      if (type === 'delete' || !waiting.delete(key)) return;
      const operations = [{ op: 'add', path: `/metadata/labels/${BARE_LABEL}`, value: 'true' } as const];
      patched.push(nodes.patch({ name: key }, { type: 'json', operations }, { answer: 'metadata' }));
    });
    const labels = { [EXCLUDED_LABEL]: 'true' };
    const began = systemClock.monotonic();
    const made = names.map((name) => {
      const node = hollowNode({ name, labels, images: 5 });
      return nodes.create({
        ...node,
        spec: {},
        status: { ...node.status, conditions: [{ type: 'Ready', status: 'True' }] },
      });
    });
    const isPatched = (name: string): boolean => this.#nodes.get(name)?.metadata?.labels?.[BARE_LABEL] !== undefined;
    await this.#until(names, isPatched, began, times.bare);
    stop();
    await Promise.all([...made, ...patched]);
    await nodes.deleteCollection({ labelSelector: BARE_LABEL });
    while (names.some((name) => this.#nodes.get(name))) await systemClock.sleep(LOOK_MS);
  }

  /** As a pool is made smaller by who owns it: the Node and the machine go together. */
  async #leave(machines: readonly Machine[]): Promise<void> {
    for (const { name, portId, serverId } of machines) {
      this.#machines.delete(name);
      this.#kubelets?.stop(name);
      await this.#client.of(resources.nodes).delete({ name });
      this.#cloud.networking.ports.remove(portId);
      this.#cloud.compute.remove(serverId);
    }
  }

  async #serve(names: readonly string[], times: Times): Promise<void> {
    const services = this.#client.of(resources.services);
    const began = systemClock.monotonic();
    const made = names.map((name) =>
      services.create({
        metadata: { name, namespace: HONEST_NAMESPACE },
        spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }] },
      }),
    );
    const isServed = (name: string): boolean => {
      const service = this.#services.get(`${HONEST_NAMESPACE}/${name}`);
      return service !== undefined && addressOf(service) !== undefined;
    };
    await this.#until(names, isServed, began, times['service is served']);
    await Promise.all(made);
  }

  async #change(names: readonly string[], times: Times): Promise<void> {
    const services = this.#client.of(resources.services);
    const serviceOf = (name: string): Service | undefined => this.#services.get(`${HONEST_NAMESPACE}/${name}`);
    const wanted = new Map(names.map((name) => [name, serviceOf(name)?.spec?.ports?.[0]?.port === 80 ? 8080 : 80]));
    const began = systemClock.monotonic();
    const changed = Array.from(wanted, ([name, port]) => {
      const body = { spec: { ports: [{ port, protocol: 'TCP' }] } };
      return services.patch({ namespace: HONEST_NAMESPACE, name }, { type: 'merge', body });
    });
    const isChanged = (name: string): boolean => {
      const ports = this.#treeOf(serviceOf(name)?.metadata?.uid ?? '')?.ports ?? [];
      return ports.length === 1 && ports[0] === wanted.get(name);
    };
    await this.#until(names, isChanged, began, times['service is changed']);
    await Promise.all(changed);
  }

  async #remove(names: readonly string[], times: Times): Promise<void> {
    const services = this.#client.of(resources.services);
    const began = systemClock.monotonic();
    const removed = names.map((name) => services.delete({ namespace: HONEST_NAMESPACE, name }));
    const isGone = (name: string): boolean => this.#services.get(`${HONEST_NAMESPACE}/${name}`) === undefined;
    await this.#until(names, isGone, began, times['service is gone']);
    await Promise.all(removed);
  }

  async #until(
    names: readonly string[],
    holds: (name: string) => boolean,
    began: number,
    times: number[],
  ): Promise<void> {
    const waiting = new Set(names);
    for (;;) {
      const now = systemClock.monotonic();
      for (const name of waiting) {
        if (!holds(name)) continue;
        waiting.delete(name);
        times.push(now - began);
      }
      if (waiting.size === 0) return;
      if (now > began + LIMIT_MS)
        throw new Error(`not within ${LIMIT_MS / 1_000} s: ${waiting.size} of ${names.length}, ${[...waiting][0]}`);
      await systemClock.sleep(LOOK_MS);
    }
  }

  /** By the mark on the load balancer. */
  #treeOf(uid: string) {
    const { networking, octavia } = this.#cloud;
    const { store } = octavia;
    for (const loadBalancer of store.loadBalancers.values()) {
      if (!loadBalancer.tags.some((tag) => tag.startsWith(OWNER_TAG) && tag.endsWith(`/${uid}`))) continue;
      const [floating] = networking.floatingIps.floatingIps.where('port_id', loadBalancer.vip_port_id);
      return {
        loadBalancer,
        floatingIp: floating?.floating_ip_address,
        ports: store.listenersOf(loadBalancer.id).map(({ protocol_port }) => protocol_port),
        pools: store.poolsOf(loadBalancer.id).map(({ id }) => store.membersOf(id)),
      };
    }
    return undefined;
  }
}
