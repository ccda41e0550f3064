/**
 * Services that are recorded for a provider which this program does not run: one was taken from the flags, or a backup of another
 * cluster was restored. Another program may run it, so they are left alone; where none does, nobody but a person can help. Pure.
 */
import { loadBalancerOwnerAnnotation, NAME_LENGTH } from '@outrigger/cloud-provider';
import type { EventNote, Service } from '@outrigger/kube';
import { hasFinalizer, isOfOurClass, recordedOwner, type RoleOptions } from './role.ts';
import { cleanupFinalizer } from './well-known-names.ts';

/** Another program that runs the provider has ended a deletion by then. */
export const FOREIGN_AFTER_MS = 300_000;

export interface ForeignOwnerOptions extends RoleOptions {
  /** Names of all providers of this program, `providerName` among them. */
  readonly providers: readonly string[];
}

/** Whose it is, where a person has to be told by this provider: of a Service that it would serve, or that nobody lets go. */
export function foreignOwnerOf(service: Service, options: ForeignOwnerOptions): string | undefined {
  const owner = recordedOwner(service);
  const { deletionTimestamp } = service.metadata ?? {};
  if (owner === undefined || options.providers.includes(owner)) return undefined;
  const isWaiting =
    deletionTimestamp === undefined
      ? isOfOurClass(service, options)
      : hasFinalizer(service) && (options.isDefault || isOfOurClass(service, options));
  return isWaiting ? owner : undefined;
}

/** When the deletion of a Service began that has the finalizer and nobody recorded; milliseconds since the epoch. */
export function unclaimedSince({ metadata }: Service, { isDefault }: RoleOptions): number | undefined {
  const since = Date.parse(metadata?.deletionTimestamp ?? '');
  return isDefault && !Number.isNaN(since) ? since : undefined;
}

export function unclaimedNote(providerName: string): EventNote {
  return {
    type: 'Warning',
    reason: 'UnclaimedLoadBalancer',
    message: `The Service is being deleted and has the finalizer ${cleanupFinalizer}, but no provider is recorded on it, and ${providerName} has no load balancer for it. If no other program has one, set the annotation ${loadBalancerOwnerAnnotation} to ${providerName}, which then removes the finalizer.`,
  };
}

/** Why a name is none of a provider; nothing of it is quoted. `undefined`: it may be one. */
export function tooLongOwner(owner: string): string | undefined {
  if (owner.length <= NAME_LENGTH) return undefined;
  return `annotation ${loadBalancerOwnerAnnotation} is too long: a provider's name has at most ${NAME_LENGTH} characters`;
}

export function foreignOwnerNote({ metadata }: Service, owner: string, providerName: string): EventNote {
  const then = metadata?.deletionTimestamp === undefined ? 'serves the Service' : 'removes the finalizer';
  const tooLong = tooLongOwner(owner);
  const message = tooLong
    ? `The load balancer is left alone: ${tooLong}. If no other program has written it, set it to ${providerName}, which then ${then}.`
    : `The load balancer is recorded for the provider ${owner}, which this program does not run. It is left alone. If no other program runs ${owner} either, set the annotation ${loadBalancerOwnerAnnotation} to ${providerName}, which then ${then}. Delete by hand what ${owner} has created.`;
  return { type: 'Warning', reason: 'ForeignLoadBalancer', message };
}
