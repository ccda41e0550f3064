/** What is known about a node when it is planned what to do about it. */
import type { InstanceAnswer } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';

export interface PlanOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** Whether this process also runs the route controller, which takes `NetworkUnavailable` back. */
  readonly runsRoutes: boolean;
  /** Record a `Synced` Event for each node that is initialised, as upstream does. */
  readonly nodeSyncedEvents: boolean;
  /** Show the maintenance of machines as conditions of their nodes. Default: false. */
  readonly maintenanceConditions?: boolean | undefined;
}

export interface Observed {
  readonly node: Node;
  /** What the cloud said, if it was asked since the last plan for this node. */
  readonly answer?: InstanceAnswer | undefined;
  /** The nodes of the machines that have these provider IDs, this one too. Default: none are known. */
  readonly withProviderID?: ((providerIDs: readonly string[]) => readonly Node[]) | undefined;
  /** Wall clock, milliseconds since the epoch. */
  readonly now: number;
  readonly options: PlanOptions;
}
