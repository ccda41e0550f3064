/** What a person is told about a route that could not be made. */
import { isCloudError, type Route } from '@outrigger/cloud-provider';
import type { EventNote } from '@outrigger/kube';
import type { CreateRoute } from './planned-route.ts';

/** Failures that usually pass by themselves are told from this attempt on. */
const PATIENT = 3;

/** `undefined`: not worth a person's time yet. */
export function failureNote({ node, destination }: CreateRoute, error: Error, attempts: number): EventNote | undefined {
  const passing = (['throttled', 'unavailable', 'timeout', 'retry-after'] as const).some((code) =>
    isCloudError(error, code),
  );
  if (isCloudError(error, 'retry-after') || (passing && attempts < PATIENT)) return undefined;
  // The message of any other error may hold what no Event should: it goes to the log, which redacts.
  const why = isCloudError(error) ? `${error.message} (${error.code})` : 'the log has the error';
  return noRouteNote(`Could not create the route ${destination} to node ${node.metadata?.name ?? ''}: ${why}`);
}

/** What of the record only a person can mend. `undefined`: it may pass by itself. `consequence`: a clause without its full stop. */
export function recordFailureNote(error: unknown, consequence: string): EventNote | undefined {
  if (!isCloudError(error, 'forbidden') && !isCloudError(error, 'not-owned')) return undefined;
  const message = `${consequence}: ${error.message} (${error.code}).`;
  return { type: 'Warning', reason: 'RouteRecordUnusable', message };
}

/** Named in one Event; how many there are is said besides. */
const MOST_NAMED = 3;

/** About a node that is never initialised. */
export function keptNote(routes: readonly Route[]): EventNote {
  const named = routes.map(({ destination }) => destination).toSorted();
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : '';
  const message = `This node has no provider ID, no address and no pod CIDR: routes that belong to no other node (${named.slice(0, MOST_NAMED).join(', ')}${more}) may be its own, and are kept. Delete the Node if its machine is gone.`;
  return { type: 'Warning', reason: 'RouteRemovalHeld', message };
}

/** Upstream's reason. `what`: without its full stop. */
export function noRouteNote(what: string): EventNote {
  const message = `${what}. It will be retried; check the routes, the quota and the credentials in the cloud.`;
  return { type: 'Warning', reason: 'FailedToCreateRoute', message };
}
