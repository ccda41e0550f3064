/** Who is a member under cloud-provider-openstack is one after the take-over; what an operator has set on a pool stays. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { BackEnd, LoadBalancerService } from '@outrigger/cloud-provider';
import { cpoEnsure } from './cpo-calls.suite.ts';
import { loadBalancerIn, securityGroupIn, type ObservedPool } from './observed-tree.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

async function poolOf(rig: Rig, service: LoadBalancerService): Promise<ObservedPool> {
  const parts = (await rig.look(service)).filter(({ kind }) => kind === 'load-balancer');
  const [pool] = parts.flatMap((part) => loadBalancerIn(part).children?.listeners ?? []).map((one) => one.pool);
  assert.ok(pool);
  return pool;
}

const withID = (backEnd: BackEnd, providerID: string | undefined): BackEnd => ({
  ...backEnd,
  node: { ...backEnd.node, providerID },
});

for (const [what, providerID] of [
  ['of RKE2', 'rke2://rke2-1'],
  ['of Metal3', 'metal3://metal/host/machine'],
  ['without a provider ID', undefined],
] as const) {
  test(`a node ${what} stays a member, and its port gets the security group where it is known by its address`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    rig.backEnds = [...rig.backEnds, withID(rig.addNode('a-first'), providerID)];
    const theirs = await cpoEnsure(rig, serviceNamed('web'));
    rig.backEnds = rig.provider.selectBackEnds(theirs, rig.backEnds);
    const plan = await rig.bring(theirs);
    const names = (await poolOf(rig, theirs)).members.map(({ name }) => name).toSorted();
    assert.deepEqual(names, ['a-first', 'node-1', 'node-2']);
    const group = (await rig.look(served(theirs, plan))).find(({ kind }) => kind === 'security-group');
    assert.equal(group && securityGroupIn(group).ports.length, 3);
  });
}

for (const [what, name, has] of [
  ['of a server of another name', 'database', false],
  ['of the server of its name', 'A-First', true],
] as const) {
  test(`the port ${what} that a foreign node gives as its own address ${has ? 'gets the group' : 'is left alone, and the Service is served'}`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const server = rig.addNode(name);
    const serverId = server.node.providerID?.slice('openstack:///'.length) ?? '';
    const { ports } = rig.cloud.networking;
    const groupsOf = () => ports.ports.where('device_id', serverId).flatMap((port) => port.security_groups);
    const before = groupsOf();
    // What a kubelet says of itself: nobody but nova knows whose the address is.
    rig.backEnds = [...rig.backEnds, { ...server, node: { ...server.node, name: 'a-first', providerID: 'rke2://a' } }];
    assert.equal((await rig.bring(serviceNamed('web'))).complete, true);
    assert.equal(groupsOf().length, before.length + (has ? 1 : 0));
  });
}

test("a machine of another network with the node's address does not get the group: the node's own port may be the one without port security", async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const node = rig.addNode('a-first');
  const serverId = node.node.providerID?.slice('openstack:///'.length);
  const { networks, ports } = rig.cloud.networking;
  const [own] = ports.ports.where('device_id', serverId ?? '');
  const ip = node.addresses[0]?.address;
  assert.ok(own && ip !== undefined);
  ports.change(own, { port_security_enabled: false, security_groups: [] });
  const project = rig.seeded.project.id;
  const network = networks.addNetwork({ name: 'theirs', project_id: project });
  networks.addSubnet(network, { name: 'theirs', cidr: '10.0.0.0/16' });
  const theirs = ports.add({ network_id: network.id, project_id: project, fixed_ips: [{ ip_address: ip }] });
  rig.backEnds = [...rig.backEnds, withID(node, 'rke2://a-first')];
  assert.equal((await rig.bring(serviceNamed('web'))).complete, true);
  assert.deepEqual(ports.ports.get(theirs.id)?.security_groups, theirs.security_groups);
});

test('a new load balancer lies where the servers of nova are, whichever node comes first', async () => {
  const rig = await Rig.open();
  const bare = {
    ...withID(rig.addNode('a-first'), 'metal3://x/y'),
    addresses: [{ type: 'InternalIP', address: '192.0.2.9' }],
  };
  rig.backEnds = [bare as BackEnd, ...rig.backEnds];
  assert.equal((await rig.bring(serviceNamed('web'))).refused, undefined);
});

const persistence = (type: string) => ({ pool: { session_persistence: { type } } });

async function setByHand(rig: Rig, { id }: ObservedPool, type: string): Promise<void> {
  await rig.client.request(callContext(), {
    service: 'load-balancer',
    operation: 'PUT /v2.0/lbaas/pools/{id}',
    method: 'PUT',
    path: `/v2.0/lbaas/pools/${id}`,
    body: persistence(type),
  });
  await rig.clock.sleep(60_000);
}

for (const type of ['SOURCE_IP', 'HTTP_COOKIE']) {
  test(`session persistence ${type} that an operator has set survives the take-over`, async () => {
    const rig = await Rig.open();
    const theirs = await cpoEnsure(rig, serviceNamed('web'));
    await setByHand(rig, await poolOf(rig, theirs), type);
    const plan = await rig.bring(theirs);
    assert.equal((await poolOf(rig, theirs)).sessionPersistence, type);
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    await rig.bring(served(theirs, plan));
    assert.equal((await poolOf(rig, theirs)).sessionPersistence, type);
  });
}

for (const whose of ['made here', 'taken over']) {
  test(`session affinity that the Service no longer asks for goes from a pool that was ${whose}`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    const sticky = serviceNamed('web', { clientIPAffinitySeconds: 10_800 });
    const theirs = whose === 'taken over' ? await cpoEnsure(rig, web) : sticky;
    if (whose === 'taken over') await setByHand(rig, await poolOf(rig, theirs), 'SOURCE_IP');
    const { annotations, ingress } = served(theirs, await rig.bring({ ...theirs, clientIPAffinitySeconds: 10_800 }));
    assert.equal((await poolOf(rig, { ...sticky, annotations })).sessionPersistence, 'SOURCE_IP');
    const plain = { ...web, annotations, ingress };
    await rig.bring(plain);
    assert.equal((await poolOf(rig, plain)).sessionPersistence, null);
    await setByHand(rig, await poolOf(rig, plain), 'SOURCE_IP');
    assert.ok((await rig.pass(rig.desired(plain))).complete, 'by hand from now on');
  });
}
