/** Watches nodes from outside, as a judge: when each changed first, and when each was fully initialised. */
import type { Node, Transport } from '@outrigger/kube';
import { watchNodesInProtobuf } from './protobuf-nodes.ts';

const TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';

/** Initialised is what a user means by it: no taint, a provider ID, a zone, and an address that is not only a name. */
export function isInitialised(node: Node): boolean {
  return (
    !node.spec?.taints?.some((taint) => taint.key === TAINT) &&
    !!node.spec?.providerID &&
    !!node.metadata?.labels?.['topology.kubernetes.io/zone'] &&
    !!node.status?.addresses?.some((address) => address.type === 'InternalIP')
  );
}

export interface Observation {
  /** Monotonic milliseconds. */
  readonly firstWriteAt: number;
  readonly lastDoneAt: number;
  /** When each node was first seen to be done. */
  readonly doneAt: ReadonlyMap<string, number>;
}

/** Waits until `count` nodes are done. Begins where the list at `resourceVersion` ended; throws when the signal aborts first. */
export async function observeNodes(
  transport: Transport,
  count: number,
  resourceVersion: string,
  signal: AbortSignal,
  isDone: (node: Node) => boolean = isInitialised,
): Promise<Observation> {
  const doneAt = new Map<string, number>();
  let firstWriteAt = Number.NaN;
  let from = resourceVersion;
  while (doneAt.size < count) {
    signal.throwIfAborted();
    for await (const event of watchNodesInProtobuf(transport, from, signal)) {
      from = event.object.metadata?.resourceVersion ?? from;
      if (event.type !== 'MODIFIED') continue;
      const now = performance.now();
      if (Number.isNaN(firstWriteAt)) firstWriteAt = now;
      const name = event.object.metadata?.name ?? '';
      if (!doneAt.has(name) && isDone(event.object)) doneAt.set(name, now);
      if (doneAt.size >= count) break;
    }
  }
  return { firstWriteAt, lastDoneAt: Math.max(...doneAt.values()), doneAt };
}

/** The value below which `fraction` of the values lie. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Number.NaN;
}
