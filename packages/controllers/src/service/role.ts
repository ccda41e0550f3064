/** What a Service is to this provider. Pure. */
import { loadBalancerOwnerIn } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { cleanupFinalizer } from './well-known-names.ts';

export interface RoleOptions {
  /** Recorded on each Service that has, or may have, parts. */
  readonly providerName: string;
  /** Values of `spec.loadBalancerClass` that the provider serves. */
  readonly classes: readonly string[];
  /** Whether it serves the Services without a class too. */
  readonly isDefault: boolean;
}

/**
 * - `serve`: it wants a load balancer of ours.
 * - `clean`: it wants none (any more), and may have parts of ours.
 * - `unclaimed`: as `clean`, but nobody is recorded as the owner: only parts that are seen make it ours.
 * - `leave`: none of our business.
 */
export type Role = 'serve' | 'clean' | 'unclaimed' | 'leave';

/** The provider that is recorded on a Service as the one that has its load balancer. */
export function recordedOwner({ metadata }: Service): string | undefined {
  return loadBalancerOwnerIn(metadata?.annotations);
}

export function roleOf(service: Service, options: RoleOptions): Role {
  const owner = recordedOwner(service);
  if (owner !== undefined && owner !== options.providerName) return 'leave';
  const ours = isOfOurClass(service, options);
  const deleting = service.metadata?.deletionTimestamp !== undefined;
  if (ours && !deleting) return 'serve';
  if (owner === options.providerName) return 'clean';
  if (!hasFinalizer(service)) return 'leave';
  // From before the owner was recorded: another program's. Of our class it is ours to end; of no type any more, it may be anybody's.
  if (ours) return 'clean';
  return service.spec?.type === 'LoadBalancer' ? 'leave' : 'unclaimed';
}

export function hasFinalizer(service: Service): boolean {
  return service.metadata?.finalizers?.includes(cleanupFinalizer) ?? false;
}

/** Whether it lives, and this provider neither serves it nor has to clean up after it, as it is: what it has of the provider in the cloud is left behind. */
export function isLeftBehind(service: Service, options: RoleOptions): boolean {
  const mayBeServed = recordedOwner(service) === undefined && isOfOurClass(service, options);
  return roleOf(service, options) === 'leave' && !mayBeServed;
}

/** Whether the finalizer is there and says whose it is: nothing is made in the cloud before. */
export function isRecorded(service: Service, providerName: string): boolean {
  return hasFinalizer(service) && recordedOwner(service) === providerName;
}

export function isOfOurClass({ spec = {} }: Service, { classes, isDefault }: RoleOptions): boolean {
  if (spec.type !== 'LoadBalancer') return false;
  return spec.loadBalancerClass === undefined ? isDefault : classes.includes(spec.loadBalancerClass);
}
