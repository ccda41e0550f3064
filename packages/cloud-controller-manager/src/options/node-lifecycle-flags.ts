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
      compatibility: true,
      usage:
        'Accepted for compatibility: a node is looked up in the cloud when it stops being Ready, and again after 1s, doubled up to 1m.',
    },
    concurrentNodeLifecycleSyncs: {
      type: integer({ min: 1 }),
      default: 1,
      compatibility: true,
      usage: 'Accepted for compatibility: look-ups are batched, and a slow node does not delay others.',
    },
    nodeDeletionGracePeriod: {
      type: duration({ minMs: 1_000 }),
      default: 30_000,
      usage:
        'Time between the two direct reads that must both confirm that the machine of a node does not exist before the node is deleted.',
    },
    nodeDeletionMaxFraction: {
      type: float({ min: 0, max: 1 }),
      default: 0.3,
      usage:
        'Maximum fraction of the nodes of a zone, and of the cluster, that may be missing or have been deleted within 10 minutes. Above it a node is deleted after 6 minutes of proof, or 30 if no machine is found. One node may always be deleted; those marked by the autoscaler do not count. 1: no limit.',
    },
    unknownNodeDeletionPeriod: {
      type: duration({ minMs: 0 }),
      default: 0,
      usage:
        'For nodes without a provider ID, instead of --node-deletion-grace-period: they are deleted after direct reads by name have confirmed for this long that no machine exists. 0: never.',
    },
  },
};
