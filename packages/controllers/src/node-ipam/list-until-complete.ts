/** All nodes as the server has them, however long that takes: books that lack one would give its range away. */
import type { Clock, Logger, Node, ResourceClient } from '@outrigger/kube';

export interface ListUntilCompleteOptions {
  readonly nodes: Pick<ResourceClient<Node>, 'pages'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Calls `take` with each node; with some of them again where a list broke off. Rejects when the signal aborts. */
export async function listUntilComplete(
  { nodes, clock, logger, signal }: ListUntilCompleteOptions,
  take: (node: Node) => void,
): Promise<void> {
  for (let delayMs = 1_000; ; delayMs = Math.min(60_000, delayMs * 2)) {
    try {
      for await (const { items } of nodes.pages({ signal })) for (const node of items) take(node);
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error('The nodes could not be listed; no pod CIDR is allocated until they are', { error });
      await clock.sleep(delayMs, signal);
    }
  }
}
