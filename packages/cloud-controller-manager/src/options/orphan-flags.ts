/** The orphan controller. */
import { duration, float, integer, oneOf, type FlagGroup } from '@outrigger/controller-manager';

export interface OrphanOptions {
  orphanPolicy: 'report' | 'delete';
  orphanCheckPeriod: number;
  orphanGracePeriod: number;
  orphanMaxDeletions: number;
  orphanMaxFraction: number;
}

export const orphanFlags: FlagGroup<OrphanOptions> = {
  title: 'Orphan controller',
  flags: {
    orphanPolicy: {
      type: oneOf(['report', 'delete']),
      default: 'report',
      usage:
        'What to do with load balancers and routes that carry the identity of this cluster and whose Service or node does not exist any more. report: they are reported in a metric, the log and Events. delete: they are also deleted.',
    },
    orphanCheckPeriod: {
      type: duration({ minMs: 1_000 }),
      default: 600_000,
      usage:
        'Time between two searches for orphans, with 10% jitter; the first one runs after a tenth of it. Only what two searches find is an orphan.',
    },
    orphanGracePeriod: {
      type: duration({ minMs: 0 }),
      default: 86_400_000,
      usage: 'With --orphan-policy=delete: nothing is deleted until this program has been the leader for this long.',
    },
    orphanMaxDeletions: {
      type: integer({ min: 1, max: 1_000 }),
      default: 10,
      usage: 'Maximum number of load balancers and routes, together, that one search deletes.',
    },
    orphanMaxFraction: {
      type: float({ min: 0, max: 1 }),
      default: 0.3,
      usage:
        'Maximum fraction of the load balancers, and of the routes, of this cluster that may be orphans. Above it none of them is deleted, and Events say so; one may always be deleted, but no route while there is no node. 1 means no limit.',
    },
  },
};
