import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  isCloudError,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { cpoEnsure, cpoName } from './cpo-calls.suite.ts';
import { annotationTable } from './desired/annotation-table.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import type { WireFloatingIP } from './neutron-wire.ts';
import { loadBalancerIn } from './observed-tree.ts';
import type { WireListener, WireLoadBalancer } from './octavia-wire.ts';
import { markedDescription, markOf, ownerTag, sharerTag } from './ownership.ts';
import { callContext, goneService, Rig, served, serviceNamed } from './rig.suite.ts';

interface Pair {
  readonly rig: Rig;
  /** Has made the load balancer. */
  readonly first: LoadBalancerService;
  /** Uses it too. */
  readonly second: LoadBalancerService;
  readonly plan: LoadBalancerPlan;
}

function sharerOf(
  owner: LoadBalancerPlan,
  name: string,
  port: number,
  more: Parameters<typeof annotated>[0] = {},
): LoadBalancerService {
  const loadBalancerId = owner.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  return serviceNamed(name, { ports: [portOf(port)], annotations: annotated({ loadBalancerId, ...more }) });
}

async function openPair(): Promise<Pair> {
  const rig = await Rig.open();
  const first = serviceNamed('first');
  const plan = await rig.bring(first);
  const second = sharerOf(plan, 'second', 81);
  const shared = await rig.bring(second);
  assert.deepEqual(shared.ingress, plan.ingress, 'both are reached at one address');
  return { rig, first: served(first, plan), second: served(second, shared), plan };
}

async function look(
  rig: Rig,
): Promise<{ balancers: WireLoadBalancer[]; listeners: WireListener[]; addresses: WireFloatingIP[] }> {
  const all = Object.entries(await rig.everything());
  const of = <T>(kind: string): T[] => all.flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one as T] : []));
  return { balancers: of('loadbalancers'), listeners: of('listeners'), addresses: of('floatingips') };
}

const owner = ({ uid }: LoadBalancerService): { clusterId: string; uid: string } => ({ clusterId: 'cluster-1', uid });

test('a second Service has its own listener on the load balancer of the first, and says so by tags', async () => {
  const { rig, first, second } = await openPair();
  const { balancers, listeners, addresses } = await look(rig);
  assert.deepEqual([balancers.length, addresses.length], [1, 1]);
  assert.ok(
    balancers[0]?.tags?.includes(ownerTag(owner(first))) && balancers[0].tags.includes(sharerTag(owner(second))),
  );
  const byPort = new Map(listeners.map((one) => [one.protocol_port, one.tags ?? []]));
  assert.ok(byPort.get(80)?.includes(ownerTag(owner(first))) && byPort.get(81)?.includes(ownerTag(owner(second))));
  for (const service of [first, second]) assert.equal((await rig.pass(rig.desired(service))).complete, true);
});

test('the one that shares goes: only its listener goes with it', async () => {
  const { rig, first, second } = await openPair();
  for (const gone of [second, goneService(second)]) await rig.bring(gone, false);
  const { balancers, listeners } = await look(rig);
  assert.deepEqual(
    listeners.map((one) => one.protocol_port),
    [80],
  );
  assert.equal(
    balancers[0]?.tags?.some((tag) => tag.includes('second') || tag.includes(second.uid)),
    false,
  );
  await rig.bring(first, false);
  assert.deepEqual(await look(rig), { balancers: [], listeners: [], addresses: [] });
});

for (const byForce of [false, true]) {
  test(`the owner goes${byForce ? ' by force' : ''}: who shares it owns it then, its address too, and the last one deletes it`, async () => {
    const { rig, first, second, plan } = await openPair();
    await rig.bring(byForce ? goneService(first) : first, false);
    const { balancers, listeners, addresses } = await look(rig);
    assert.deepEqual(
      listeners.map((one) => one.protocol_port),
      [81],
    );
    assert.ok(balancers[0]?.tags?.includes(ownerTag(owner(second))));
    const [address] = addresses;
    assert.deepEqual(markOf(address?.description ?? '', address?.tags ?? [])?.owner, owner(second));
    const after = await rig.bring(second);
    assert.deepEqual(after.ingress, plan.ingress);
    await rig.bring(byForce ? goneService(second) : second, false);
    assert.deepEqual(await look(rig), { balancers: [], listeners: [], addresses: [] });
  });
}

