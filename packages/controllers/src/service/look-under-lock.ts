/** Asks the cloud what there is for a Service while nothing else is done under its lock: by itself, and without a worker meanwhile. */
import { observeOnce } from '../load-balancer/observe-once.ts';
import { identityOf } from './load-balancer-service.ts';
import { timedAnswer } from './observations.ts';
import type { Pass } from './pass-context.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';
import type { ServiceEvent } from './step-types.ts';

/** `undefined`: as many wait as may. */
export async function lookUnderLock(
  { park, service, signal }: Pick<Pass, 'park' | 'service' | 'signal'>,
  { callContext, clock, provider }: Pick<ServiceControllerDependencies, 'callContext' | 'clock' | 'provider'>,
): Promise<Extract<ServiceEvent, { kind: 'seen' }> | undefined> {
  const identity = identityOf(service);
  const startedAt = clock.monotonic();
  const looking = park(() =>
    observeOnce([identity], {
      provider,
      callContext: (either, about, priority) => callContext({ signal: either, priority, about, reads: true }),
      clock,
      signal,
    }),
  );
  const [observation] = (await looking) ?? [];
  signal.throwIfAborted();
  return observation && { kind: 'seen', look: timedAnswer(identity.uid, startedAt, observation) };
}
