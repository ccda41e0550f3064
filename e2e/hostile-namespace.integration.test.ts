/**
 * A hostile namespace beside an honest one, in time that passes only by what is waited for: whose turn it is with workers, looks at the cloud and
 * its requests is all that makes honest Services slower here, on every machine. What processors add, `make chaos PART=tenant` shows. It fails where
 * workers wait for the cloud; turns of namespaces matter with thousands of Services, and are held by the tests of the queue and of looks.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openProvider } from '@outrigger/cloud-runtime';
import { noMetrics, silentLogger, type Node, type Service } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { quantile } from '../bench/node-observer.ts';
import { Locks } from '../packages/controllers/src/load-balancer/locks.ts';
import { FakeApi } from '../packages/controllers/src/service/fake-api.suite.ts';
import { createServiceController } from '../packages/controllers/src/service/service-controller.ts';
import { fakeCloudConf, NOWHERE } from '../providers/openstack/fake/fake-cloud-conf.ts';
import { createFakeOpenStack } from '../providers/openstack/fake/fake-openstack.ts';
import { inProcessFetch } from '../providers/openstack/fake/in-process-fetch.ts';
import { seedProject } from '../providers/openstack/fake/seed-project.ts';
import { createOpenStackProvider } from '../providers/openstack/src/openstack-provider.ts';
import { HOSTILE_NAMESPACE, HostileServices } from './hostile-services.ts';
import { seededRandom } from './seeded-random.ts';
import { addressOf } from './served-services.ts';

type Spec = NonNullable<Service['spec']>;
type Step = 'served' | 'changed' | 'gone';
type Times = Readonly<Record<Step, number[]>>;

const HONEST_NAMESPACE = 'honest';
const STANDING = 60;
const TURNED_OVER = 10;
const TURNS = 3;
/** As in `make chaos PART=tenant`. */
const SLOWER = 1.5;
/** Of a request to the cloud, which is five times as slow as there. */
const LATENCY_MS = 50;
const HOSTILE_NAMES = 200;
/** So often is looked, and does somebody hostile write: twice as much as there. */
const LOOK_MS = 25;
const LIMIT_MS = 120_000;

class Cluster {
  readonly #clock = new FakeClock();
  readonly #cloud = createFakeOpenStack({ clock: this.#clock, random: seededRandom(1) });
  readonly #project = seedProject(this.#cloud);
  readonly #api = new FakeApi();
  readonly #ended = new AbortController();
  readonly #random = seededRandom(2);
  #running: Promise<void> = Promise.resolve();
  #hostile: HostileServices | undefined;
  #nodePort = 0;
  #turn = 0;
  hostileWrites = 0;

