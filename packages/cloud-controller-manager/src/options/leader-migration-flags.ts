/** Handing controllers over from one manager to another. */
import { bool, string, type FlagGroup } from '@outrigger/controller-manager';

export interface LeaderMigrationOptions {
  enableLeaderMigration: boolean;
  leaderMigrationConfig: string;
}

export const leaderMigrationFlags: FlagGroup<LeaderMigrationOptions> = {
  title: 'Leader migration',
  flags: {
    enableLeaderMigration: {
      type: bool,
      default: false,
      usage:
        'Migrate controllers between this manager and another so that never two instances of one are active: those that are listed run under a separate lock. Requires --leader-elect.',
    },
    leaderMigrationConfig: {
      type: string,
      default: '',
      usage:
        "Path of a LeaderMigrationConfiguration: which controllers are migrated, and which manager runs each. If empty, upstream's default is used: the route, service and cloud node lifecycle controllers, run by the manager that holds the lock. Used only with --enable-leader-migration.",
    },
  },
};