for (const updateMs of [12_000, 15_000, 18_000, 25_000, 31_000]) {
  for (const [i, who] of ['owner', 'one that shares'].entries()) {
    test(`the ${who} goes where each change takes ${updateMs / 1000} s: nothing of it stays`, async () => {
      const { rig, first, second } = await openPair();
      const one = [first, second][i] ?? first;
      const leaver = { ...one, ports: [...one.ports, portOf(90)] };
      await rig.bring(leaver);
      rig.cloud.octavia.settings.updateMs = updateMs;
      await rig.bring(leaver, false);
      const left = Object.entries(await rig.everything()).filter(([key]) => /^(listeners|pools)/.test(key));
      assert.equal(left.length, 2);
      assert.equal(JSON.stringify(left).includes(leaver.uid), false, JSON.stringify(left));
    });
  }
}

test('who has begun to share while the owner’s deletion was planned keeps the load balancer', async () => {
  const rig = await Rig.open();
  const first = serviceNamed('first');
  const plan = await rig.bring(first);
  const gone = rig.desired(goneService(first), false);
  const deletion = rig.provider.plan(gone, await rig.look(gone.service));
  const second = sharerOf(plan, 'second', 81);
  await rig.bring(second);
  const last = deletion.actions.at(-1);
  assert.equal(last?.kind, 'delete');
  await assert.rejects(rig.provider.apply(last, gone, callContext()), /is shared by now/);
  await rig.bring(gone.service, false);
  assert.deepEqual(
    (await look(rig)).listeners.map((one) => one.protocol_port),
    [81],
  );
});

test('a Service of cloud-provider-openstack that has come while the owner’s deletion was planned keeps the load balancer', async () => {
  const rig = await Rig.open();
  const first = serviceNamed('first');
  await rig.bring(first);
  const [balancer] = rig.cloud.octavia.store.loadBalancers.values();
  assert.ok(balancer);
  // Of which there is no listener: somebody left it behind, and it keeps nothing.
  const stale = 'kube_service_other_default_stale';
  balancer.tags = [...balancer.tags, stale];
  const gone = rig.desired(goneService(first), false);
  const last = rig.provider.plan(gone, await rig.look(gone.service)).actions.at(-1);
  assert.equal(last?.kind, 'delete');
  const theirs = 'kube_service_other_default_theirs';
  balancer.tags = [...balancer.tags, theirs];
  await assert.rejects(rig.provider.apply(last, gone, callContext()), /is shared by now/);
  assert.equal((await look(rig)).balancers.length, 1);
  balancer.tags = balancer.tags.filter((tag) => tag !== theirs);
  await rig.bring(gone.service, false);
  assert.deepEqual((await look(rig)).balancers, []);
});

test('a Service of cloud-provider-openstack that has only its listeners yet keeps the load balancer', async () => {
  const rig = await Rig.open();
  const first = serviceNamed('first');
  const plan = await rig.bring(first);
  const gone = rig.desired(goneService(first), false);
  const last = rig.provider.plan(gone, await rig.look(gone.service)).actions.at(-1);
  assert.equal(last?.kind, 'delete');
  const loadBalancerId = plan.annotations?.[annotationTable.loadBalancerId.name] ?? '';
  const theirs = serviceNamed('theirs', { ports: [portOf(81)] });
  await cpoEnsure(rig, theirs, { loadBalancerId, clusterName: 'other' });
  // It writes its tag on the load balancer last.
  const [balancer] = rig.cloud.octavia.store.loadBalancers.values();
  assert.ok(balancer);
  balancer.tags = balancer.tags.filter((tag) => tag !== cpoName(theirs, 'other'));
  await rig.clock.sleep(60_000);
  await assert.rejects(
    rig.provider.apply(last, gone, callContext()),
    (error: unknown) => isCloudError(error, 'conflict') && /is shared by now/u.test(error.message),
  );
  await rig.bring(gone.service, false);
  assert.deepEqual(
    (await look(rig)).listeners.map((one) => one.protocol_port),
    [81],
  );
});

test('the last one who shares leaves while it was planned to leave the load balancer to them: it stays its owner’s', async () => {
  const { rig, first, second } = await openPair();
  const gone = rig.desired(goneService(first), false);
  const last = async (): Promise<LoadBalancerAction | undefined> =>
    rig.provider.plan(gone, await rig.look(gone.service)).actions.at(-1);
  let leaving = await last();
  while (!leaving?.summary?.startsWith('leave the load balancer')) {
    await rig.pass(gone);
    leaving = await last();
  }
  await rig.bring(second, false);
  await assert.rejects(rig.provider.apply(leaving, gone, callContext()), /is no longer shared by a Service/);
  await rig.bring(gone.service, false);
  assert.deepEqual(await look(rig), { balancers: [], listeners: [], addresses: [] });
});

