/** Asks the cloud at the start about the nodes that may be members, before any load balancer is changed. */
import { withDeadline } from '@outrigger/kube';
import { refOfNode } from '../node-ref.ts';
import { isBackEnd, type BackEndProvider } from './back-ends.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';

/** Load balancers wait so long at the start for what the cloud says of nodes. */
const CONFIRM_MS = 30_000;

/**
 * What a kubelet has written while no program looked is no member for that. Where the cloud does not say, nothing is known to be wrong.
 * Rejects when `signal` aborts.
 */
export async function confirmAddresses(
  deps: Pick<ServiceControllerDependencies, 'clock' | 'confirmAddress' | 'logger' | 'nodes'>,
  provider: BackEndProvider,
  signal: AbortSignal,
): Promise<void> {
  const { clock, confirmAddress: confirm, logger, nodes } = deps;
  const asked = [...nodes.values()].filter((node) => isBackEnd(node, provider)).map(refOfNode);
  if (!confirm || asked.length === 0) return;
  const what = `asking about the addresses of ${asked.length} nodes`;
  try {
    await withDeadline({ clock, timeoutMs: CONFIRM_MS, what, signal }, async (either) => {
      // One that cannot be asked about does not keep the answers of the others from being waited for.
      const answers = await Promise.allSettled(asked.map((node) => confirm(node, either)));
      for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
    });
  } catch (error) {
    signal.throwIfAborted();
    logger.warn('Until the cloud confirms them, addresses of nodes count as they are', { error });
  }
}
