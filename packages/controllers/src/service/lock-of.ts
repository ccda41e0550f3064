/** Under which lock a Service is worked on. Pure. */
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { isOwnedBy } from '../load-balancer/check-plan.ts';
import { mayUse } from '../load-balancer/tenancy.ts';
import { identityOf } from './load-balancer-service.ts';
import type { SeenLook } from './service-state.ts';
import type { Rules } from './step-types.ts';

/**
 * That of what it may change, as its look shows it: whoever merely names the load balancer of another holds nobody up. Without a look nothing is
 * done in the cloud, and there is nothing to wait for. One that comes after the lock was taken may show another: before it is acted on it is asked
 * for again.
 */
export function lockOf(
  service: Service,
  look: SeenLook | undefined,
  { cloud, options, serviceOf }: Pick<Rules, 'cloud' | 'options' | 'serviceOf'>,
): string {
  const identity = identityOf(service);
  const { uid } = identity;
  if (look?.uid !== uid || look.isSpent || look.observation.kind !== 'parts') return uid;
  const { others = [], parts } = look.observation;
  const owner = { clusterId: options.clusterId, uid };
  const mayChange = (part: LoadBalancerPart): boolean => {
    if (isOwnedBy(part, owner)) return true;
    const thing = others.find(({ id }) => id === part.id);
    return thing ? mayUse(thing, identity, { ...options, serviceOf }) : part.owner === undefined;
  };
  return cloud.lockKey?.(identity, parts.filter(mayChange)) ?? uid;
}
