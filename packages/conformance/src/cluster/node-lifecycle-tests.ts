/** What is promised of Nodes whose machines stop, go, or cannot be asked about. */
import type { Node } from '@outrigger/kube';
import { hasTaint, orGone, type ClusterRig, type JudgedNode } from './cluster-rig.ts';
import type { ClusterMachine } from './cluster-fixture.ts';
import type { ClusterTest } from './cluster-test.ts';

const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';
const SHUTDOWN =
  'https://kubernetes.io/docs/reference/labels-annotations-taints/#node-cloudprovider-kubernetes-io-shutdown';
const NODE_CONTROLLER = 'https://kubernetes.io/docs/concepts/architecture/cloud-controller/#node-controller';
/** "should be deleted on API server if it doesn't exist in the cloud provider": upstream's own, until 1.36. */
const UPSTREAM_SPEC = 'https://github.com/kubernetes/kubernetes/blob/v1.36.0/test/e2e/cloud/nodes.go';

type OwnNode = JudgedNode & { readonly machine: ClusterMachine };

export const nodeLifecycleTests: readonly ClusterTest[] = [
  {
    name: 'node-lifecycle / a node that is not ready is kept while its machine runs',
    feature: 'node-lifecycle',
    source: NODE_CONTROLLER,
    machine: 'own',
    run: async (rig) => {
      const { name } = await rig.newInitialisedNode();
      await rig.setReady(name, 'Unknown');
      await staysThere(rig, name, 'its machine runs', { andUntainted: true });
    },
  },
  {
    name: 'node-lifecycle / a node of another cloud is kept',
    feature: 'node-lifecycle',
    source: NODE_CONTROLLER,
    run: async (rig) => {
      const name = await rig.foreignNode('conformance.outrigger.dev://elsewhere/1');
      await rig.setReady(name, 'Unknown');
      if (rig.fixture) await rig.whileAtWork(rig.initialisedNode());
      await staysThere(rig, name, 'its provider ID is that of another cloud, which was not asked');
    },
  },
  {
    name: 'node-lifecycle / the node of a stopped machine is tainted',
    feature: 'node-lifecycle',
    source: SHUTDOWN,
    machine: 'own',
    hooks: ['stopMachine'],
    run: async (rig) => await untilTainted(rig, (await stopped(rig)).name),
  },
  {
    name: 'node-lifecycle / the node of a stopped machine is kept',
    feature: 'node-lifecycle',
    source: NODE_CONTROLLER,
    machine: 'own',
    hooks: ['stopMachine'],
    run: async (rig) => {
      const { name } = await stopped(rig);
      await staysThere(rig, name, 'its machine is stopped, and not gone');
    },
  },
  {
    name: 'node-lifecycle / the shutdown taint goes when the machine runs again',
    feature: 'node-lifecycle',
    source: SHUTDOWN,
    machine: 'own',
    hooks: ['stopMachine', 'startMachine'],
    run: async (rig) => {
      const { name, machine } = await rig.newInitialisedNode();
      await rig.fixture?.stopMachine?.(machine, rig.patience.signal);
      await rig.setReady(name, 'Unknown');
      await untilTainted(rig, name);
      await rig.fixture?.startMachine?.(machine, rig.patience.signal);
      await rig.setReady(name, 'True');
      const look = (): Promise<Node> => rig.node(name);
      await rig.patience.until(
        `node ${name} has no taint ${SHUTDOWN_TAINT} any more`,
        look,
        (node) => !isTainted(node),
      );
    },
  },
  {
    name: 'node-lifecycle / the node of a machine that is gone is deleted',
    feature: 'node-lifecycle',
    source: UPSTREAM_SPEC,
    machine: 'own',
    disruptive: true,
    run: async (rig) => {
      const { name, machine } = await rig.newInitialisedNode();
      await rig.fixture?.deleteMachine(machine, rig.patience.signal);
      await rig.setReady(name, 'Unknown');
      const look = (): Promise<Node | undefined> => orGone(rig.node(name));
      await rig.patience.until(`node ${name} is deleted, as its machine is gone`, look, (seen) => seen === undefined);
    },
  },
  {
    name: 'node-lifecycle / a node is kept while the cloud answers errors',
    feature: 'node-lifecycle',
    source: NODE_CONTROLLER,
    machine: 'own',
    hooks: ['failCloud'],
    alone: true,
    run: async (rig) => {
      const { name } = await rig.newInitialisedNode();
      await using _failing = await rig.fixture?.failCloud?.(rig.patience.signal);
      await rig.setReady(name, 'Unknown');
      await staysThere(rig, name, 'the cloud could not tell whether its machine is gone');
    },
  },
];

/** Its machine is stopped by the first test that asks. */
function stopped(rig: ClusterRig): Promise<OwnNode> {
  return rig.once('stopped node', async () => {
    const judged = await rig.newInitialisedNode();
    await rig.fixture?.stopMachine?.(judged.machine, rig.patience.signal);
    await rig.setReady(judged.name, 'Unknown');
    return judged;
  });
}

async function untilTainted(rig: ClusterRig, name: string): Promise<void> {
  const what = `node ${name} has the taint ${SHUTDOWN_TAINT} with effect NoSchedule`;
  await rig.patience.until(what, () => rig.node(name), isTainted);
}

function isTainted(node: Node): boolean {
  return (
    hasTaint(node, SHUTDOWN_TAINT) &&
    (node.spec?.taints ?? []).some(({ key, effect }) => key === SHUTDOWN_TAINT && effect === 'NoSchedule')
  );
}

async function staysThere(rig: ClusterRig, name: string, why: string, { andUntainted = false } = {}): Promise<void> {
  await rig.patience.stays(async () => {
    const node = await orGone(rig.node(name));
    if (node === undefined) return `node ${name} was deleted, although ${why}`;
    if (node.metadata?.deletionTimestamp !== undefined) return `node ${name} is being deleted, although ${why}`;
    return andUntainted && isTainted(node)
      ? `node ${name} has the taint ${SHUTDOWN_TAINT}, although ${why}`
      : undefined;
  });
}
