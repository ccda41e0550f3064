/** Another controller writes the addresses of our Services too: a load balancer without a class, served by two. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@outrigger/kube';
import { nodeOf, servedRig, webSpec, type Rig } from './rig.suite.ts';

const ingressOf = (rig: Rig): unknown => rig.api.get('web')?.status?.loadBalancer?.ingress;
const ours = [{ ip: '203.0.113.1', ipMode: 'VIP' }];
const theirs = [{ ip: '198.51.100.7', ipMode: 'VIP' as const }];

const managedFields = [
  {
    manager: 'lb-ipam',
    operation: 'Update',
    time: '2026-01-01T00:00:00Z',
    fieldsV1: { 'f:status': { 'f:loadBalancer': { 'f:ingress': {} } } },
  },
] as unknown as NonNullable<ObjectMeta['managedFields']>;

function write(rig: Rig): void {
  const service = rig.api.get('web') ?? {};
  const metadata = { ...service.metadata, managedFields };
  rig.api.services.put({ ...service, metadata, status: { loadBalancer: { ingress: theirs } } });
}

async function served(): Promise<Rig> {
  const rig = await servedRig();
  assert.deepEqual(ingressOf(rig), ours);
  return rig;
}

test('what is undone each time is written again ever more seldom, without a look at the cloud, and told once with its writer', async () => {
  const rig = await served();
  const before = { patches: rig.api.patches.length, observes: rig.provider.observes };
  rig.api.services.store.subscribe((change) => {
    if (change.type !== 'delete' && JSON.stringify(change.object.status).includes('203.0.113.1')) {
      setImmediate(() => write(rig));
    }
  });
  write(rig);
  for (let i = 0; i < 100; i++) await rig.clock.settle();
  assert.equal(rig.api.patches.length - before.patches, 1, 'once at once');
  await rig.clock.advance(3_600_000);
  const patches = rig.api.patches.length - before.patches;
  assert.ok(patches > 10 && patches < 20, `${patches} in an hour`);
  assert.equal(rig.provider.observes, before.observes);
  const told = rig.events.filter(({ reason }) => reason === 'FieldContested');
  assert.ok(told.length <= 3, 'once for as long as Events are kept');
  assert.match(told[0]?.message ?? '', /lb-ipam writes status\.loadBalancer/);
  await rig.stop();
});

test('of several to which another writer gives one address each is written as seldom, without a look at the cloud', async () => {
  const rig = await served();
  const names = ['web', 'web-2', 'web-3'];
  for (const name of names.slice(1)) rig.api.apply(name, webSpec);
  await rig.clock.advance(30_000);
  const before = { patches: rig.api.patches.length, observes: rig.provider.observes };
  const writeAll = (): void => {
    for (const name of names) {
      const service = rig.api.get(name) ?? {};
      if (JSON.stringify(service.status?.loadBalancer?.ingress) === JSON.stringify(theirs)) continue;
      rig.api.services.put({ ...service, status: { ...service.status, loadBalancer: { ingress: theirs } } });
    }
  };
  for (let ms = 0; ms < 20_000; ms += 50) {
    writeAll();
    await rig.clock.advance(50);
  }
  // At once, after a second, and after five.
  assert.equal(rig.api.patches.length - before.patches, 3 * names.length);
  assert.equal(rig.provider.observes, before.observes);
  await rig.stop();
});

test('a look that ends amid it writes what is known of the parts, and not the addresses', async () => {
  const rig = await served();
  for (const ms of [100, 1_500, 100]) {
    write(rig);
    await rig.clock.advance(ms);
  }
  const { length } = rig.api.patches;
  const observes = rig.provider.observes;
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(2_000);
  assert.ok(rig.provider.observes > observes);
  assert.deepEqual([rig.api.patches.length - length, ingressOf(rig)], [0, theirs]);
  await rig.clock.advance(5_000);
  assert.deepEqual(ingressOf(rig), ours);
  await rig.stop();
});

test('a Service that is gone while the watch is late is not written again and again', async () => {
  const rig = await served();
  for (const ms of [100, 1_500, 100]) {
    write(rig);
    await rig.clock.advance(ms);
  }
  const { plan } = rig.provider;
  rig.provider.plan = (desired, parts) => {
    const planned = plan(desired, parts);
    return planned.actions.length === 0 ? { ...planned, annotations: { 'memory/x': 'y' } } : planned;
  };
  let requests = 0;
  rig.api.before = () => {
    requests += 1;
    if (requests > 100) throw new Error('it goes on and on');
    rig.api.services.holdWatch = true;
    rig.api.services.objects.delete('default/web');
  };
  rig.api.nodes.put(nodeOf('n2'));
  for (let i = 0; i < 40; i++) await rig.clock.advance(50);
  assert.ok(requests > 0 && requests < 20, `${requests} requests`);
  rig.api.services.holdWatch = false;
  rig.api.services.publish();
  await rig.stop();
});

test('an old condition that comes back with the addresses does not end the back-off', async () => {
  const rig = await served();
  rig.api.apply('web', webSpec, { generation: 2 });
  await rig.clock.advance(10_000);
  const old = { type: 'LoadBalancerReady', status: 'False', reason: 'Old', message: '' } as const;
  const before = rig.api.patches.length;
  for (let ms = 0; ms < 120_000; ms += 100) {
    const service = rig.api.get('web') ?? {};
    const [condition] = service.status?.conditions ?? [];
    const isTheirs = JSON.stringify(ingressOf(rig)) === JSON.stringify(theirs) && condition?.reason === 'Old';
    const conditions = [{ ...old, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }];
    if (!isTheirs) rig.api.services.put({ ...service, status: { conditions, loadBalancer: { ingress: theirs } } });
    if (ms % 20_000 === 10_000) rig.api.nodes.put(nodeOf(`m${ms}`));
    await rig.clock.advance(100);
  }
  const patches = rig.api.patches.length - before;
  assert.ok(patches <= 10, `${patches} in two minutes`);
  await rig.stop();
});

test('once the other one has stopped, ours stand', async () => {
  const rig = await served();
  for (let i = 0; i < 4; i++) {
    write(rig);
    await rig.clock.advance(2_000);
  }
  await rig.clock.advance(600_000);
  assert.deepEqual(ingressOf(rig), ours);
  const { length } = rig.api.patches;
  await rig.clock.advance(3_600_000);
  assert.equal(rig.api.patches.length, length);
  await rig.stop();
});

test('nodes are followed meanwhile', async () => {
  const rig = await served();
  write(rig);
  await rig.clock.advance(10);
  write(rig);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(5_000);
  const [balancer] = rig.cloud.parts().filter(({ kind }) => kind === 'load-balancer');
  assert.deepEqual(balancer?.attributes.backEnds, ['memory://r/n1', 'memory://r/n2']);
  await rig.stop();
});
