/** What a Service is to this provider, with what this process knows of it. Pure. */
import type { Service } from '@outrigger/kube';
import { versionOf } from '../written-versions.ts';
import { isOfOurClass, recordedOwner, roleOf, type Role } from './role.ts';
import type { ServiceState } from './service-state.ts';
import type { Surroundings } from './step-types.ts';

/** Whether something of it is known by name, or is being asked for: a request that is on its way is known only once it is answered. */
export const mayHaveParts = ({ knowledge: { parts }, work }: ServiceState): boolean =>
  work !== undefined || parts.words.length > 0;

/**
 * Says nobody as its owner, and has, or may have, parts: its record was taken off, and not by us. That is so of one whose parts were seen, and
 * of one that this process has seen with its record. From an object that is older than one with the record nothing was taken: the watch is
 * behind, or the API server was set back.
 */
export function isDisowned(state: ServiceState | undefined, service: Service): boolean {
  const { metadata = {} } = service;
  if (!state || state.isLetGo || state.uid !== metadata.uid || recordedOwner(service) !== undefined) return false;
  const [version, recorded] = [versionOf(metadata.resourceVersion), versionOf(state.recordedIn)];
  if (version !== undefined && recorded !== undefined && version < recorded) return false;
  const { isProved, parts } = state.knowledge;
  const wasOurs = isProved || state.work !== undefined || state.recordedIn !== undefined;
  return wasOurs && (mayHaveParts(state) || parts.unseen.length > 0);
}

/** Who takes the record off hands nothing over: what was made is cleaned up. One of a class of another is that one's. */
export function roleNow(state: ServiceState | undefined, { rules: { options }, service }: Surroundings): Role {
  const role = roleOf(service, options);
  const isOfOthers = service.spec?.type === 'LoadBalancer' && !isOfOurClass(service, options);
  if (role !== 'leave' || isOfOthers || !isDisowned(state, service)) return role;
  // The API server takes no new finalizer for what is being deleted.
  return service.metadata?.deletionTimestamp === undefined ? 'unclaimed' : 'clean';
}
