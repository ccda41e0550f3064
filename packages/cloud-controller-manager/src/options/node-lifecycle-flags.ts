/** The node lifecycle controller. */
import { duration, float, integer, type FlagGroup } from '@outrigger/controller-manager';

export interface NodeLifecycleOptions {
  nodeMonitorPeriod: number;
  concurrentNodeLifecycleSyncs: number;
  nodeDeletionGracePeriod: number;
  nodeDeletionMaxFraction: number;
  unknownNodeDeletionPeriod: number;
}

export const nodeLifecycleFlags: FlagGroup<NodeLifecycleOptions> = {
  title: 'Node lifecycle controller',
  flags: {
    nodeMonitorPeriod: {
      type: duration({ minMs: 0 }),
      default: 5_000,
      usage:
        'Accepted for compatibility: the cloud is asked about a node when it stops being Ready, and again after 1s, doubled up to 1m.',
    },
    concurrentNodeLifecycleSyncs: {
      type: integer({ min: 1 }),
      default: 1,
      usage: 'Accepted for compatibility: look-ups are batched, and one slow node holds up no other.',
    },
    nodeDeletionGracePeriod: {
      type: duration({ minMs: 1_000 }),
      default: 30_000,
      usage:
        'Time between the two direct reads that have to say that the machine of a node does not exist, before the node is deleted.',
    },
    nodeDeletionMaxFraction: {
      type: float({ min: 0, max: 1 }),
      default: 0.3,
      usage:
        'Largest part of the nodes of a zone, and of the cluster, that may seem to be gone, or have been deleted within 10 minutes and not replaced, for each to be deleted after --node-deletion-grace-period. Above it a node needs a proof of 6 minutes, and where no machine is found any more one of 30; Events say so. One node may always be deleted. Nodes that the cluster autoscaler marked do not count. 1 is no limit.',
    },
    unknownNodeDeletionPeriod: {
      type: duration({ minMs: 0 }),
      default: 0,
      usage:
        'For nodes without a provider ID, instead of --node-deletion-grace-period: deleted when the cloud has said for so long, directly, that it has no machine of their name. 0: never.',
    },
  },
};
