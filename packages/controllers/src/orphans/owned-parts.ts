/** The provider's list of all parts of this cluster, with a deadline and checked. */
import { CloudError, type CallContext, type LoadBalancerPart, type LoadBalancers } from '@outrigger/cloud-provider';
import { raceAbort } from '@outrigger/cloud-runtime';
import { deadlineSignal, type Clock } from '@outrigger/kube';

const DEADLINE_MS = 120_000;

export interface OwnedPartsOptions {
  readonly provider: Pick<LoadBalancers, 'listOwned'>;
  readonly callContext: (signal: AbortSignal) => CallContext;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Throws when there is no complete answer. */
export async function listOwnedParts(options: OwnedPartsOptions): Promise<readonly LoadBalancerPart[]> {
  const { callContext, clock, provider, signal } = options;
  const deadline = deadlineSignal(clock, DEADLINE_MS, 'listing the parts of load balancers');
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    const parts: unknown = await raceAbort(provider.listOwned(callContext(either)), either);
    if (Array.isArray(parts)) return parts as readonly LoadBalancerPart[];
    throw new CloudError('invalid', 'the provider gave no list of its parts; nothing is concluded from it');
  } catch (error) {
    if (!deadline.signal.aborted || signal.aborted) throw error;
    const text = `the cloud has not listed the parts of load balancers within ${DEADLINE_MS} ms`;
    throw new CloudError('timeout', text, { cause: error });
  } finally {
    deadline.cancel();
  }
}
