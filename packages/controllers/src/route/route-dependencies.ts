/** What the route controller is given. */
import type { CallContext, CallPriority, Cidr, Routes } from '@outrigger/cloud-provider';
import type { Client, Clock, EventRecorder, Logger, Metrics, Node, Store } from '@outrigger/kube';
import type { ControllerJournal } from '../journal.ts';

export interface RouteControllerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** `--cluster-cidr`, by `parseClusterCidrs`: one range, or one of each family. */
  readonly clusterCidrs: readonly Cidr[];
  /** False while there may be others, of which nodes have parts: of a node outside of those above nothing is said. Default: true. */
  readonly knowsAllRanges?: boolean;
  /** `--route-reconciliation-period`, in milliseconds, which is kept to as it is. Default: 600,000, of which a tenth is left to chance. */
  readonly routeReconciliationPeriodMs?: number | undefined;
  /** Conditions that are written at a time. Default: 8. */
  readonly concurrentWrites?: number;
}

export interface RouteControllerDependencies {
  readonly client: Pick<Client, 'of'>;
  readonly store: Store<Node>;
  readonly routes: Routes;
  readonly callContext: (options: {
    readonly signal: AbortSignal;
    readonly priority: CallPriority;
    readonly logger?: Logger;
    readonly about?: readonly string[];
    readonly reads?: boolean;
  }) => CallContext;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Default: nothing is remembered, and everything done. */
  readonly journal?: ControllerJournal;
  readonly options: RouteControllerOptions;
}
