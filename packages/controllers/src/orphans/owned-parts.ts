/** The provider's list of all parts of this cluster, with a deadline and checked. */
import { CloudError, type CallContext, type LoadBalancerPart, type LoadBalancers } from '@outrigger/cloud-provider';
import { callInTime } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';

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
  const what = 'listing the parts of load balancers';
  const late = `the cloud has not listed the parts of load balancers within ${DEADLINE_MS} ms`;
  const parts: unknown = await callInTime({ clock, timeoutMs: DEADLINE_MS, what, signal, late }, callContext, (call) =>
    provider.listOwned(call),
  );
  if (Array.isArray(parts)) return parts as readonly LoadBalancerPart[];
  throw new CloudError('invalid', 'the provider returned no list of its parts; nothing is concluded from it');
}