test('refused: a third one, a port that is taken, an internal one, one without a floating IP to share', async () => {
  const { rig, plan } = await openPair();
  const before = await rig.everything();
  const refusalOf = async (service: LoadBalancerService): Promise<string> =>
    (await rig.bring(service)).refused?.message ?? '';
  assert.match(await refusalOf(sharerOf(plan, 'third', 82)), /used by 2 Services already \(max-shared-lb 2\)/);
  rig.config = { maxSharedLb: 3 };
  assert.match(await refusalOf(sharerOf(plan, 'clash', 80)), /port 80 \(TCP\) .* is taken/);
  assert.match(await refusalOf(sharerOf(plan, 'hidden', 83, { internal: 'true' })), /internal Service cannot share/);
  assert.deepEqual(await rig.everything(), before);
  const inside = await rig.bring(serviceNamed('inside', { annotations: annotated({ internal: 'true' }) }));
  assert.match(await refusalOf(sharerOf(inside, 'outside', 84)), /no floating IP, and only the Service that owns it/);
});

test('before it is stored: what can never be is refused, what somebody else stands in the way of is told', async () => {
  const { rig, first, plan } = await openPair();
  const verdictOn = (service: LoadBalancerService): ReturnType<Rig['provider']['validate']> =>
    rig.provider.validate(service, callContext());
  const before = await rig.everything();
  assert.deepEqual([await verdictOn(first), await verdictOn(serviceNamed('new'))], [{}, {}]);
  const wrong = serviceNamed('wrong', { annotations: annotated({ connectionLimit: '-2' }) });
  assert.match((await verdictOn(wrong)).refused?.message ?? '', /"-2" is not/);
  const passedOver = serviceNamed('passed-over', { annotations: annotated({ connectionLimit: 'many' }) });
  assert.match((await verdictOn(passedOver)).warnings?.join() ?? '', /many/);
  assert.match((await verdictOn(sharerOf(plan, 'third', 82))).warnings?.[0] ?? '', /max-shared-lb/);
  assert.deepEqual(await rig.everything(), before);
});

test('a load balancer of nobody’s making is used, and left as it was', async () => {
  const rig = await Rig.open();
  const body = {
    loadbalancer: {
      name: 'by-hand',
      vip_subnet_id: rig.seeded.subnet.id,
      tags: ['outrigger-namespace=default', 'team-a'],
    },
  };
  const path = '/v2.0/lbaas/loadbalancers';
  const request = { service: 'load-balancer', operation: 'x', method: 'POST', path, body } as const;
  const { loadbalancer } = await rig.client.request<{ loadbalancer: WireLoadBalancer }>(callContext(), request);
  const address = { floating_network_id: rig.seeded.publicNetwork.id, port_id: loadbalancer.vip_port_id };
  const floating = { service: 'network', operation: 'x', method: 'POST', path: '/v2.0/floatingips' } as const;
  await rig.client.request(callContext(), { ...floating, body: { floatingip: address } });
  const before = await rig.everything();
  const web = serviceNamed('web', { annotations: annotated({ loadBalancerId: loadbalancer.id }) });
  const plan = await rig.bring(web);
  assert.equal(plan.ingress.length, 1);
  await rig.bring(served(web, plan), false);
  const after = await rig.everything();
  assert.deepEqual(Object.keys(after), Object.keys(before));
  const left = after[`loadbalancers ${loadbalancer.id}`] as WireLoadBalancer;
  assert.deepEqual([left.name, left.tags?.filter(Boolean)], ['by-hand', ['outrigger-namespace=default', 'team-a']]);
  // Even one that is the Service's is let go of, not deleted: others are served by it.
  await rig.bring(web);
  const [used] = (await look(rig)).addresses;
  assert.ok(used);
  await markAs(rig, used, web);
  await rig.bring(served(web, plan), false);
  const [letGo] = (await look(rig)).addresses;
  assert.deepEqual([letGo?.port_id, letGo?.description], [loadbalancer.vip_port_id, '']);
});

test('one that goes by force before it has a listener does not keep the load balancer alive', async () => {
  const rig = await Rig.open();
  const first = serviceNamed('first');
  const plan = await rig.bring(first);
  const second = sharerOf(plan, 'second', 81);
  for (const passes of [1, 2, 3]) {
    for (let pass = 0; pass < passes; pass++) await rig.pass(rig.desired(second));
    await rig.bring(goneService(second), false);
  }
  await rig.bring(served(first, plan), false);
  assert.deepEqual(await look(rig), { balancers: [], listeners: [], addresses: [] });
});

