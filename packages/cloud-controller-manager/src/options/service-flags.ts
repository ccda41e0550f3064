/** The service controller. */
import { integer, type FlagGroup } from '@outrigger/controller-manager';

export interface ServiceOptions {
  concurrentServiceSyncs: number;
}

export const serviceFlags: FlagGroup<ServiceOptions> = {
  title: 'Service controller',
  flags: {
    concurrentServiceSyncs: {
      type: integer({ min: 1, max: 1_000 }),
      default: 10,
      usage:
        'Load balancers that are changed at once. What there is of them is looked up in batches and not bound by it.',
    },
  },
};
