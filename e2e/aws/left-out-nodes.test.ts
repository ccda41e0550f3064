/** The service controller over the fake AWS: a node that no load balancer can have keeps back nothing else, and is tried until it can. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, silentLogger, type Condition, type EventNote, type Service } from '@outrigger/kube';
import { FakeApi } from '../../packages/controllers/src/service/fake-api.suite.ts';
import { createServiceController } from '../../packages/controllers/src/service/service-controller.ts';
import { webSpec } from '../../packages/controllers/src/service/rig.suite.ts';
import { readyCondition } from '../../packages/controllers/src/service/well-known-names.ts';
import { FakeRig } from '../../providers/aws/src/load-balancer/fake-rig.suite.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const TAGS = { 'kubernetes.io/cluster/kubernetes': 'owned' };
const TYPE = 'service.beta.kubernetes.io/aws-load-balancer-type';

const portsOf = (...ports: readonly number[]): NonNullable<NonNullable<Service['spec']>['ports']> =>
  ports.map((port) => ({ name: `p${port}`, port, protocol: 'TCP', nodePort: 30_000 + port }));

const requestsOf = ({ aws }: FakeRig): number =>
  Object.values(aws.calls.counts()).reduce((sum, count) => sum + count, 0);

class World {
  readonly rig: FakeRig = new FakeRig({ knobs: { provisioningMs: 120_000 } });
  readonly api: FakeApi = new FakeApi();
  readonly events: EventNote[] = [];
  stop: () => Promise<void> = () => Promise.resolve();

  constructor() {
    for (const id of this.rig.instances) this.join(id);
  }

  join(id: string): void {
    this.api.nodes.put({
      metadata: { name: id, uid: id },
      spec: { providerID: `aws:///eu-central-1a/${id}` },
      status: { addresses: [] },
    });
  }

  /** An instance; default: in the security group of the others. */
  launch(...groupIds: readonly string[]): string {
    const { account } = this.rig.aws;
    const [first] = this.rig.instances;
    const one = account.interfaces.all().find(({ attachment }) => attachment?.instanceId === first);
    const { groupIds: usual = [], subnetId = '' } = one ?? {};
    return this.rig.aws.addInstance({ subnetId, groupIds: groupIds.length > 0 ? groupIds : usual }).id;
  }

  async start(): Promise<void> {
    const { api, events, rig } = this;
    const ended = new AbortController();
    const running = createServiceController({
      client: api.client,
      services: api.services.store,
      nodes: api.nodes.store,
      provider: rig.balancers,
      callContext: ({ signal }) => ({ ...rig.call, signal, call: (_operation, send) => send(signal) }),
      events: { record: (_about, note) => void events.push(note) },
      clock: rig.clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      options: { providerName: 'aws', clusterId: 'cluster-uid' },
    }).run(ended.signal);
    this.stop = async () => {
      ended.abort();
      await rig.clock.advance(31_000);
      await running;
    };
    await rig.clock.settle();
  }

  apply(kind: 'nlb' | 'clb', ...ports: readonly number[]): void {
    this.applyTo('web', kind, ...ports);
  }

  applyTo(name: string, kind: 'nlb' | 'clb', ...ports: readonly number[]): void {
    const metadata = { annotations: { [TYPE]: kind } };
    this.api.apply(name, { ...webSpec, ports: portsOf(...ports) }, metadata);
  }

  get ready(): Condition | undefined {
    return this.readyOf('web');
  }

  readyOf(name: string): Condition | undefined {
    return this.api.get(name)?.status?.conditions?.find(({ type }) => type === readyCondition);
  }

  /** What its load balancer leads to, by port. */
  get served(): Readonly<Record<number, readonly string[]>> {
    const { classics, listeners, targets } = this.rig.aws.account;
    const classic = classics
      .all()
      .flatMap(({ instanceIds, listeners: its }) => its.map(({ port }) => [port, instanceIds.toSorted()] as const));
    const network = listeners.all().map(({ port, targetGroupIds: [group = ''] }) => {
      const ids = targets.of(group).flatMap(({ drainsUntil, id }) => (drainsUntil === undefined ? id : []));
      return [port, ids.toSorted()] as const;
    });
    return Object.fromEntries([...classic, ...network]);
  }
}