/** Writes this owner onto a floating IP, as a program that died, or an earlier one, has left it. */
async function markAs(rig: Rig, { id, description = '' }: WireFloatingIP, { uid }: LoadBalancerService): Promise<void> {
  const mark = { owner: { clusterId: rig.clusterId, uid }, keep: false };
  const body = { floatingip: { description: markedDescription(description, mark) } };
  const path = `/v2.0/floatingips/${id}`;
  await rig.client.request(callContext(), { service: 'network', operation: 'x', method: 'PUT', path, body });
}

for (const wanted of [true, false]) {
  test(`the floating IP goes back to the owner of the load balancer from one that ${wanted ? 'shares it' : 'leaves'}`, async () => {
    const { rig, first, second, plan } = await openPair();
    const [address] = (await look(rig)).addresses;
    assert.ok(address);
    await markAs(rig, address, second);
    await rig.bring(second, wanted);
    const [after] = (await look(rig)).addresses;
    assert.deepEqual(markOf(after?.description ?? '', after?.tags ?? [])?.owner, owner(first));
    assert.deepEqual((await rig.bring(first)).ingress, plan.ingress);
  });
}

test('one that leaves for a load balancer of its own takes no address along', async () => {
  const { rig, first, second } = await openPair();
  const [address] = (await look(rig)).addresses;
  assert.ok(address);
  await markAs(rig, address, second);
  const own = await rig.bring({ ...second, annotations: {} });
  assert.notDeepEqual(own.ingress, second.ingress);
  await rig.bring(goneService(second), false);
  assert.deepEqual(
    (await look(rig)).addresses.map(({ id }) => id),
    [address.id],
  );
  await rig.bring(first, false);
  assert.deepEqual(await look(rig), { balancers: [], listeners: [], addresses: [] });
});

test('a floating IP that is to be kept is kept when both go at the same time', async () => {
  const { rig, first, second } = await openPair();
  const keeps = { ...first, annotations: { ...first.annotations, ...annotated({ keepFloatingIP: 'true' }) } };
  await rig.bring(keeps);
  for (let pass = 0; pass < 40; pass++) {
    for (const one of [keeps, second]) await rig.pass(rig.desired(one, false));
    await rig.clock.sleep(1_000);
  }
  const { addresses, ...others } = await look(rig);
  assert.deepEqual(others, { balancers: [], listeners: [] });
  assert.equal(addresses.length, 1);
  assert.equal(markOf(addresses[0]?.description ?? '', addresses[0]?.tags ?? []), undefined);
});

for (const [status, state, late, reason] of [
  ['ERROR', 'failed', 'no', 'LoadBalancerInError'],
  ['PENDING_UPDATE', 'pending', 'rebuild', 'LoadBalancerStuck'],
] as const) {
  test(`one that shares goes, and the load balancer is ${status}: it is waited for, and told`, async () => {
    const { rig, second } = await openPair();
    const seen = (await rig.look(second)).map((part) => {
      const loadBalancer = { ...loadBalancerIn(part), status, late };
      return { ...part, state, attributes: { loadBalancer } } satisfies LoadBalancerPart;
    });
    const plan = rig.provider.plan(rig.desired(second, false), seen);
    assert.deepEqual([plan.actions, plan.complete], [[], false]);
    assert.deepEqual(
      plan.warnings?.map((one) => one.reason),
      [reason],
    );
  });
}

test('the floating IP of another Service, or cluster, is not attached here while it is detached for a moment', async () => {
  const { rig, plan } = await openPair();
  const [address] = (await look(rig)).addresses;
  const body = { floatingip: { port_id: null } };
  const put = {
    service: 'network',
    operation: 'x',
    method: 'PUT',
    path: `/v2.0/floatingips/${address?.id}`,
    body,
  } as const;
  await rig.client.request(callContext(), put);
  const asking = serviceNamed('asking', { ports: [portOf(82)], requestedIP: plan.ingress[0]?.ip ?? '' });
  for (const one of [rig, await rig.restarted({ clusterId: 'cluster-2', clusterName: 'two' })]) {
    const { refused } = await one.bring(asking);
    assert.ok(
      isCloudError(refused, 'not-owned') && refused.message.includes('may not be used by Services of the namespace'),
      refused?.message,
    );
    assert.equal((await look(rig)).addresses.find(({ id }) => id === address?.id)?.port_id, null);
  }
});
