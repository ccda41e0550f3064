/** A Service that is refused keeps its load balancer, and the nodes are followed. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { loadBalancerIn, securityGroupIn } from './observed-tree.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

async function membersOf(rig: Rig, service: LoadBalancerService): Promise<readonly (readonly string[])[]> {
  const parts = (await rig.look(service)).filter(({ kind }) => kind.endsWith('load-balancer'));
  const listeners = parts.flatMap((part) => loadBalancerIn(part).children?.listeners ?? []);
  return listeners.map(({ pool }) => (pool?.members ?? []).map(({ name, port }) => `${name}:${port}`).toSorted());
}

/** Octavia has no such thing as a flavour of this name, and never will. */
const refused = annotated({ flavorId: 'none', class: 'no-such-class' });

for (const providerRequiresSerialApiCalls of [false, true]) {
  test(`members come and go while the wish is refused; serial: ${providerRequiresSerialApiCalls}`, async () => {
    const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls } });
    const web = serviceNamed('web', { ports: [portOf(80), portOf(53, 'UDP')] });
    const was = served(web, await rig.bring(web));
    const before = await membersOf(rig, was);
    const now = { ...was, annotations: { ...was.annotations, ...refused }, ports: [...was.ports, portOf(81)] };
    assert.match((await rig.bring(now)).refused?.message ?? '', /no such class|UUID/);
    assert.deepEqual(await membersOf(rig, now), before);
    rig.backEnds = [...rig.backEnds.slice(1), rig.addNode('node-3')];
    assert.ok((await rig.bring(now)).refused);
    const after = await membersOf(rig, now);
    assert.deepEqual(
      after.map((pool) => pool.map((member) => member.replace(/:.*/, ''))),
      [
        ['node-2', 'node-3'],
        ['node-2', 'node-3'],
      ],
    );
    assert.deepEqual(
      after.map((pool) => new Set(pool.map((member) => member.replace(/.*:/, '')))),
      before.map((pool) => new Set(pool.map((member) => member.replace(/.*:/, '')))),
    );
    // What is taken back finds all as it should be.
    const [plan] = [await rig.pass(rig.desired(was))];
    assert.deepEqual([plan.refused, plan.complete], [undefined, true]);
  });
}

test('a node port that changes with a refused wish is followed: nobody serves the old one', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const ports = was.ports.map((one) => ({ ...one, nodePort: 32_000 }));
  await rig.bring({ ...was, annotations: { ...was.annotations, ...refused }, ports });
  const [pool = []] = await membersOf(rig, was);
  assert.ok(pool.length > 0 && pool.every((member) => member.endsWith(':32000')), pool.join());
});

test('members that are changed one by one are not changed back in between', async () => {
  const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: true } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const [part] = (await rig.look(was)).filter(({ kind }) => kind === 'load-balancer');
  const pool = part && loadBalancerIn(part).children?.listeners[0]?.pool;
  assert.equal(pool?.members.length, 2);
  for (const [i, { id }] of pool.members.entries()) {
    await rig.client.request(callContext(), {
      service: 'load-balancer',
      operation: 'PUT /v2.0/lbaas/pools/{id}/members/{id}',
      method: 'PUT',
      path: `/v2.0/lbaas/pools/${pool.id}/members/${id}`,
      body: { member: { monitor_port: 31_000 } },
    });
    await rig.clock.sleep(60_000);
    const { others, parts } = await rig.lookAround(was);
    const { actions } = rig.provider.planMembers({ ...rig.desired(was), others }, parts);
    assert.deepEqual(
      actions.map(({ summary }) => summary),
      [],
      `after ${i + 1}`,
    );
  }
});

test('with manage-security-groups the ports of new nodes get the group, and those of former ones lose it', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const now = { ...was, annotations: { ...was.annotations, ...refused } };
  const added = rig.addNode('node-3');
  rig.backEnds = [...rig.backEnds.slice(1), added];
  await rig.bring(now);
  const group = (await rig.look(now)).find(({ kind }) => kind === 'security-group');
  assert.ok(group);
  const addresses = securityGroupIn(group).ports.flatMap((one) => one.addresses);
  assert.ok(addresses.includes(added.addresses[0]?.address ?? ''));
  assert.equal(securityGroupIn(group).ports.length, 2);
});

test('a Service that asks for more rules than a group may have keeps those that it has, and its nodes are followed', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true, lbProvider: 'ovn' } });
  rig.cloud.octavia.settings.providers = ['ovn'];
  const web = serviceNamed('web', { sourceRanges: ['10.0.0.0/8'], ports: [portOf(80), portOf(81)] });
  const was = served(web, await rig.bring(web));
  const groupOf = async () => securityGroupIn((await rig.look(was)).find(({ kind }) => kind === 'security-group')!);
  const { rules } = await groupOf();
  assert.equal(rules.length, 2);
  const sourceRanges = Array.from({ length: 501 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  rig.backEnds = [...rig.backEnds.slice(1), rig.addNode('node-3')];
  const { refused } = await rig.bring({ ...was, sourceRanges });
  assert.match(refused?.message ?? '', /^2 ports and 501 source ranges need 1002 rules/u);
  const after = await groupOf();
  assert.deepEqual([after.rules, after.ports.length], [rules, 2]);
  assert.deepEqual(
    (await membersOf(rig, was)).flat().map((one) => one.replace(/:.*/u, '')),
    ['node-2', 'node-3', 'node-2', 'node-3'],
  );
});

for (const broken of [
  'the load balancer is in ERROR',
  'the pool is gone',
  'nothing is seen of the load balancer',
] as const) {
  test(`where ${broken}, the ports of the nodes keep the security group`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const web = serviceNamed('web');
    const was = served(web, await rig.bring(web));
    const now = { ...was, annotations: { ...was.annotations, ...refused } };
    const before = await rig.look(now);
    const isBalancer = ({ kind }: { readonly kind: string }): boolean => kind === 'load-balancer';
    const balancer = before.find(isBalancer);
    assert.ok(balancer);
    const pool = loadBalancerIn(balancer).children?.listeners[0]?.pool?.id ?? '';
    if (broken === 'the load balancer is in ERROR') {
      rig.cloud.octavia.setProvisioningStatus(balancer.id, 'ERROR');
    } else if (broken === 'the pool is gone') {
      await rig.client.request(callContext(), {
        service: 'load-balancer',
        operation: 'DELETE /v2.0/lbaas/pools/{id}',
        method: 'DELETE',
        path: `/v2.0/lbaas/pools/${pool}`,
      });
      await rig.clock.sleep(60_000);
    }
    const { others, parts } = await rig.lookAround(now);
    const seen = broken === 'nothing is seen of the load balancer' ? parts.filter((one) => !isBalancer(one)) : parts;
    const plan = rig.provider.planMembers({ ...rig.desired(now), others }, seen);
    assert.deepEqual(
      plan.actions.map(({ summary }) => summary),
      [],
    );
  });
}

test('a Service that has nothing, and one of another, get nothing', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  await rig.bring(web);
  const before = await rig.everything();
  assert.ok((await rig.bring(serviceNamed('other', { annotations: refused }))).complete);
  assert.deepEqual(await rig.everything(), before);
});
