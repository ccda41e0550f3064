/** What the Ready condition of a node says, and how to see that it has been something else in between. Pure. */
import type { Node } from '@outrigger/kube';

export interface Readiness {
  readonly ready: boolean;
  /** Another one means that the condition has changed, even when both ends look alike and the change itself was not seen. */
  readonly transition: string;
  /** When the kubelet was last heard, which runs on the machine: a new one speaks for the machine. */
  readonly heartbeat: string;
}

/** No condition is Unknown, as upstream. */
export function readinessOf(node: Node): Readiness {
  const condition = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const { status = 'Unknown' } = condition ?? {};
  // A time that was never set is missing or null, by how the object was read.
  const timeOf = (name: 'lastHeartbeatTime' | 'lastTransitionTime'): string => condition?.[name] ?? '';
  return {
    ready: status === 'True',
    transition: `${status} ${timeOf('lastTransitionTime')}`,
    heartbeat: timeOf('lastHeartbeatTime'),
  };
}

export function isSameReadiness(a: Readiness, b: Readiness): boolean {
  return a.transition === b.transition && a.heartbeat === b.heartbeat;
}
