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
        'What is done about load balancers and routes that carry the identity of this cluster and have no Service or node any more. report: a metric, the log and Events name them. delete: they are removed as well.',
    },
    orphanCheckPeriod: {
      type: duration({ minMs: 1_000 }),
      default: 600_000,
      usage:
        'Time between two searches for orphans, of which a tenth is left to chance; the first comes after a tenth of it. Only what two of them find is an orphan.',
    },
    orphanGracePeriod: {
      type: duration({ minMs: 0 }),
      default: 86_400_000,
      usage: 'With --orphan-policy=delete: nothing is removed before this program has led for so long.',
    },
    orphanMaxDeletions: {
      type: integer({ min: 1, max: 1_000 }),
      default: 10,
      usage: 'Load balancers and routes, together, that one search removes at most.',
    },
    orphanMaxFraction: {
      type: float({ min: 0, max: 1 }),
      default: 0.3,
      usage:
        'Largest part of the load balancers, and of the routes, of this cluster that may seem to be orphans. Above it none of them is removed, and Events say so; one may always go, but no route while there is no node. 1 is no limit.',
    },
  },
};
