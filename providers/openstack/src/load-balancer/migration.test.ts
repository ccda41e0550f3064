/** Load balancers from cloud-provider-openstack to here, and back. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerPart, type LoadBalancerService } from '@outrigger/cloud-provider';
import { cpoDelete, cpoEnsure, cpoName, cpoWouldChange } from './cpo-calls.suite.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import type { WireFloatingIP, WireSecurityGroup } from './neutron-wire.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

const idsOf = (everything: Readonly<Record<string, unknown>>): readonly string[] => Object.keys(everything).toSorted();
const web = serviceNamed('web', { ports: [portOf(80), portOf(53, 'UDP')] });

test('the script of CPO’s calls makes what CPO would not change', async () => {
  const rig = await Rig.open();
  assert.deepEqual(await cpoWouldChange(rig, await cpoEnsure(rig, web)), []);
});

test('taken over as it is, with its address and its group; handed back, and deleted by CPO', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const before = await rig.everything();
  const theirs = await cpoEnsure(rig, web, { securityGroup: true });
  const made = await rig.everything();
  rig.cloud.calls.reset();
  const plan = await rig.bring(theirs);
  assert.deepEqual(
    plan.ingress.map(({ ip }) => ip),
    theirs.ingress.map(({ ip }) => ip),
  );
  assert.deepEqual(idsOf(await rig.everything()), idsOf(made), 'nothing was made, nothing deleted');
  const writes = rig.cloud.calls.all().filter(({ operation }) => !operation.startsWith('GET'));
  for (const { body } of writes)
    assert.match(JSON.stringify(body), /"(tags|description)"/, 'only what says whose it is');
  assert.ok((await rig.pass(rig.desired(served(theirs, plan)))).complete);

  assert.deepEqual(await cpoWouldChange(rig, served(theirs, plan)), []);
  await cpoDelete(rig, served(theirs, plan));
  assert.deepEqual(idsOf(await rig.everything()), idsOf(before));
});

for (const serial of [false, true]) {
  const how = serial ? 'one by one' : 'by one batch';
  test(`made by CPO in one call whose children stay behind: what finishes them ${how} is nothing that CPO would change`, async () => {
    const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: serial } });
    rig.cloud.octavia.settings.childrenLateMs = Number.POSITIVE_INFINITY;
    const theirs = await cpoEnsure(rig, web);
    const made = idsOf(await rig.everything());
    await rig.bring(theirs);
    assert.deepEqual(idsOf(await rig.everything()), made);
    assert.deepEqual(await cpoWouldChange(rig, theirs), []);
  });
}

test('what was made here goes to CPO as it is', async () => {
  const rig = await Rig.open();
  const before = await rig.everything();
  const ours = served(web, await rig.bring(web));
  assert.deepEqual(await cpoWouldChange(rig, ours), []);
  await cpoDelete(rig, ours);
  assert.deepEqual(idsOf(await rig.everything()), idsOf(before));
});

for (const [what, options, rigOptions] of [
  ['of the old name', { name: `a${web.uid.replaceAll('-', '')}`.slice(0, 32) }, {}],
  ['of the cluster’s former name', { clusterName: 'old' }, { previousClusterName: 'old' }],
] as const) {
  test(`one ${what} is taken over, and goes with its Service`, async () => {
    const rig = await (await Rig.open()).restarted(rigOptions);
    const before = await rig.everything();
    const theirs = await cpoEnsure(rig, web, options);
    const plan = await rig.bring(theirs);
    assert.equal(plan.ingress[0]?.ip, theirs.ingress[0]?.ip);
    assert.equal(idsOf(await rig.everything()).filter((key) => key.startsWith('loadbalancers')).length, 1);
    await rig.bring(served(theirs, plan), false);
    assert.deepEqual(idsOf(await rig.everything()), idsOf(before));
  });
}

test('a Service that goes before it was taken over leaves nothing', async () => {
  const rig = await Rig.open();
  const before = await rig.everything();
  const theirs = await cpoEnsure(rig, web, { securityGroup: true });
  await rig.bring(theirs, false);
  assert.deepEqual(idsOf(await rig.everything()), idsOf(before));
});

for (const [status, state, reasons] of [
  ['ERROR', 'failed', ['LoadBalancerInError']],
  ['PENDING_UPDATE', 'pending', []],
] as const) {
  test(`a Service that goes before it was taken over waits while its load balancer is ${status}`, async () => {
    const rig = await Rig.open();
    const theirs = await cpoEnsure(rig, web, { securityGroup: true });
    const seen = (await rig.look(theirs)).map((part): LoadBalancerPart => {
      if (part.kind !== 'load-balancer') return part;
      return { ...part, state, attributes: { loadBalancer: { ...loadBalancerIn(part), status } } };
    });
    const plan = rig.provider.plan(rig.desired(theirs, false), seen);
    assert.deepEqual([plan.actions, plan.complete], [[], false]);
    assert.deepEqual(
      plan.warnings?.map((one) => one.reason),
      reasons,
    );
  });
}

test('without the annotation, of another name, or with another’s tag, nothing is taken over', async () => {
  const rig = await Rig.open();
  const theirs = await cpoEnsure(rig, web);
  const refused = await rig.bring(web);
  assert.match(refused.refused?.message ?? '', /set the annotation/);
  // Of another Service: it is shared, as CPO does, and not taken.
  const id = theirs.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const other = serviceNamed('other', { ports: [portOf(81)], annotations: annotated({ loadBalancerId: id }) });
  const plan = await rig.bring(other);
  await rig.bring(served(other, plan), false);
  assert.deepEqual(await cpoWouldChange(rig, theirs), [], 'the owner’s is as it was');
  const elsewhere = await rig.restarted({ clusterId: 'cluster-2' });
  await elsewhere.bring(theirs);
  const taken = await rig.bring(theirs);
  assert.match(taken.refused?.message ?? '', /may not be used by Services of the namespace default/);
});

for (const [whose, tag] of [
  ['another cluster of this one’s name', 'outrigger.dev/owner=cluster-2/5b0d'],
  ['the Service of this name before it', 'outrigger.dev/owner=cluster-1/5b0d'],
]) {
  test(`what ${whose} has begun to take over is refused: CPO’s tags on its listeners prove nothing then`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const theirs = await cpoEnsure(rig, web, { securityGroup: true });
    const made = await rig.everything();
    const [id, loadBalancer] = [...rig.cloud.octavia.store.loadBalancers][0] ?? assert.fail();
    const tags = [...loadBalancer.tags, tag];
    const path = `/v2.0/lbaas/loadbalancers/${id}`;
    const body = { loadbalancer: { tags } };
    await rig.client.request(callContext(), { service: 'load-balancer', operation: 'x', method: 'PUT', path, body });
    await rig.clock.sleep(1_000);
    const marked = await rig.everything();
    const plan = await rig.bring(theirs);
    assert.match(plan.refused?.message ?? '', /but another owner;/);
    assert.deepEqual(await rig.everything(), marked);

    await rig.bring(theirs, false);
    const left = await rig.everything();
    assert.deepEqual(
      idsOf(made).filter((key) => !(key in left)),
      idsOf(made).filter((key) => (made[key] as WireSecurityGroup).name === `lb-sg-${web.uid}-default-web`),
      'the group alone has the Service’s UID',
    );
    for (const key of idsOf(left)) if (!key.startsWith('ports')) assert.deepEqual(left[key], marked[key]);
  });
}

test('two Services that share one under CPO share it here, in whichever order they come', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const rig = await Rig.open();
    const before = await rig.everything();
    const first = await cpoEnsure(rig, web);
    const loadBalancerId = first.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
    const second = await cpoEnsure(rig, serviceNamed('second', { ports: [portOf(81)] }), { loadBalancerId });
    const made = await rig.everything();
    const services = [first, second];
    for (const i of order) await rig.bring(services[i] as LoadBalancerService);
    assert.deepEqual(idsOf(await rig.everything()), idsOf(made));
    for (const service of services) assert.deepEqual(await cpoWouldChange(rig, service), [], cpoName(service));
    for (const i of order) await rig.bring(services[i] as LoadBalancerService, false);
    assert.deepEqual(idsOf(await rig.everything()), idsOf(before));
  }
});

for (const firstIs of ['CPO’s', 'taken over']) {
  test(`a Service that shares goes before it has joined here: what CPO made for it goes too (the first is ${firstIs})`, async () => {
    const rig = await Rig.open();
    const first = await cpoEnsure(rig, web);
    const loadBalancerId = first.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
    const alone = await rig.everything();
    const second = await cpoEnsure(rig, serviceNamed('second', { ports: [portOf(81)] }), { loadBalancerId });
    if (firstIs === 'taken over') await rig.bring(first);
    // Somebody changes it just then: it is PENDING, and its listeners are not looked at.
    rig.cloud.octavia.settings.updateMs = 12_000;
    const body = { loadbalancer: { admin_state_up: true } };
    const path = `/v2.0/lbaas/loadbalancers/${loadBalancerId}`;
    await rig.client.request(callContext(), { service: 'load-balancer', operation: 'x', method: 'PUT', path, body });
    await rig.bring(second, false);
    const left = await rig.everything();
    assert.deepEqual(idsOf(left), idsOf(alone));
    assert.equal(JSON.stringify(left).includes(cpoName(second)), false);
    assert.deepEqual(await cpoWouldChange(rig, first), []);
  });
}

for (const isPending of [false, true]) {
  const when = isPending ? ' while it is changed' : '';
  test(`a Service that goes${when} leaves the load balancer, and its address, to one that CPO still serves`, async () => {
    const rig = await Rig.open();
    const first = await cpoEnsure(rig, web);
    const loadBalancerId = first.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
    const second = await cpoEnsure(rig, serviceNamed('second', { ports: [portOf(81)] }), { loadBalancerId });
    const plan = await rig.bring(first);
    if (isPending) {
      // Its listeners, which say who is served, are not looked at.
      rig.cloud.octavia.settings.updateMs = 12_000;
      const body = { loadbalancer: { admin_state_up: true } };
      const path = `/v2.0/lbaas/loadbalancers/${loadBalancerId}`;
      await rig.client.request(callContext(), { service: 'load-balancer', operation: 'x', method: 'PUT', path, body });
    }
    await rig.bring(served(first, plan), false);
    assert.deepEqual(await cpoWouldChange(rig, second), []);
    const left = Object.entries(await rig.everything()).filter(([key]) =>
      /^(loadbalancers|listeners|floatingips)/.test(key),
    );
    assert.deepEqual([left.length, JSON.stringify(left).includes('outrigger')], [3, false]);
  });
}

test('the address of a load balancer that is named, and was never taken over, is nobody’s to let go', async () => {
  const rig = await Rig.open();
  const theirs = await cpoEnsure(rig, serviceNamed('theirs'));
  const id = theirs.annotations['loadbalancer.openstack.org/load-balancer-id'];
  const plan = await rig.bring(web);
  const address = Object.values(await rig.everything()).find(
    (one): one is WireFloatingIP => (one as WireFloatingIP).floating_ip_address === theirs.ingress[0]?.ip,
  );
  const moved = { ...served(web, plan), annotations: annotated({ loadBalancerId: id ?? '' }) };
  await rig.bring(moved, false);
  assert.deepEqual((await rig.everything())[`floatingips ${address?.id}`], address);
});

test('what asks for more than one Service may is taken over nevertheless, and its members follow the nodes', async () => {
  const rig = await Rig.open();
  const sourceRanges = Array.from({ length: 4_096 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const ports = Array.from({ length: 25 }, (_, i) => portOf(80 + i));
  const theirs = await cpoEnsure(rig, serviceNamed('web', { ports, sourceRanges }));
  const made = idsOf(await rig.everything());
  rig.backEnds = [...rig.backEnds.slice(1), rig.addNode('node-3')];
  const { refused } = await rig.bring(theirs);
  assert.match(refused?.message ?? '', /^25 ports with 4096 source ranges /u);
  assert.deepEqual(
    idsOf(await rig.everything()).filter((key) => !key.startsWith('ports')),
    made.filter((key) => !key.startsWith('ports')),
  );
  const parts = await rig.look(theirs);
  assert.deepEqual(
    parts.map(({ kind, owner }) => [kind, owner?.uid]),
    [
      ['load-balancer', theirs.uid],
      ['floating-ip', theirs.uid],
    ],
  );
  const [listeners = []] = parts.flatMap((part) =>
    part.kind === 'load-balancer' ? [loadBalancerIn(part).children?.listeners] : [],
  );
  assert.equal(listeners.length, 25);
  for (const { pool } of listeners) {
    assert.deepEqual(pool?.members.map(({ name }) => name).toSorted(), ['node-2', 'node-3']);
  }
});

test('what asks for more than one Service may, and has nothing, gets nothing', async () => {
  const rig = await Rig.open();
  const before = idsOf(await rig.everything());
  const sourceRanges = Array.from({ length: 4_096 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const ports = Array.from({ length: 25 }, (_, i) => portOf(80 + i));
  const plan = await rig.bring(serviceNamed('web', { ports, sourceRanges }));
  assert.ok(isCloudError(plan.refused, 'invalid'));
  assert.deepEqual(idsOf(await rig.everything()), before);
});
