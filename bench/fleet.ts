/** Nodes for a measurement: made as a kubelet registers them, and removed again. */
import { resources, type Client, type Service } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';

/** Requests in flight when the bench itself makes or removes nodes. */
const IN_FLIGHT = 16;

export function nodeNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `node-${index.toString().padStart(5, '0')}`);
}

export function addressOf(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

/** Registers a node without a node IP of its own, so that its addresses have to come from the cloud. */
export async function registerNode(client: Client, name: string): Promise<void> {
  await client.of(resources.nodes).create(hollowNode({ name, now: Date.now() }));
}

export async function registerNodes(client: Client, names: readonly string[]): Promise<void> {
  await inParallel(names, (name) => registerNode(client, name));
}

export async function removeNodes(client: Client): Promise<void> {
  const nodes = client.of(resources.nodes);
  const { items } = await nodes.list();
  await inParallel(items, async ({ metadata }) => nodes.delete({ name: metadata?.name ?? '' }));
}

/** Of the Services that are measured. */
export const SERVICE_NAMESPACE = 'default';

/** A Service that asks for a load balancer for one port. */
export function loadBalancerService(name: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: SERVICE_NAMESPACE, name },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }] },
  };
}

/** Those with load balancers, whose finalizers nobody takes off any more. */
export async function removeServices(client: Client): Promise<void> {
  const services = client.of(resources.services);
  const { items } = await services.list();
  const balanced = items.filter(({ spec }) => spec?.type === 'LoadBalancer');
  await inParallel(balanced, async ({ metadata: { deletionTimestamp, name = '', namespace = '' } = {} }) => {
    const ref = { namespace, name };
    await services.patch(ref, { type: 'merge', body: { metadata: { finalizers: null } } });
    if (deletionTimestamp === undefined) await services.delete(ref);
  });
}

/** So that no subject waits for the lease of the one before. */
export async function removeLease(client: Client): Promise<void> {
  await client
    .of(resources.leases)
    .deleteCollection({ namespace: 'kube-system', fieldSelector: 'metadata.name=cloud-controller-manager' });
}

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as T);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}