  async start(): Promise<void> {
    Object.assign(this.#cloud.octavia.settings, { createMs: 1_000, updateMs: 300, deleteMs: 300 });
    this.#cloud.latencyMs = LATENCY_MS;
    for (let i = 0; i < 3; i++) this.#addNode(`edge-${i}`);
    const provider = createOpenStackProvider({ environment: NOWHERE, fetch: inProcessFetch(this.#cloud) });
    const config = { text: fakeCloudConf({}), fileName: 'cloud.conf' };
    const common = { clock: this.#clock, logger: silentLogger };
    const cluster = { id: 'cluster-1', name: 'kubernetes' };
    const opening = openProvider(provider, { ...common, cluster, config, random: () => 0.5 });
    const opened = await this.#whilePassing(opening);
    const { loadBalancers } = opened.capabilities;
    assert.ok(loadBalancers);
    const controller = createServiceController({
      ...common,
      client: this.#api.client,
      services: this.#api.services.store,
      nodes: this.#api.nodes.store,
      provider: loadBalancers,
      callContext: (options) => opened.callContext(options),
      events: { record: () => {} },
      metrics: noMetrics,
      random: () => 0.5,
      locks: new Locks(),
      options: { providerName: 'openstack', clusterId: cluster.id },
    });
    this.#running = controller.run(this.#ended.signal);
    for (const name of this.#standing) this.#make(name, HONEST_NAMESPACE, this.#specOf([{ port: 80 }]));
    await this.#until(this.#standing, (name) => this.#isServed(name), []);
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#whilePassing(this.#running);
  }

  /** From now on somebody writes the Services of another namespace, all the time. */
  attack(): void {
    const loadBalancers = [...this.#cloud.octavia.store.loadBalancers.values()];
    this.#hostile = new HostileServices(this.#random, {
      addresses: this.#standing.flatMap((name) => addressOf(this.#api.get(name) ?? {}) ?? []),
      loadBalancers: loadBalancers.map(({ id }) => id),
      ports: loadBalancers.map(({ vip_port_id }) => vip_port_id),
      networks: [this.#project.publicNetwork.id],
      subnets: [this.#project.subnet.id],
    });
  }

  /** A node joins and leaves, some Services come and go, and others are changed. */
  async turnOver(times: Times): Promise<void> {
    const turn = this.#turn++;
    this.#addNode(`more-${turn}`);
    const some = Array.from({ length: TURNED_OVER }, (_, i) => `more-${turn}-${i}`);
    for (const name of some) this.#make(name, HONEST_NAMESPACE, this.#specOf([{ port: 80 }]));
    await this.#until(some, (name) => this.#isServed(name), times.served);
    const first = (turn * TURNED_OVER) % STANDING;
    const changing = this.#standing.slice(first, first + TURNED_OVER);
    for (const name of changing) this.#api.apply(name, this.#specOf([{ port: 1_000 + turn }]));
    await this.#until(changing, (name) => this.#listensAt(name) === 1_000 + turn, times.changed);
    for (const name of some) this.#api.delete(name);
    await this.#until(some, (name) => this.#api.get(name) === undefined, times.gone);
    this.#api.nodes.remove(`more-${turn}`);
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += LOOK_MS) await this.#look();
  }

  /** Without the time that somebody waits for it. */
  async #whilePassing<T>(work: Promise<T>): Promise<T> {
    const end = new AbortController();
    void work.finally(() => end.abort()).catch(() => {});
    while (!end.signal.aborted) await this.#clock.advance(LOOK_MS);
    return work;
  }

  get #standing(): readonly string[] {
    return Array.from({ length: STANDING }, (_, i) => `web-${i}`);
  }

  async #look(): Promise<void> {
    if (this.#hostile) this.#write(this.#hostile);
    await this.#clock.advance(LOOK_MS);
  }

  async #until(names: readonly string[], holds: (name: string) => boolean, times: number[]): Promise<void> {
    const began = this.#clock.monotonic();
    const waiting = new Set(names);
    while (waiting.size > 0) {
      await this.#look();
      const ms = this.#clock.monotonic() - began;
      for (const name of waiting) {
        if (!holds(name)) continue;
        waiting.delete(name);
        times.push(ms);
      }
      assert.ok(ms < LIMIT_MS, `${[...waiting].join()} after ${ms} ms`);
    }
  }

  #addNode(name: string): void {
    const { port, server } = this.#project.addNode({ name });
    const address = port.fixed_ips.find(({ ip_address }) => !ip_address.includes(':'))?.ip_address ?? '';
    const node: Node = {
      metadata: { name, uid: `uid-${name}` },
      spec: { providerID: `openstack:///${server.id}` },
      status: { addresses: [{ type: 'InternalIP', address }] },
    };
    this.#api.nodes.put(node);
  }

  #make(name: string, namespace: string, spec: Spec, metadata: NonNullable<Service['metadata']> = {}): void {
    this.#api.namespaces.set(name, namespace);
    this.#api.apply(name, spec, metadata);
  }

  /** As the API server fills it in. */
  #specOf(ports: NonNullable<Spec['ports']>, more: Spec = {}): Spec {
    const filled = ports.map((port) => ({
      protocol: 'TCP' as const,
      ...port,
      nodePort: 30_000 + (this.#nodePort++ % 2_700),
    }));
    return { type: 'LoadBalancer', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...more, ports: filled };
  }

  #isServed(name: string): boolean {
    return addressOf(this.#api.get(name) ?? {}) !== undefined;
  }

  #listensAt(name: string): number | undefined {
    const { store } = this.#cloud.octavia;
    const uid = this.#api.get(name)?.metadata?.uid ?? '';
    const own = store.loadBalancers.values().find(({ tags }) => tags.some((tag) => tag.endsWith(`/${uid}`)));
    const listeners = own ? store.listenersOf(own.id) : [];
    return listeners.length === 1 ? listeners[0]?.protocol_port : undefined;
  }

  /** In the shares of `HostileTenant`. */
  #write(hostile: HostileServices): void {
    const name = `h-${Math.floor(this.#random() * HOSTILE_NAMES)}`;
    const before = this.#api.get(name);
    this.hostileWrites++;
    if (!before) {
      const { metadata: { annotations = {}, finalizers = [] } = {}, spec = {} } = hostile.service(name);
      return this.#make(name, HOSTILE_NAMESPACE, this.#specOf(spec.ports ?? [], spec), { annotations, finalizers });
    }
    if (before.metadata?.deletionTimestamp !== undefined || this.#random() < 0.45) {
      // Half of them wait for the load balancer to go.
      if (this.#random() < 0.5) this.#api.apply(name, before.spec ?? {}, { finalizers: [] });
      return this.#api.delete(name);
    }
    const { metadata = {}, spec = {} } = hostile.change();
    const annotations = { ...before.metadata?.annotations, ...metadata.annotations };
    const merged = { ...before.spec, ...spec };
    this.#api.apply(name, this.#specOf(merged.ports ?? [], merged), { ...metadata, annotations });
  }
}

test('honest Services take at most half as long again beside a hostile namespace, whatever the machine is', async (t) => {
  const cluster = new Cluster();
  await cluster.start();
  const [alone, attacked]: readonly Times[] = [0, 1].map(() => ({ served: [], changed: [], gone: [] }));
  assert.ok(alone && attacked);
  for (let turn = 0; turn < TURNS; turn++) await cluster.turnOver(alone);
  cluster.attack();
  await cluster.pass(5_000);
  for (let turn = 0; turn < TURNS; turn++) await cluster.turnOver(attacked);
  await cluster.stop();
  assert.ok(cluster.hostileWrites > 200, `${cluster.hostileWrites} writes`);
  const problems: string[] = [];
  for (const step of Object.keys(alone) as Step[]) {
    for (const part of [0.5, 0.95]) {
      const [usual, now] = [quantile(alone[step], part), quantile(attacked[step], part)];
      const line = `${step}, ${100 * part} %: ${usual} ms alone, ${now} ms attacked: × ${(now / usual).toFixed(2)}`;
      t.diagnostic(line);
      if (!(now <= SLOWER * usual)) problems.push(line);
    }
  }
  assert.deepEqual(problems, []);
});
