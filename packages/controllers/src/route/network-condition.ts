/** `NetworkUnavailable`: whether pods may be scheduled to a node as far as its routes go. Reasons are upstream's. */
import type { Node, NodeCondition } from '@outrigger/kube';

/** Whether the node says so already. */
export function hasRouteCondition(node: Node, created: boolean): boolean {
  const { status, reason } = routeCondition(created, 0);
  return (node.status?.conditions ?? []).some(
    (condition) =>
      condition.type === 'NetworkUnavailable' && condition.status === status && condition.reason === reason,
  );
}

/** `now`: wall clock, milliseconds since the epoch. */
export function routeCondition(created: boolean, now: number): NodeCondition {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    type: 'NetworkUnavailable',
    status: created ? 'False' : 'True',
    reason: created ? 'RouteCreated' : 'NoRouteCreated',
    message: created ? 'RouteController created a route' : 'RouteController failed to create a route',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
}
