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
        'Take controllers over from another manager without two of them at work. Not part of this version: refused.',
    },
    leaderMigrationConfig: {
      type: string,
      default: '',
      usage: 'File that says which controller moves from where to where. Read only with --enable-leader-migration.',
    },
  },
};
