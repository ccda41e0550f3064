/** Real kubelets and the program: what one leaves to the other, and what `migrate check` reads of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, NodeCondition } from '@outrigger/kube';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';
import { kubectl } from '../granted-program.ts';
import { NODE_ADDRESSES } from './hollow-kubelets.ts';
import { JudgedCluster } from './judged-cluster.ts';

const NODES = Object.keys(NODE_ADDRESSES);
const PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip';

interface Check {
  readonly state: string;
  readonly text: string;
  readonly objects?: readonly string[];
}

function readyAt({ status }: Node): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime ?? '';
}

/** As the user of the kubeconfig. */
async function kubeletChecks(cluster: JudgedCluster, kubeconfig: string): Promise<readonly Check[]> {
  const args = ['migrate', 'check', '--cloud-provider=memory', '--steps=kubelets', '--output=json'];
  const { steps } = JSON.parse(await cluster.outrigger(kubeconfig, ...args)) as {
    readonly steps: readonly { readonly checks: readonly Check[] }[];
  };
  return steps.flatMap(({ checks }) => checks.map(({ objects = [], state, text }) => ({ state, text, objects })));
}

test('kubelets with --cloud-provider=external, the program, and migrate check', async (t) => {
  await using cluster = await JudgedCluster.start();
  const { controlPlane, kubelets, story } = cluster;

  await t.test('a kubelet registers its node tainted, and with what it knows itself', async () => {
    for (const name of NODES) {
      await cluster.boot(name);
      const { metadata, spec, status } = await cluster.node(name);
      assert.ok(spec?.taints?.some(({ key, effect }) => key === UNINITIALIZED_TAINT && effect === 'NoSchedule'));
      assert.equal(spec?.providerID, undefined);
      assert.equal(metadata?.annotations?.[PROVIDED_NODE_IP], NODE_ADDRESSES[name]);
      assert.deepEqual(status?.addresses, [
        { type: 'InternalIP', address: NODE_ADDRESSES[name] },
        { type: 'Hostname', address: name },
      ]);
    }
  });

  await t.test('the program initialises the node, and the kubelet leaves it so', async () => {
    await cluster.startProgram(undefined, '--node-maintenance-conditions', '--node-status-update-frequency=1s');
    await cluster.isReady(...NODES);
    for (const [index, name] of NODES.entries()) {
      const initialised = await cluster.node(name);
      assert.deepEqual(initialised.status?.addresses, [
        { type: 'InternalIP', address: NODE_ADDRESSES[name] },
        { type: 'ExternalIP', address: `203.0.113.${index + 1}` },
        { type: 'Hostname', address: name },
      ]);
      const { labels = {} } = initialised.metadata ?? {};
      assert.equal(labels['node.kubernetes.io/instance-type'], 'memory.small');
      assert.equal(labels['topology.kubernetes.io/region'], 'region-1');
      assert.match(labels['topology.kubernetes.io/zone'] ?? '', /^zone-/u);
      await story.until(`the kubelet has written the status of ${name} anew`, async () => {
        return readyAt(await cluster.node(name)) > readyAt(initialised);
      });
      const later = await cluster.node(name);
      assert.deepEqual(later.status?.addresses, initialised.status.addresses);
      assert.equal(later.spec?.providerID, initialised.spec?.providerID);
      assert.deepEqual(later.spec?.taints ?? [], []);
      assert.deepEqual(later.metadata?.labels, initialised.metadata?.labels);
    }
  });

  await t.test('what the cloud says of maintenance stays on the node, whatever its kubelet writes', async () => {
    const conditionOf = async (type: string): Promise<NodeCondition | undefined> =>
      (await cluster.node('node-1')).status?.conditions?.find((one) => one.type === type);
    const becomes = (type: string, status: string): Promise<void> =>
      story.until(`${type} is ${status}`, async () => (await conditionOf(type))?.status === status);
    story.cloud.updateInstance('node-1', { maintenance: { state: 'planned', reason: 'new firmware' } });
    await becomes('MaintenancePlanned', 'True');
    const told = await conditionOf('MaintenancePlanned');
    assert.match(told?.message ?? '', /new firmware/u);
    const before = readyAt(await cluster.node('node-1'));
    await story.until('its kubelet has written the status twice', async () => {
      return Date.parse(readyAt(await cluster.node('node-1'))) >= Date.parse(before) + 11_000;
    });
    assert.deepEqual(await conditionOf('MaintenancePlanned'), told);
    story.cloud.updateInstance('node-1', { maintenance: { state: 'in-progress' } });
    await becomes('MaintenanceInProgress', 'True');
    await becomes('MaintenancePlanned', 'False');
    story.cloud.updateInstance('node-1', { maintenance: null });
    await becomes('MaintenanceInProgress', 'False');
    const { spec, status } = await cluster.node('node-1');
    assert.deepEqual(spec?.taints ?? [], []);
    assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  });

  const { path: admin } = controlPlane.kubeconfig;
  await t.test('migrate check reads the flags of all kubelets from themselves', async () => {
    assert.deepEqual(await kubeletChecks(cluster, admin), [
      { state: 'ok', text: '3 of 3 kubelets have --cloud-provider=external', objects: [] },
    ]);
  });

  await t.test('who may list nodes and not ask kubelets is told what they left on their nodes', async () => {
    await kubectl(controlPlane, ['create', 'clusterrole', 'lists', '--verb=list', '--resource=nodes']);
    await kubectl(controlPlane, ['create', 'clusterrolebinding', 'lists', '--clusterrole=lists', '--user=lister']);
    const { path: lister } = await controlPlane.kubeconfigFor({ user: 'lister' });
    await kubelets.stop('node-3');
    await kubectl(controlPlane, ['annotate', 'node', 'node-3', `${PROVIDED_NODE_IP}-`]);
    await story.until('the role counts', async () => (await kubeletChecks(cluster, lister)).length === 2);
    assert.deepEqual(await kubeletChecks(cluster, lister), [
      {
        state: 'unknown',
        text: 'of 1 of 3 kubelets it could not be seen whether they have --cloud-provider=external',
        objects: ['node-3: Forbidden (403)'],
      },
      { state: 'ok', text: '2 of 3 kubelets have --cloud-provider=external', objects: [] },
    ]);
  });

  await t.test(
    'a kubelet without the flag, and one with another provider ID, are found by /flagz and /configz',
    async () => {
      await kubelets.start('node-3', '--cloud-provider=');
      await kubelets.stop('node-2');
      await kubelets.start('node-2', '--provider-id=memory://elsewhere/node-2');
      let checks: readonly Check[] = [];
      await story.until('both kubelets answer', async () => {
        checks = await kubeletChecks(cluster, admin);
        return checks.every(({ state }) => state !== 'unknown');
      });
      assert.deepEqual(
        checks.map(({ state, objects }) => ({ state, objects })),
        [
          { state: 'missing', objects: ['node-3: --cloud-provider='] },
          { state: 'ok', objects: [] },
          { state: 'missing', objects: ['node-2'] },
        ],
      );
      assert.equal(
        (await cluster.node('node-2')).spec?.providerID,
        'memory://region-1/node-2',
        'a node keeps what it has',
      );
    },
  );
});
