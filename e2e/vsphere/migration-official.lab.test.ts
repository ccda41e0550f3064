/** From cloud-provider-vsphere to Outrigger and back, twice, by leader migration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, type Node } from '@outrigger/kube';
import { buildOfficial } from '../../providers/vsphere/lab/build.ts';
import { LabVcenter } from '../../providers/vsphere/lab/lab.ts';
import { isInitialised } from '../initialised-node.ts';
import { CONTROLLERS, MigratingCluster, REFRESH_MS } from './migrating-cluster.ts';
import { externalNode } from './vsphere-cluster.ts';

const LABELS = '[Labels]\nzone = "k8s-zone"\nregion = "k8s-region"\n';

test('nodes go from cloud-provider-vsphere to Outrigger and back', { timeout: 1_800_000 }, async (t) => {
  const cluster = await MigratingCluster.start(t, { config: (vcenter) => LabVcenter.config([vcenter], LABELS) });
  if (!cluster) return;
  const official = await cluster.other(
    { user: 'official', register: externalNode, bearsGoneMachines: true },
    await buildOfficial(),
    [
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      `--controllers=${CONTROLLERS.join(',')}`,
      `--node-status-update-frequency=${REFRESH_MS}ms`,
      '--node-monitor-period=1s',
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
      '--v=1',
    ],
  );
  const outrigger = await cluster.outrigger(t, externalNode);

  const odd = (await cluster.vcenter.machines()).at(-1) ?? assert.fail('no machines');
  const nics = [{ network: 'nodes', addresses: [{ address: odd.address, prefixLength: 16 }] }];
  await cluster.vcenter.setGuest(odd.reference, { hostName: odd.name.toUpperCase(), ipAddress: odd.address, nics });
  const oddNode = async (): Promise<Node> => (await cluster.node(odd.name)) ?? assert.fail(`no node ${odd.name}`);
  await official.start();
  await cluster.client.of(resources.nodes).create(externalNode(odd));
  const kept = await cluster.registerKept(official);
  await cluster.works(official);
  await cluster.until('the official one has initialised all', async () => (await cluster.looks()).size === kept.length);

  assert.ok(!isInitialised(await oddNode()), 'a guest with capital letters in its host name');

  const tell = (what: string, ms: number): void => t.diagnostic(`${what}: at work after ${(ms / 1_000).toFixed(1)} s`);
  // It does not end on SIGTERM.
  tell('official → Outrigger', await cluster.handOver(official, outrigger, 'SIGKILL', { reference: true }));
  assert.ok(isInitialised(await oddNode()), 'a guest with capital letters in its host name');
  const oddAddresses = (await oddNode()).status?.addresses?.map(({ address, type }) => `${type} ${address}`);
  t.diagnostic(`addresses of a guest with capital letters: ${oddAddresses?.join(', ')}`);
  tell('Outrigger → official', await cluster.handOver(outrigger, official, 'SIGTERM'));
  tell('official → Outrigger, again', await cluster.handOver(official, outrigger, 'SIGKILL'));
  tell('Outrigger, killed → official', await cluster.handOver(outrigger, official, 'SIGKILL'));
  await cluster.check(t);

  // The official one looks by that name in small letters, and has not found it; and leaves what it finds initialised.
  const { spec, status } = await oddNode();
  assert.equal(spec?.providerID, `vsphere://${odd.biosUuid}`);
  const addresses = status?.addresses?.map(({ address, type }) => `${type} ${address}`);
  assert.deepEqual(addresses, oddAddresses);
});
