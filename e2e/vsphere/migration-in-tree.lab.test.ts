/** From the provider inside of Kubernetes 1.28 to Outrigger and back, twice, by leader migration. */
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';
import type { LabMachine, LabVcenter } from '../../providers/vsphere/lab/lab.ts';
import { buildInTree } from '../in-tree.ts';
import { MigratingCluster } from './migrating-cluster.ts';
import { externalNode, labZoneOf } from './vsphere-cluster.ts';

const INSTANCE_TYPE_LABELS = ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'];

/** `vsphere.conf` as the provider inside of Kubernetes reads it: one server, by its address, and where volumes go. */
function inTreeConfig({ password, port, user }: LabVcenter): string {
  return `[Global]
user = "${user}"
password = "${password}"
port = "${port}"
insecure-flag = "1"
datacenters = "DC0"
vm-uuid = "00000000-0000-4000-8000-000000000001"

[VirtualCenter "127.0.0.1"]

[Workspace]
server = "127.0.0.1"
datacenter = "DC0"
folder = "vm"
default-datastore = "LocalDS_0"
resourcepool-path = "DC0_C0/Resources"

[Disk]
scsicontrollertype = pvscsi

[Labels]
zone = "k8s-zone"
region = "k8s-region"
`;
}

test('nodes go from the provider inside of Kubernetes to Outrigger and back', { timeout: 1_800_000 }, async (t) => {
  const cluster = await MigratingCluster.start(t, {
    // The oldest that is supported.
    controlPlane: { kubernetes: '1.34' },
    config: inTreeConfig,
  });
  if (!cluster) return;
  const zones = await labZoneOf(cluster.vcenter);

  /** With `--cloud-provider=vsphere` the kubelet asks vCenter itself, and registers a node that is complete; but for a type, which that provider has not. */
  const inTree = (machine: LabMachine): Node => {
    const { address, biosUuid, name } = machine;
    const { zone, region } = zones(machine);
    const node = externalNode(machine);
    return {
      ...node,
      metadata: {
        ...node.metadata,
        labels: {
          ...node.metadata?.labels,
          'topology.kubernetes.io/zone': zone,
          'topology.kubernetes.io/region': region,
          'failure-domain.beta.kubernetes.io/zone': zone,
          'failure-domain.beta.kubernetes.io/region': region,
        },
      },
      spec: {
        providerID: `vsphere://${biosUuid}`,
        taints: (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED_TAINT),
      },
      status: {
        ...node.status,
        addresses: [
          { type: 'ExternalIP', address },
          { type: 'InternalIP', address },
          { type: 'Hostname', address: name },
        ],
      },
    };
  };

  const kubeControllerManager = await cluster.other(
    // One node whose machine was gone before: then it neither taints nor deletes any node.
    { user: 'kube-controller-manager', register: inTree, bearsGoneMachines: false },
    await buildInTree('vsphere'),
    [
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      '--controllers=cloud-node-lifecycle-controller',
      '--node-monitor-period=1s',
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
      '--v=1',
    ],
  );
  const outrigger = await cluster.outrigger(t, externalNode);

  await kubeControllerManager.start();
  await cluster.registerKept(kubeControllerManager);
  await cluster.works(kubeControllerManager);

  const tell = (what: string, ms: number): void => t.diagnostic(`${what}: at work after ${(ms / 1_000).toFixed(1)} s`);
  const first = { reference: true, labels: INSTANCE_TYPE_LABELS };
  tell('in-tree → Outrigger', await cluster.handOver(kubeControllerManager, outrigger, 'SIGTERM', first));
  await cluster.deleteKept();
  tell('Outrigger → in-tree', await cluster.handOver(outrigger, kubeControllerManager, 'SIGTERM'));
  tell('in-tree, killed → Outrigger', await cluster.handOver(kubeControllerManager, outrigger, 'SIGKILL'));
  tell('Outrigger, killed → in-tree', await cluster.handOver(outrigger, kubeControllerManager, 'SIGKILL'));
  await cluster.check(t);
});
