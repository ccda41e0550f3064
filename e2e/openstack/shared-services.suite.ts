/** For tests: the service controller over the OpenStack provider and its fake, on a clock that stands still, with Services in memory. */
import assert from 'node:assert/strict';
import type { LoadBalancers } from '@outrigger/cloud-provider';
import { noMetrics, silentLogger, type Service } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { noJournal } from '../../packages/controllers/src/journal.ts';
import { removeLoadBalancer } from '../../packages/controllers/src/orphans/remove-load-balancer.ts';
import { FakeApi } from '../../packages/controllers/src/service/fake-api.suite.ts';
import { Locks } from '../../packages/controllers/src/load-balancer/locks.ts';
import { callContext } from '../../packages/controllers/src/load-balancer/memory-provider.suite.ts';
import { nodeOf, webSpec } from '../../packages/controllers/src/service/rig.suite.ts';
import { createServiceController } from '../../packages/controllers/src/service/service-controller.ts';
import { createActionCounter } from '../../packages/controllers/src/load-balancer/count-actions.ts';
import type { LoadBalancerSharing } from '../../packages/controllers/src/load-balancer/tenancy.ts';
import type { FaultRules } from '../../providers/openstack/fake/fault-rules.ts';
import { ownersIn } from '../../providers/openstack/src/load-balancer/ownership.ts';
import { Rig, type RigOptions } from '../../providers/openstack/src/load-balancer/rig.suite.ts';

const LOAD_BALANCER_ID = 'loadbalancer.openstack.org/load-balancer-id';

/** What a pass asks of the fake, one after the other, is answered within so many turns. */
const SETTLED = 12;

/** A look from before a change is known by its time to be older. */
const REQUEST_MS = 5;

/** Three Services, each of which may wait for the next to leave. */
const ORPHAN_PASSES = 10;
const ORPHAN_PERIOD_MS = 60_000;

export class ServiceWorld implements AsyncDisposable {
  readonly api: FakeApi = new FakeApi();
  readonly #clock: FakeClock;
  readonly #rig: Rig;
  readonly #before: ReadonlySet<string>;
  #nodes = 0;
  #stop: (() => Promise<void>) | undefined;

  private constructor(clock: FakeClock, rig: Rig, before: readonly string[]) {
    this.#clock = clock;
    this.#rig = rig;
    this.#before = new Set(before);
  }

  /** With two nodes, and a program that runs. `updateMs`: of Octavia, for each change. */
  static async open(updateMs: number, loadBalancer: RigOptions['loadBalancer'] = {}): Promise<ServiceWorld> {
    const clock = new FakeClock();
    const rig = await Rig.open({ clock, loadBalancer });
    rig.cloud.octavia.settings.updateMs = updateMs;
    const world = new ServiceWorld(clock, rig, Object.keys(await rig.everything()));
    world.addNode();
    world.addNode();
    await world.start();
    return world;
  }

  get faults(): FaultRules {
    return this.#rig.cloud.faults;
  }

  addNode(): void {
    const { addresses, node } = this.#rig.addNode(`n${++this.#nodes}`);
    const { name, providerID = '' } = node;
    const status = { addresses: addresses.map(({ address }) => ({ type: 'InternalIP' as const, address })) };
    this.api.nodes.put(nodeOf(name, { spec: { providerID }, status }));
  }

  /**
   * Asks for a Service with this port, on a load balancer of its own or, by its ID, on another's. What the program has noted on it
   * stays, as with `kubectl apply`.
   */
  apply(name: string, port: number, loadBalancerId?: string): void {
    const ports = [{ port, nodePort: 30_000 + port, protocol: 'TCP' as const }];
    const { [LOAD_BALANCER_ID]: _before, ...others } = this.api.get(name)?.metadata?.annotations ?? {};
    const annotations = { ...others, ...(loadBalancerId !== undefined && { [LOAD_BALANCER_ID]: loadBalancerId }) };
    this.api.apply(name, { ...webSpec, ports }, { annotations });
  }

  /** The load balancer that serves it, or that it names. */
  loadBalancerOf(name: string): string | undefined {
    return this.api.get(name)?.metadata?.annotations?.[LOAD_BALANCER_ID];
  }

