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
        'Hand controllers over between this manager and another without two of them at work: those that are listed run under a lock of their own. Needs --leader-elect.',
    },
    leaderMigrationConfig: {
      type: string,
      default: '',
      usage:
        "File with a LeaderMigrationConfiguration: which controllers are handed over, and which manager runs each. Empty: upstream's default, the route, service and cloud node lifecycle controllers, run by whichever manager holds the lock. Read only with --enable-leader-migration.",
    },
  },
};
