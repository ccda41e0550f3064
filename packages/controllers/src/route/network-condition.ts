/** `NetworkUnavailable`: whether pods may be scheduled to a node as far as its routes go. Reasons are upstream's. */
import type { Node, NodeCondition } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';

/** Where the condition is in `managedFields`. */
export const conditionPath: readonly string[] = ['f:status', 'f:conditions', 'k:{"type":"NetworkUnavailable"}'];

/** `status` of the condition; `undefined` where the node has none. */
export function routeStatusOf(node: Node): string | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.status;
}

/**
 * Whether the node says so already. Only the status counts, which is all that the scheduler and the taints go by: a network
 * plug-in that keeps its own reason there is not written over (upstream does, each time).
 */
export function hasRouteCondition(node: Node, created: boolean): boolean {
  return routeStatusOf(node) === routeStatus(created);
}

export function routeStatus(created: boolean): 'False' | 'True' {
  return created ? 'False' : 'True';
}

/** `now`: wall clock, milliseconds since the epoch. */
export function routeCondition(created: boolean, now: number): NodeCondition {
  const time = apiTime(now);
  return {
    type: 'NetworkUnavailable',
    status: routeStatus(created),
    reason: created ? 'RouteCreated' : 'NoRouteCreated',
    message: created ? 'RouteController created a route' : 'RouteController failed to create a route',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
}