for (const kind of ['nlb', 'clb'] as const) {
  test(`${kind}: a hostile node keeps back no address, no port and no other node, is told seldom, and comes when its group is tagged`, async () => {
    const world = new World();
    const { api, events, rig } = world;
    const honest = rig.instances.toSorted();
    // Which has no tag, as the instance has none.
    const groupId = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'stranger' });
    const id = world.launch(groupId);
    world.join(id);
    world.apply(kind, 80);
    await world.start();
    await rig.clock.advance(5 * MINUTE_MS);
    assert.equal(api.get('web')?.status?.loadBalancer?.ingress?.length, 1);
    assert.deepEqual(world.served, { 80: honest });
    let seen = 0;
    /** Since the last time. */
    const isTold = (): void => {
      assert.equal(world.ready?.status, 'True');
      const told = events.slice(seen).filter(({ reason }) => reason === 'InstancesLeftOut');
      seen = events.length;
      assert.ok(told.length > 0 && told.every(({ message }) => message.includes(id)), JSON.stringify(told));
    };
    isTold();
    await rig.clock.advance(HOUR_MS);
    isTold();
    const before = { events: events.length, requests: requestsOf(rig) };
    await rig.clock.advance(HOUR_MS);
    isTold();
    assert.ok(events.length - before.events <= 4, JSON.stringify(events.slice(before.events)));
    assert.ok(requestsOf(rig) - before.requests <= 2 * 20, `${requestsOf(rig) - before.requests} requests`);

    world.apply(kind, 80, 443);
    await rig.clock.advance(45_000);
    assert.deepEqual(world.served, { 80: honest, 443: honest });
    await rig.clock.advance(10 * MINUTE_MS);
    const joined = world.launch();
    world.join(joined);
    await rig.clock.advance(15_000);
    const all = [...honest, joined].toSorted();
    assert.deepEqual(world.served, { 80: all, 443: all });
    api.nodes.remove(joined);
    await rig.clock.advance(15_000);
    assert.deepEqual(world.served, { 80: honest, 443: honest });

    const Tags = Object.entries(TAGS).map(([Key, Value]) => ({ Key, Value }));
    await rig.client.ec2(rig.call, 'CreateTags', { Resources: [groupId], Tags });
    await rig.clock.advance(31 * MINUTE_MS);
    const whole = [...honest, id].toSorted();
    assert.deepEqual(world.served, { 80: whole, 443: whole });
    assert.equal(world.ready?.status, 'True');

    await rig.client.ec2(rig.call, 'DeleteTags', { Resources: [groupId], Tags });
    api.nodes.remove(id);
    await rig.clock.advance(10 * MINUTE_MS);
    world.join(id);
    await rig.clock.advance(HOUR_MS + 90_000);
    isTold();
    api.nodes.remove(id);
    await rig.clock.advance(45_000);
    assert.equal(world.ready?.status, 'True');
    world.join(id);
    // The same is told once in half an hour.
    await rig.clock.advance(HOUR_MS);
    isTold();
    api.delete('web');
    await rig.clock.advance(10 * MINUTE_MS);
    assert.equal(api.get('web'), undefined);
    assert.deepEqual(world.served, {});
    await world.stop();
    assert.deepEqual(rig.aws.takeProblems(), []);
  });

  test(`${kind}: a node whose instance is stopped for a moment as it joins comes a minute later, and the Service says so`, async () => {
    const world = new World();
    const { events, rig } = world;
    world.apply(kind, 80);
    await world.start();
    await rig.clock.advance(5 * MINUTE_MS);
    assert.equal(world.ready?.status, 'True');
    const id = world.launch();
    // A Classic Load Balancer takes one that is stopped, and none that EC2 does not know.
    const instance = rig.aws.account.instances.get(id)!;
    rig.aws.changeInstance(id, { state: 'stopped' });
    if (kind === 'clb') rig.aws.account.instances.remove(id);
    const before = requestsOf(rig);
    world.join(id);
    await rig.clock.advance(20_000);
    rig.aws.account.instances.seed({ ...instance, state: 'running' });
    const told = events.filter(({ reason }) => reason === 'InstancesLeftOut');
    assert.deepEqual(
      told.map(({ message }) => message.includes(id)),
      [true],
    );
    assert.equal(world.ready?.status, 'True');
    await rig.clock.advance(100_000);
    assert.deepEqual(world.served, { 80: [...rig.instances, id].toSorted() });
    assert.equal(world.ready?.status, 'True');
    assert.equal(events.at(-1)?.reason, 'UpdatedLoadBalancer');
    assert.ok(requestsOf(rig) - before < 60, `${requestsOf(rig) - before} requests`);
    await world.stop();
  });
}

