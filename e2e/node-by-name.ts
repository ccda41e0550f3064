/** One node of a cluster under test. */
import { isNotFound, resources, systemClock, type Client, type Node } from '@outrigger/kube';

/** `undefined` when there is none. */
export async function nodeByName(client: Client, name: string): Promise<Node | undefined> {
  try {
    return await client.of(resources.nodes).get({ name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** As its kubelet says it, or the control plane of one that is silent. */
export async function setReady(client: Client, name: string, status: 'True' | 'Unknown'): Promise<void> {
  const at = new Date(systemClock.now()).toISOString();
  const ready = { type: 'Ready', status, reason: 'ByTheTest', message: at, lastTransitionTime: at };
  const patch = { type: 'strategic', body: { status: { conditions: [ready] } } } as const;
  await client.of(resources.nodes).patch({ name }, patch, { subresource: 'status' });
}
