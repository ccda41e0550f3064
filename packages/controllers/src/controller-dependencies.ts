/** What every controller is made from; each adds what it watches, whom it asks, and its options. */
import type { Client, Clock, EventRecorder, Logger, Metrics } from '@outrigger/kube';
import type { ControllerJournal } from './journal.ts';

export interface ControllerDependencies {
  readonly client: Pick<Client, 'of'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Default: nothing is remembered, and everything done. */
  readonly journal?: ControllerJournal;
}
