/** From the provider inside of Kubernetes 1.26 to the program and back, twice, by leader migration, on the fake and a real control plane. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, NodeAddress } from '@outrigger/kube';
import { controlPlaneOrSkip, UNINITIALIZED_TAINT } from '@outrigger/testing';
import type { FakeLabCloud } from '../../providers/aws/lab/fake-cloud.suite.ts';
import { IN_TREE_SERVICES } from '../../providers/aws/lab/official.ts';
import { describeInstance } from '../../providers/aws/lab/scenario-cloud.ts';
import { LAB_ENV, LAB_REGION, type SeededInstance } from '../../providers/aws/lab/seed-account.ts';
import { builtOrSkip } from '../built-or-skip.ts';
import { buildInTree } from '../in-tree.ts';
import { setEnv } from '../set-env.ts';
import { followsNode, followsPort } from './follows.ts';
import { externalNode, Migration, type Contender } from './migration.ts';
import { thereAndBack } from './there-and-back.ts';

/** As kube-controller-manager calls them until 1.27. */
const IN_TREE_CONTROLLERS = ['cloud-node-lifecycle', 'service', 'route'];
/** There the kubelets do that work. */
const CONTROLLERS = [...IN_TREE_CONTROLLERS, 'cloud-node'];

/** With `--cloud-provider=aws` the kubelet asks its machine itself, and registers a node that is complete. */
async function inTreeNode(cloud: FakeLabCloud, instance: SeededInstance): Promise<Node> {
  const { id, name, zone } = instance;
  const {
    InstanceType: type,
    PublicDnsName: publicName,
    PublicIpAddress: publicIp,
  } = await describeInstance(cloud, id);
  assert.ok(type);
  const node = await externalNode(cloud, instance);
  const addresses: readonly (readonly [NodeAddress['type'], string | undefined])[] = [
    ['InternalIP', instance.address],
    ['ExternalIP', publicIp],
    ['Hostname', name],
    ['InternalDNS', name],
    ['ExternalDNS', publicName],
  ];
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: {
        ...node.metadata?.labels,
        'beta.kubernetes.io/instance-type': type,
        'node.kubernetes.io/instance-type': type,
        'failure-domain.beta.kubernetes.io/zone': zone,
        'failure-domain.beta.kubernetes.io/region': LAB_REGION,
        'topology.kubernetes.io/zone': zone,
        'topology.kubernetes.io/region': LAB_REGION,
      },
    },
    spec: {
      providerID: `aws:///${zone}/${id}`,
      taints: (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED_TAINT),
    },
    status: {
      ...node.status,
      addresses: addresses.flatMap(([kind, address]) => (address ? [{ type: kind, address }] : [])),
    },
  };
}

test(
  'nodes, routes and load balancers go from the provider inside of Kubernetes to the program and back, twice',
  { timeout: 1_800_000 },
  async (t) => {
    const program = await builtOrSkip(t, 'kube-controller-manager 1.26', () => buildInTree('aws'));
    if (program === undefined) return;
    // The oldest that is supported.
    const controlPlane = await controlPlaneOrSkip(t, { kubernetes: '1.34' });
    if (!controlPlane) return;
    setEnv(t, LAB_ENV);
    const migration = await Migration.start(t, controlPlane, {
      services: IN_TREE_SERVICES,
      controllers: CONTROLLERS,
      register: inTreeNode,
    });
    const inTree = await migration.other('kube-controller-manager', program, [
      `--controllers=${IN_TREE_CONTROLLERS.join(',')}`,
      // Otherwise it sets no routes.
      '--allocate-node-cidrs=true',
      '--node-monitor-period=1s',
      '--v=2',
    ]);
    const outrigger = await migration.outrigger(t, ['--node-deletion-grace-period=1s']);

    let turn = 0;
    /** Another port of Services that the other manager has made, and a machine that comes and goes. */
    const change = async (by: Contender): Promise<void> => {
      turn++;
      // Kubelets change last: while the program leads, both come.
      await followsNode(t, migration, by, turn === 1 ? externalNode : inTreeNode);
      await followsPort(t, migration, by, 8_000 + turn, ['network-0', 'classic-0']);
    };
    const left = await thereAndBack(t, migration, [inTree, outrigger], change);
    // The provider inside of Kubernetes knows of no groups of Network Load Balancers: neither of the shared one, nor of those of the Services that it deleted.
    const groups = ['k8s-default-network2', 'k8s-default-network6', 'k8s-outrigger'];
    assert.deepEqual(left, { groups, rules: 1 });
  },
);
