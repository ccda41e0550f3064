/** The route controller. */
import { duration, type FlagGroup } from '@outrigger/controller-manager';

export interface RouteOptions {
  routeReconciliationPeriod: number;
}

export const routeFlags: FlagGroup<RouteOptions> = {
  title: 'Route controller',
  flags: {
    routeReconciliationPeriod: {
      type: duration({ minMs: 1_000 }),
      default: 0,
      usage:
        'Time between two lists of all routes of the cloud. Node changes are reconciled at once. If not set: 10 minutes, with 10% jitter.',
    },
  },
};
