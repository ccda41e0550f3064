/** The service controller over an OpenStack whose lists are empty for an hour: nothing is leaked, and nothing is made twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, silentLogger, type EventNote } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { FakeApi } from '../packages/controllers/src/service/fake-api.suite.ts';
import { webSpec } from '../packages/controllers/src/service/rig.suite.ts';
import { createServiceController } from '../packages/controllers/src/service/service-controller.ts';
import { partsAnnotation } from '../packages/controllers/src/service/well-known-names.ts';
import type { FaultRule } from '../providers/openstack/fake/fault-rules.ts';
import { callContext, Rig } from '../providers/openstack/src/load-balancer/rig.suite.ts';

const HOUR_MS = 3_600_000;
/** Lists of Octavia and Neutron, all of them. */
const EMPTY: FaultRule = {
  effect: 'empty',
  when: ({ method, path }) => method === 'GET' && /\/(loadbalancers|floatingips|security-groups)$/u.test(path),
};

/** A cluster of two nodes in the fake OpenStack; `start` again is another process. */
class World {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeApi = new FakeApi();
  readonly events: EventNote[] = [];
  readonly #rig: Rig;
  #stop: () => Promise<void> = () => Promise.resolve();

  private constructor(rig: Rig, clock: FakeClock) {
    this.#rig = rig;
    this.clock = clock;
    for (const { addresses, node } of rig.backEnds) {
      const { name, providerID, uid } = node;
      this.api.nodes.put({
        metadata: { name, uid },
        spec: { providerID: providerID ?? '' },
        status: { addresses: addresses.map(({ address, type }) => ({ address, type })) },
      });
    }
  }

  static async open(): Promise<World> {
    const clock = new FakeClock();
    return new World(await Rig.open({ clock, loadBalancer: { manageSecurityGroups: true } }), clock);
  }

  get faults(): Rig['cloud']['faults'] {
    return this.#rig.cloud.faults;
  }

  async start(): Promise<void> {
    const { api, clock, events } = this;
    const { clusterId, provider } = await this.#rig.restarted();
    const ended = new AbortController();
    const controller = createServiceController({
      client: api.client,
      services: api.services.store,
      nodes: api.nodes.store,
      provider,
      callContext: ({ signal }) => callContext(signal),
      events: { record: (_about, note) => void events.push(note) },
      clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      options: { providerName: 'openstack', clusterId },
    });
    const running = controller.run(ended.signal);
    this.#stop = async () => {
      ended.abort();
      await clock.advance(31_000);
      await running;
    };
    await clock.settle();
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** Of load balancers, floating IPs and security groups, how many there are that a Service made. */
  async made(): Promise<readonly number[]> {
    const own = await this.#rig.provider.listOwned(callContext());
    return ['load-balancer', 'floating-ip', 'security-group'].map(
      (kind) => own.filter((one) => one.kind === kind).length,
    );
  }
}

async function served(): Promise<World> {
  const world = await World.open();
  world.api.apply('web', webSpec);
  await world.start();
  await world.clock.advance(60_000);
  assert.ok(world.api.get('web')?.status?.loadBalancer?.ingress?.length, 'it has its address');
  assert.deepEqual(await world.made(), [1, 1, 1]);
  return world;
}

for (const restart of [false, true]) {
  const who = restart ? 'a new process' : 'the process that made it';
  test(`a Service that is deleted while all lists are empty keeps its finalizer, and leaks nothing: ${who}`, async () => {
    const world = await served();
    const { api, clock, events, faults } = world;
    assert.equal(api.get('web')?.metadata?.annotations?.[partsAnnotation]?.split(' ').length, 3);
    if (restart) await world.stop();
    faults.set(EMPTY);
    api.delete('web');
    if (restart) await world.start();
    await clock.advance(HOUR_MS);
    faults.set();
    assert.ok(api.get('web'), 'the finalizer stays');
    assert.ok(events.some(({ reason }) => reason === 'LoadBalancerPartsHidden'));
    assert.deepEqual(await world.made(), [1, 1, 1]);
    await clock.advance(60_000);
    assert.equal(api.get('web'), undefined);
    assert.deepEqual(await world.made(), [0, 0, 0]);
    await world.stop();
  });

  test(`a Service that is changed while all lists are empty gets nothing made twice: ${who}`, async () => {
    const world = await served();
    const { api, clock, faults } = world;
    if (restart) await world.stop();
    faults.set(EMPTY);
    api.apply('web', { ...webSpec, ports: [{ port: 81, protocol: 'TCP', nodePort: 30_081 }] });
    if (restart) await world.start();
    await clock.advance(HOUR_MS);
    faults.set();
    assert.deepEqual(await world.made(), [1, 1, 1]);
    await clock.advance(60_000);
    assert.deepEqual(await world.made(), [1, 1, 1]);
    await world.stop();
  });
}

test('a fail-over in the middle of a deletion, and a first answer that was lost, take seconds beside the cloud’s own time', async () => {
  const world = await served();
  const { api, clock, faults } = world;
  api.delete('web');
  await clock.advance(300);
  await world.stop();
  await world.start();
  await clock.advance(10_000);
  assert.equal(api.get('web'), undefined);
  faults.set({ effect: 'lost', service: 'load-balancer', operation: 'POST /loadbalancers', times: 1 });
  api.apply('next', webSpec);
  await clock.advance(2_000);
  api.delete('next');
  await clock.advance(20_000);
  assert.equal(api.get('next'), undefined);
  assert.deepEqual(await world.made(), [0, 0, 0]);
  await world.stop();
});

test('in the ordinary life of a Service nothing more is written than its finalizer, its address and their end', async () => {
  const world = await served();
  const { api, clock } = world;
  assert.equal(api.patches.length, 2);
  api.delete('web');
  await clock.advance(30_000);
  assert.equal(api.get('web'), undefined);
  assert.equal(api.patches.length, 3);
  await world.stop();
});
