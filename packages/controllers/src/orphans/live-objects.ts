/** What the API server itself says is there: nothing is called an orphan because of a store that is behind. */
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import { resources, type Client, type Service } from '@outrigger/kube';
import { listLiveNodes } from '../route/live-nodes.ts';
import type { LiveObjects } from './plan.ts';

/** Its UID is the identity of the cluster. */
export const CLUSTER_NAMESPACE = 'kube-system';

export interface ToProve {
  /** The UID of kube-system in the cluster that all of it belongs to. */
  readonly clusterId: string;
  readonly parts: readonly LoadBalancerPart[];
  /** Whether a Service that is there does not have them any more. */
  readonly isLeftBehind: (service: Service) => boolean;
  /** Whether the nodes matter by more than their UIDs. */
  readonly routes: boolean;
}

/**
 * Reads what the proof needs, each list complete. Throws when one cannot be read to the end, or cannot be right: when the API
 * server that answers is, by now, that of another cluster (a kubeconfig, a load balancer or a name in DNS was changed), to
 * which all of this one's Services are unknown.
 */
export async function readLiveObjects(
  client: Pick<Client, 'of'>,
  toProve: ToProve,
  signal: AbortSignal,
): Promise<LiveObjects> {
  const live = await listLiveObjects(client, toProve, signal);
  if (toProve.parts.length === 0 && !toProve.routes) return live;
  // Afterwards: whoever answers now may have answered before, and nobody else is asked before something is removed.
  const { metadata } = await client
    .of(resources.namespaces)
    .get({ name: CLUSTER_NAMESPACE }, { signal, answer: 'metadata' });
  if (metadata.uid === toProve.clusterId) return live;
  const text = `the API server is that of another cluster: ${CLUSTER_NAMESPACE} has the UID ${metadata.uid}, and this is cluster ${toProve.clusterId}; correct where the kubeconfig leads to, or start the program again`;
  throw new Error(text);
}

async function listLiveObjects(
  client: Pick<Client, 'of'>,
  { isLeftBehind, parts, routes }: ToProve,
  signal: AbortSignal,
): Promise<LiveObjects> {
  const uids = new Set<string>();
  const left = new Set<string>();
  const owners = new Set(parts.map(({ owner }) => owner?.uid));
  if (parts.length > 0) {
    for await (const { items } of client.of(resources.services).pages({ signal, trimmed: true })) {
      for (const service of items) {
        const { uid } = service.metadata ?? {};
        if (!uid) continue;
        uids.add(uid);
        if (owners.has(uid) && isLeftBehind(service)) left.add(uid);
      }
    }
    // The API server keeps a Service of its own: a list without any is not what the cluster has.
    if (uids.size === 0) throw new Error('the API server listed no Service at all, not even its own');
  }
  const strays = parts.some(({ owner }) => owner !== undefined && !uids.has(owner.uid));
  if (!strays && !routes) return { uids, left, nodes: [] };
  const nodes = await listLiveNodes(client.of(resources.nodes), signal);
  for (const { metadata } of nodes) if (metadata?.uid) uids.add(metadata.uid);
  return { uids, left, nodes };
}
