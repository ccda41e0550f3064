/** In which subnet a new load balancer lies of which neither the Service nor the cloud config says where. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { BackEnd } from '@outrigger/cloud-provider';
import { annotated } from './desired/tree-inputs.suite.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { Rig, serviceNamed } from './rig.suite.ts';

/** A server on another network of the project. */
function addElsewhere({ cloud, seeded }: Rig, name: string): { readonly node: BackEnd; readonly subnetId: string } {
  const { networks, ports } = cloud.networking;
  const { id: project_id } = seeded.project;
  const network = networks.addNetwork({ name, project_id });
  const { id: subnetId } = networks.addSubnet(network, { name, cidr: '10.66.0.0/24' });
  const server = cloud.compute.addServer({ projectId: project_id, userId: seeded.user.id, name });
  const port = ports.add({ network_id: network.id, project_id, device_id: server.id, device_owner: 'compute:nova' });
  const address = port.fixed_ips[0]?.ip_address ?? '';
  const node = { name, uid: `uid-${name}`, providerID: `openstack:///${server.id}`, labels: {}, annotations: {} };
  return { node: { node, addresses: [{ type: 'InternalIP', address }] }, subnetId };
}

const since = (backEnd: BackEnd | undefined, createdAt: number): BackEnd => {
  assert.ok(backEnd);
  return { ...backEnd, node: { ...backEnd.node, createdAt } };
};

async function subnetOf(rig: Rig, name: string): Promise<string | null | undefined> {
  const web = serviceNamed(name, { annotations: annotated({ internal: 'true' }) });
  assert.equal((await rig.bring(web)).refused, undefined);
  const part = (await rig.look(web)).find(({ kind }) => kind === 'load-balancer');
  return part && loadBalancerIn(part).vipSubnetId;
}

test('a new load balancer lies where most nodes are, whatever one of them is called and however old it is', async () => {
  const rig = await Rig.open();
  const [one, two] = rig.backEnds;
  const { node: odd } = addElsewhere(rig, 'aaa');
  for (const createdAt of [1, 3]) {
    rig.backEnds = [since(odd, createdAt), since(one, 2), since(two, 2)];
    assert.equal(await subnetOf(rig, `web-${createdAt}`), rig.seeded.subnet.id);
  }
});

test('of two subnets with as many nodes it lies in that of the oldest; one whose age is not known is the youngest', async () => {
  const rig = await Rig.open();
  const [one] = rig.backEnds;
  const { node: odd, subnetId } = addElsewhere(rig, 'aaa');
  assert.ok(one);
  const pairs = [
    [since(odd, 2), since(one, 1), rig.seeded.subnet.id],
    [since(odd, 1), since(one, 2), subnetId],
    [odd, since(one, 2), rig.seeded.subnet.id],
    [odd, one, subnetId],
  ] as const;
  for (const [i, [first, second, wanted]] of pairs.entries()) {
    for (const [j, backEnds] of [
      [first, second],
      [second, first],
    ].entries()) {
      rig.backEnds = backEnds;
      assert.equal(await subnetOf(rig, `web-${i}-${j}`), wanted);
    }
  }
});

test('nodes of which no port is known have no say, and do not keep the others from one', async () => {
  const rig = await Rig.open();
  const lost = [1, 2, 3].map((at): BackEnd => {
    const providerID = `openstack:///00000000-0000-4000-8000-00000000000${at}`;
    const node = { name: `aaa-${at}`, uid: `${at}`, providerID, labels: {}, annotations: {}, createdAt: at };
    return { node, addresses: [{ type: 'InternalIP', address: `10.99.0.${at}` }] };
  });
  rig.backEnds = [...lost, ...rig.backEnds];
  assert.equal(await subnetOf(rig, 'web'), rig.seeded.subnet.id);
});
