/** What the node controller is given. */
import type { InstanceLookups } from '@outrigger/cloud-runtime';
import type { Client, Clock, EventRecorder, Logger, Metrics, Node, Store } from '@outrigger/kube';
import type { ControllerJournal } from '../journal.ts';

export interface NodeControllerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** `--concurrent-node-syncs`: nodes that are being written at a time. Default: 8. */
  readonly concurrentNodeSyncs?: number;
  /** `--node-status-update-frequency`, in milliseconds. Default: 300,000. */
  readonly nodeStatusUpdateFrequencyMs?: number;
  /** The provider's batch size, by which the refresh is spread. Default: 500. */
  readonly batchSize?: number;
  /** `--node-synced-events`: a `Synced` Event for each initialised node, as upstream. Default: false. */
  readonly nodeSyncedEvents?: boolean;
  /** Whether the route controller runs in this process. Default: false. */
  readonly runsRoutes?: boolean;
}

export interface NodeControllerDependencies {
  readonly client: Pick<Client, 'of'>;
  readonly store: Store<Node>;
  readonly lookups: Pick<InstanceLookups, 'lookUp' | 'snapshot' | 'hints'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Default: nothing is remembered, and everything done. */
  readonly journal?: ControllerJournal;
  readonly options: NodeControllerOptions;
}