  addressesOf(name: string): readonly (string | undefined)[] {
    return ingressOf(this.api.get(name)).map(({ ip }) => ip);
  }

  /** A process with no memory of what another did. */
  async start(sharing?: LoadBalancerSharing): Promise<void> {
    assert.equal(this.#stop, undefined, 'one at a time');
    const provider = await this.#provider();
    const ended = new AbortController();
    const { client, nodes, services } = this.api;
    const controller = createServiceController({
      client,
      services: services.store,
      nodes: nodes.store,
      provider,
      callContext: ({ priority, signal }) => callContext(signal, priority),
      events: { record: () => {} },
      clock: this.#clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      options: { providerName: 'openstack', clusterId: this.#rig.clusterId, sharing },
    });
    const running = controller.run(ended.signal);
    this.#stop = async () => {
      ended.abort();
      await this.#until(running);
    };
    await this.#settle();
  }

  async stop(): Promise<void> {
    const stop = this.#stop;
    this.#stop = undefined;
    await stop?.();
  }

  /** Lets time pass, and each answer come before the next timer fires. */
  async advance(ms: number): Promise<void> {
    const end = this.#clock.monotonic() + ms;
    for (;;) {
      await this.#settle();
      const left = end - this.#clock.monotonic();
      if (left <= 0) return;
      await this.#clock.advance(Math.min(left, this.#clock.nextTimerIn ?? left));
    }
  }

  /** As the orphan controller does: what a Service has that went by force while no program ran, or right before its end. */
  async removeOrphans(): Promise<void> {
    await this.stop();
    const provider = await this.#provider();
    for (let pass = 0; pass < ORPHAN_PASSES; pass++) {
      const parts = await provider.listOwned(callContext(new AbortController().signal, 'background'));
      for (const [uid, ofOne] of Map.groupBy(parts, ({ owner }) => owner?.uid ?? '')) {
        const { signal } = new AbortController();
        const removal = removeLoadBalancer(
          { uid, parts: ofOne },
          {
            provider,
            clusterId: this.#rig.clusterId,
            callContext: () => callContext(signal, 'background'),
            locks: new Locks(),
            isStillOrphan: () => Promise.resolve(true),
            clock: this.#clock,
            counter: createActionCounter(noMetrics),
            logger: silentLogger,
            journal: noJournal,
            subject: { kind: 'LoadBalancerPart', name: uid, uid },
            signal,
          },
        );
        await this.#until(removal);
      }
      await this.advance(ORPHAN_PERIOD_MS);
    }
  }

  /** UIDs of those who share it besides its owner. */
  async sharersOf(loadBalancerId = ''): Promise<readonly string[]> {
    const one = (await this.#rig.everything())[`loadbalancers ${loadBalancerId}`] as {
      readonly tags: readonly string[];
    };
    return ownersIn(one.tags).sharers.map(({ uid }) => uid);
  }

  /** What is in the cloud that was not there before the first Service, without ports: nodes come with them. */
  async left(): Promise<readonly string[]> {
    const all = Object.keys(await this.#rig.everything());
    return all.filter((one) => !this.#before.has(one) && !one.startsWith('ports '));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #provider(): Promise<LoadBalancers> {
    const { provider } = await this.#rig.restarted();
    const apply = provider.apply.bind(provider);
    provider.apply = async (action, desired, call) => {
      await this.#clock.sleep(REQUEST_MS);
      return apply(action, desired, call);
    };
    return provider;
  }

  /** Lets as much time pass as it takes. */
  async #until(ends: Promise<unknown>): Promise<void> {
    const progress = { isOver: false };
    const over = ends.finally(() => (progress.isOver = true));
    await this.#settle();
    while (!progress.isOver) await this.advance(1_000);
    await over;
  }

  async #settle(): Promise<void> {
    for (let i = 0; i < SETTLED; i++) await this.#clock.settle();
  }
}

const ingressOf = (service: Service | undefined): readonly { readonly ip?: string }[] =>
  service?.status?.loadBalancer?.ingress ?? [];
