/** For tests: the memory cloud's provider and its load balancers, without the host around them. */
import {
  CloudError,
  type CallContext,
  type Capabilities,
  type Clock,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { createMemoryProvider, type MemoryCloud } from '@outrigger/provider-memory';

export const CLUSTER = 'cluster-1';

export function callContext(signal: AbortSignal, priority: CallContext['priority']): CallContext {
  return { signal, priority, logger: silentLogger, call: (_operation, send) => send(signal) };
}

export function openMemoryProvider(
  cloud: MemoryCloud,
  clock: Clock,
  { clusterId = CLUSTER, name = 'memory' }: { readonly clusterId?: string; readonly name?: string } = {},
): Promise<Capabilities> {
  return createMemoryProvider({ cloud, name }).open({
    cluster: { id: clusterId, name: 'test' },
    clock,
    logger: silentLogger,
    config: undefined,
    callContext: () => callContext(new AbortController().signal, 'background'),
    capabilitiesChanged: () => {},
    redact: () => {},
  });
}

export async function openLoadBalancers(
  cloud: MemoryCloud,
  clock: Clock,
  name: string = 'memory',
): Promise<LoadBalancers> {
  const { loadBalancers } = await openMemoryProvider(cloud, clock, { name });
  if (!loadBalancers) throw new CloudError('unsupported', 'the memory cloud has load balancers');
  return loadBalancers;
}
