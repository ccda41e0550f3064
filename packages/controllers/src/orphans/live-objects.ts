/** What the API server itself says is there: nothing is called an orphan because of a store that is behind. */
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import { resources, type Client } from '@outrigger/kube';
import { listLiveNodes } from '../route/live-nodes.ts';
import type { LiveObjects } from './plan.ts';

export interface ToProve {
  readonly parts: readonly LoadBalancerPart[];
  /** Whether the nodes matter by more than their UIDs. */
  readonly routes: boolean;
}

/** Reads what the proof needs, each list complete. Throws when one cannot be read to the end, or cannot be right. */
export async function readLiveObjects(
  client: Pick<Client, 'of'>,
  { parts, routes }: ToProve,
  signal: AbortSignal,
): Promise<LiveObjects> {
  const uids = new Set<string>();
  if (parts.length > 0) {
    for await (const { items } of client.of(resources.services).pages({ signal })) {
      for (const { metadata } of items) if (metadata?.uid) uids.add(metadata.uid);
    }
    // The API server keeps a Service of its own: a list without any is not what the cluster has.
    if (uids.size === 0) throw new Error('the API server listed no Service at all, not even its own');
  }
  const strays = parts.some(({ owner }) => owner !== undefined && !uids.has(owner.uid));
  if (!strays && !routes) return { uids, nodes: [] };
  const nodes = await listLiveNodes(client.of(resources.nodes), signal);
  for (const { metadata } of nodes) if (metadata?.uid) uids.add(metadata.uid);
  return { uids, nodes };
}
