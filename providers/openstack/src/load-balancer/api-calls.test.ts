/** How many requests a look and a change cost. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { BackEnd } from '@outrigger/cloud-provider';
import { portOf } from './desired/tree-inputs.suite.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

test('twenty Services are looked at by six lists, and one for each pool that has changed; while they are pending, by three', async () => {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
  const services = Array.from({ length: 20 }, (_, i) => serviceNamed(`web-${i}`));
  const began = services.map((service) => rig.desired(service));
  rig.cloud.octavia.settings.createMs = 5_000;
  for (const desired of began) await rig.pass(desired);
  const look = async ({ provider }: Rig): Promise<Readonly<Record<string, number>>> => {
    rig.cloud.calls.reset();
    const observations = await provider.observe(services, callContext());
    assert.ok(observations.every(({ kind }) => kind === 'parts'));
    return rig.cloud.calls.counts();
  };
  await look(rig);
  assert.equal(rig.cloud.calls.all().length, 3);
  for (const service of services) await rig.bring(service);
  const lists = {
    'load-balancer GET /healthmonitors': 1,
    'load-balancer GET /listeners': 1,
    'load-balancer GET /loadbalancers': 1,
    'load-balancer GET /pools': 1,
    'network GET /floatingips': 1,
    'network GET /security-groups': 1,
  };
  const members = 'load-balancer GET /pools/{pool}/members';
  const another = await rig.restarted();
  const signIn = { 'identity POST /auth/tokens': 1, 'load-balancer GET /': 1 };
  assert.deepEqual(await look(another), { ...signIn, ...lists, [members]: 20 });
  assert.deepEqual(await look(another), lists);
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  for (const service of services.slice(0, 2)) await rig.bring(service);
  assert.deepEqual(await look(another), { ...lists, [members]: 2 });
  rig.cloud.calls.reset();
  await rig.provider.listOwned(callContext());
  assert.equal(rig.cloud.calls.all().length, 3);
});

test('of 5,000 nodes one goes: one PUT for each port, and nothing while all are there', async () => {
  const rig = await Rig.open();
  const nodes = Array.from({ length: 5_000 }, (_, i): BackEnd => {
    const name = `node-${i}`;
    const address = `10.0.${100 + Math.floor(i / 250)}.${(i % 250) + 1}`;
    return {
      node: { name, uid: name, providerID: `openstack:///${name}`, labels: {}, annotations: {} },
      addresses: [{ type: 'InternalIP', address }],
    };
  });
  rig.config = { subnetId: rig.seeded.subnet.id };
  rig.backEnds = nodes;
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const plan = await rig.bring(web);
  rig.backEnds = nodes.slice(1);
  rig.cloud.calls.reset();
  await rig.bring(served(web, plan));
  const writes = Object.entries(rig.cloud.calls.counts()).filter(([name]) => !name.includes(' GET '));
  assert.deepEqual(writes, [['load-balancer PUT /pools/{pool}/members', 2]]);
});

test('what a look has shown to have settled takes the next change at once, and is not asked about again', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  await rig.bring(web);
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  const desired = rig.desired(web);
  const { actions } = rig.provider.plan(desired, await rig.look(web));
  const began = rig.clock.monotonic();
  rig.cloud.calls.reset();
  for (const action of actions) await rig.provider.apply(action, desired, callContext());
  assert.deepEqual(rig.cloud.calls.counts(), { 'load-balancer PUT /pools/{pool}/members': 1 });
  assert.equal(rig.clock.monotonic(), began);
});
