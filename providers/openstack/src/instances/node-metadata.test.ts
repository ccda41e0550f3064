import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance } from '@outrigger/cloud-provider';
import { nodeOf, openFakeCluster, type FakeCluster } from './fake-cluster.suite.ts';

async function readOne({ opened }: FakeCluster, id: string): Promise<Instance> {
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
  const answer = await opened.capabilities.instances?.read(nodeOf('node', id), 'metadata', call);
  assert.ok(answer?.result.kind === 'found', JSON.stringify(answer));
  return answer.result.instance;
}

test('a node with both families, a floating IP and a port that is down', async () => {
  await using cluster = await openFakeCluster({ networking: 'address-sort-order = 10.0.0.0/8, fd20::/64' });
  const { cloud, seeded } = cluster;
  const { project, publicNetwork } = seeded;
  const { server, port } = seeded.addNode({
    name: 'node',
    flavor: { id: 'f-1', name: 'c4.large', vcpus: 4, ram: 1, disk: 1 },
    metadata: { hostname: 'node.example' },
  });
  const { floating_ip_address: floating } = cloud.networking.floatingIps.add({
    floating_network_id: publicNetwork.id,
    project_id: project.id,
    port_id: port.id,
  });
  const other = cloud.networking.networks.addNetwork({ name: 'a-storage', project_id: project.id });
  cloud.networking.networks.addSubnet(other, { name: 'storage', cidr: '192.168.7.0/24' });
  cloud.networking.ports.add({ network_id: other.id, project_id: project.id, device_id: server.id, status: 'DOWN' });
  const { addresses, ...rest } = await readOne(cluster, server.id);
  assert.deepEqual(rest, {
    providerID: `openstack:///${server.id}`,
    state: 'running',
    name: server.name,
    type: 'c4.large',
    zone: 'az-1',
    region: cloud.region,
  });
  const fixed = port.fixed_ips.map(({ ip_address: address }) => address);
  assert.deepEqual(
    addresses?.map(({ type, address }) => `${type} ${address}`),
    [
      ...fixed.filter((address) => !address.includes(':')).map((address) => `InternalIP ${address}`),
      ...fixed.filter((address) => address.includes(':')).map((address) => `InternalIP ${address}`),
      'Hostname node.example',
      // nova names its networks in their order, DOWN or not.
      'InternalIP 192.168.7.2',
      `ExternalIP ${floating}`,
    ],
  );
});

test('a flavor whose name is no label value is its ID, as nova gives it to old clients', async () => {
  await using cluster = await openFakeCluster();
  const { server } = cluster.seeded.addNode({
    name: 'node',
    flavor: { id: '5c6b1c1e', name: 'large (8 GB)', vcpus: 4, ram: 1, disk: 1 },
  });
  assert.equal((await readOne(cluster, server.id)).type, '5c6b1c1e');
});
