/** The node controller. */
import { bool, duration, integer, type FlagGroup } from '@outrigger/controller-manager';

export interface NodeOptions {
  concurrentNodeSyncs: number;
  concurrentNodeStatusUpdates: number;
  nodeStatusUpdateFrequency: number;
  nodeSyncedEvents: boolean;
  nodeMaintenanceConditions: boolean;
}

export const nodeFlags: FlagGroup<NodeOptions> = {
  title: 'Node controller',
  flags: {
    concurrentNodeSyncs: {
      type: integer({ min: 1, max: 1_000 }),
      default: 32,
      usage: 'Number of nodes that are written concurrently. Look-ups in the cloud are batched and not limited by it.',
    },
    concurrentNodeStatusUpdates: {
      type: integer({ min: 0 }),
      default: 0,
      compatibility: true,
      usage: 'Accepted for compatibility: --concurrent-node-syncs limits all writes of nodes.',
    },
    nodeStatusUpdateFrequency: {
      type: duration({ minMs: 1_000 }),
      default: 300_000,
      usage: 'Period at which the addresses of every node are reconciled with the cloud.',
    },
    nodeSyncedEvents: {
      type: bool,
      default: false,
      usage: 'Record a Normal Event for each node that was initialized, as upstream does.',
    },
    nodeMaintenanceConditions: {
      type: bool,
      default: false,
      usage:
        'Set the conditions MaintenancePlanned and MaintenanceInProgress of a node (KEP-5683) by what the cloud says of its machine, where the provider knows. Nothing is tainted or drained.',
    },
  },
};