const THEIRS = [{ ip: '198.51.100.7', ipMode: 'VIP' as const }];

for (const kind of ['nlb', 'clb'] as const) {
  test(`${kind}: twenty Services beside a hostile node are ready, cost next to nothing, fight with no other writer, and go at once after a restart`, async () => {
    const world = new World();
    const { api, rig } = world;
    world.join(world.launch(rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'stranger' })));
    const names = Array.from({ length: 20 }, (_, i) => `web-${i}`);
    for (const [i, name] of names.entries()) world.applyTo(name, kind, 1_000 + i);
    await world.start();
    await rig.clock.advance(2 * HOUR_MS);
    const areReady = (): void => {
      for (const name of names) assert.equal(world.readyOf(name)?.status, 'True', name);
    };
    areReady();
    const looksOf = (): number => rig.aws.calls.counts()['ec2:DescribeSecurityGroups'] ?? 0;
    const since = (): (() => Record<'looks' | 'patches' | 'requests', number>) => {
      const [looks, patches, requests] = [looksOf(), api.patches.length, requestsOf(rig)];
      return () => ({
        looks: looksOf() - looks,
        patches: api.patches.length - patches,
        requests: requestsOf(rig) - requests,
      });
    };
    const inAnHour = since();
    await rig.clock.advance(HOUR_MS);
    areReady();
    const quiet = inAnHour();
    // Twice an hour, all together: a look, the try, and a look at what came of it.
    assert.ok(quiet.looks <= 4 && quiet.patches === 0 && quiet.requests <= 10 * names.length, JSON.stringify(quiet));

    const [first = '', second = ''] = names;
    const ours = api.get(first)?.status?.loadBalancer?.ingress;
    const write = (): void => {
      const service = api.get(first) ?? {};
      api.services.put({ ...service, status: { ...service.status, loadBalancer: { ingress: THEIRS } } });
    };
    const stop = api.services.store.subscribe((change) => {
      if (change.type === 'delete' || change.object.metadata?.name !== first) return;
      if (change.object.status?.loadBalancer?.ingress?.[0]?.hostname === ours?.[0]?.hostname) setImmediate(write);
    });
    const inAWar = since();
    write();
    await rig.clock.advance(HOUR_MS);
    const contested = inAWar();
    // It may be tried apart from the others by now.
    assert.ok(contested.patches <= 15 && contested.looks <= 8, JSON.stringify(contested));
    stop();
    await world.stop();

    rig.started();
    await world.start();
    await rig.clock.advance(MINUTE_MS);
    api.delete(second);
    await rig.clock.advance(30_000);
    assert.equal(api.get(second), undefined);
    await world.stop();
  });
}
