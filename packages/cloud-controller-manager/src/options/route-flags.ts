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
        'Time between two lists of all routes of the cloud. Changes of nodes do not wait for it. When it is not set: 10 minutes, of which a tenth is left to chance.',
    },
  },
};
