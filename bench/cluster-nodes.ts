/** Nodes of a scenario: with their machines in the cloud, NotReady, or with a pod CIDR. */
import { isNotFound, resources, type Client, type Node } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { addressOf, inParallel, nodeNames, registerNodes, removeNodes, removeServices } from './fleet.ts';
import { isInitialised } from './node-observer.ts';
import type { Rig } from './rig.ts';

/** Empties cluster and cloud, and gives names. */
export async function freshCluster({ client, cloud }: Rig, nodes: number): Promise<readonly string[]> {
  cloud.setFaults([]);
  await removeNodes(client);
  await removeServices(client);
  for (const { id } of cloud.instances()) cloud.deleteInstance(id);
  for (const { id } of cloud.routes()) cloud.deleteRoute(id);
  for (const { id } of cloud.parts()) cloud.deletePart(id);
  return nodeNames(nodes);
}

/** With machines and kubelets. */
export async function joinNodes(rig: Rig, names: readonly string[]): Promise<void> {
  addMachines(rig, names);
  await registerNodes(rig.client, names);
}

export function addMachines({ cloud }: Rig, names: readonly string[]): void {
  for (const [index, name] of names.entries())
    cloud.createInstance({ name, addresses: [{ type: 'InternalIP', address: addressOf(index) }] });
}

export async function areInitialised({ client }: Rig, count: number): Promise<boolean> {
  return (await listNodes(client)).filter(isInitialised).length >= count;
}

export async function listNodes(client: Client): Promise<readonly Node[]> {
  return (await client.of(resources.nodes).list()).items;
}

/** Without reading them all. */
export async function countNodes(client: Client): Promise<number> {
  const { items, remainingItemCount = 0 } = await client.of(resources.nodes).list({ limit: 1 });
  return items.length + remainingItemCount;
}

/** As the control plane does when a kubelet is silent. A node that a subject has deleted meanwhile is left out. */
export async function setNotReady(client: Client, names: readonly string[]): Promise<void> {
  const at = new Date().toISOString();
  const ready = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: at, lastTransitionTime: at };
  const patch = { type: 'strategic', body: { status: { conditions: [ready] } } } as const;
  await inParallel(names, async (name) => {
    try {
      await client.of(resources.nodes).patch({ name }, patch, { subresource: 'status' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}

/** Each with a /24 of 10.0.0.0/8. */
export async function joinNodesWithPodCidr(rig: Rig, names: readonly string[]): Promise<void> {
  addMachines(rig, names);
  await inParallel([...names.entries()], async ([index, name]) => {
    const node = hollowNode({ name, now: Date.now() });
    const podCIDR = `10.${index >> 8}.${index & 255}.0/24`;
    await rig.client.of(resources.nodes).create({ ...node, spec: { ...node.spec, podCIDR, podCIDRs: [podCIDR] } });
  });
}

/** Default: all. */
export async function makeReady({ client }: Pick<Rig, 'client'>, names?: readonly string[]): Promise<void> {
  const at = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastTransitionTime: at };
  const patch = { type: 'strategic', body: { status: { conditions: [ready] } } } as const;
  const wanted = names ?? (await listNodes(client)).map(({ metadata }) => metadata?.name ?? '');
  await inParallel(wanted, async (name) => {
    await client.of(resources.nodes).patch({ name }, patch, { subresource: 'status' });
  });
}

export function hasTaint(node: Node, key: string): boolean {
  return node.spec?.taints?.some((taint) => taint.key === key) ?? false;
}
