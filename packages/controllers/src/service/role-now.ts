/** What a Service is to this provider, with what this process knows of it. Pure. */
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { versionOf } from '../written-versions.ts';
import { isOfOurClass, roleOf, type Role } from './role.ts';
import type { ServiceState } from './service-state.ts';
import type { Surroundings } from './step-types.ts';

/**
 * Says nobody as its owner, and has parts that were seen to be its own: its record was taken off, and not by us. From an object that is older
 * than one with the record nothing was taken: the watch is behind, or the API server was set back.
 */
export function isDisowned(state: ServiceState | undefined, { metadata = {} }: Service): boolean {
  if (!state || state.isLetGo || state.uid !== metadata.uid) return false;
  const [version, recorded] = [versionOf(metadata.resourceVersion), versionOf(state.recordedIn)];
  if (version !== undefined && recorded !== undefined && version < recorded) return false;
  const { isProved, parts } = state.knowledge;
  return isProved && parts.words.length > 0 && metadata.annotations?.[loadBalancerOwnerAnnotation] === undefined;
}

/** Who takes the record off hands nothing over: what was made is cleaned up. One of a class of another is that one's. */
export function roleNow(state: ServiceState | undefined, { rules: { options }, service }: Surroundings): Role {
  const role = roleOf(service, options);
  const isOfOthers = service.spec?.type === 'LoadBalancer' && !isOfOurClass(service, options);
  if (role !== 'leave' || isOfOthers || !isDisowned(state, service)) return role;
  // The API server takes no new finalizer for what is being deleted.
  return service.metadata?.deletionTimestamp === undefined ? 'unclaimed' : 'clean';
}
