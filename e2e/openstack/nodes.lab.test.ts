/** Nodes of servers that nova really has: initialised, shut down, started, gone; and a keystone that is stopped amid it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';
import type { Port, Server } from './lab-machines.ts';
import { differenceOf, listProject } from './lab-listing.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { voidTokens } from './void-tokens.ts';

const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

function hasTaint(node: Node | undefined, key: string): boolean {
  return node?.spec?.taints?.some((taint) => taint.key === key) ?? false;
}

function addressesOf(node: Node | undefined): readonly string[] {
  return (node?.status?.addresses ?? []).map(({ address, type }) => `${type} ${address}`);
}

test('nodes on real servers', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab, machines } = cluster;
  const before = await listProject(lab.user);
  const isInitialised = (name: string) => async (): Promise<boolean> => {
    const node = await cluster.node(name);
    return node !== undefined && !hasTaint(node, UNINITIALIZED_TAINT);
  };

  await t.test('two servers become two initialised nodes, as nova and neutron describe them', async () => {
    const servers = await cluster.join('lab-node-1', 'lab-node-2');
    await Promise.all(
      servers.map(async (server) => {
        await cluster.until(`${server.name} is initialised`, isInitialised(server.name));
        isDescribed(await cluster.node(server.name), server, await machines.portOf(server.id));
      }),
    );
  });

  await t.test('a server that is shut down taints its node, and starting it takes the taint away', async () => {
    const [server] = await cluster.join('lab-node-3');
    assert.ok(server);
    await cluster.until('it is initialised', isInitialised('lab-node-3'));
    await machines.setStatus(server.id, 'SHUTOFF');
    cluster.silence('lab-node-3');
    await cluster.until('it has the taint', async () => hasTaint(await cluster.node('lab-node-3'), SHUTDOWN_TAINT));
    await machines.setStatus(server.id, 'ACTIVE');
    cluster.speak('lab-node-3');
    await cluster.until('the taint is gone', async () => !hasTaint(await cluster.node('lab-node-3'), SHUTDOWN_TAINT));
  });

  await t.test(
    'while keystone is away nothing is deleted; a node whose server is gone goes when it is back',
    async () => {
      const server = await machines.get((await cluster.node('lab-node-1'))?.spec?.providerID?.split('/').at(-1) ?? '');
      assert.ok(server);
      await machines.delete(server.id);
      await lab.stop('keystone');
      try {
        // Silent for a reason that the cloud could tell, and it cannot be asked: both stay.
        cluster.silence('lab-node-1');
        cluster.silence('lab-node-2');
        await cluster.until('both are NotReady', async () =>
          (await Promise.all(['lab-node-1', 'lab-node-2'].map((name) => cluster.node(name)))).every(
            (node) => node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown',
          ),
        );
      } finally {
        await lab.start('keystone');
      }
      await cluster.until(
        'the node without a server is gone',
        async () => (await cluster.node('lab-node-1')) === undefined,
      );
      assert.ok(await cluster.node('lab-node-2'), 'the other one, which is silent too, has its server still');
      cluster.speak('lab-node-2');
    },
  );

  await t.test(
    'when all tokens are void the program signs in again, and a node that joins is initialised',
    async () => {
      await voidTokens(lab);
      await cluster.join('lab-node-4');
      await cluster.until('it is initialised', isInitialised('lab-node-4'));
    },
  );

  await t.test('what was made is what the test made', async () => {
    await machines[Symbol.asyncDispose]();
    assert.deepEqual(differenceOf(before, await listProject(lab.user)), []);
  });
});

function isDescribed(node: Node | undefined, server: Server, port: Port): void {
  const labels = node?.metadata?.labels ?? {};
  assert.equal(node?.spec?.providerID, `openstack:///${server.id}`);
  assert.equal(labels['node.kubernetes.io/instance-type'], 'm1.small');
  assert.equal(labels['topology.kubernetes.io/zone'], server['OS-EXT-AZ:availability_zone']);
  assert.equal(labels['topology.kubernetes.io/region'], 'RegionOne');
  const expected = [`Hostname ${server.name}`, ...port.fixed_ips.map(({ ip_address }) => `InternalIP ${ip_address}`)];
  assert.deepEqual(addressesOf(node).toSorted(), expected.toSorted());
}
