/** What the node controller is given. */
import type { InstanceLookups, OpenedProvider } from '@outrigger/cloud-runtime';
import type { Node, Store } from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';

export interface NodeControllerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** `--concurrent-node-syncs`: nodes that are being written at a time. Default: 32. */
  readonly concurrentNodeSyncs?: number;
  /** `--node-status-update-frequency`, in milliseconds. Default: 300,000. */
  readonly nodeStatusUpdateFrequencyMs?: number;
  /** The provider's batch size, by which the refresh is spread. Default: 500. */
  readonly batchSize?: number;
  /** `--node-synced-events`: a `Synced` Event for each initialised node, as upstream. Default: false. */
  readonly nodeSyncedEvents?: boolean;
  /** `--node-maintenance-conditions`. Default: false. */
  readonly maintenanceConditions?: boolean;
  /** Whether the route controller runs in this process. Default: false. */
  readonly runsRoutes?: boolean;
}

export interface NodeControllerDependencies extends ControllerDependencies {
  readonly store: Store<Node>;
  readonly lookups: Pick<InstanceLookups, 'lookUp' | 'machineOf' | 'snapshot' | 'hints'>;
  /** Puts tags on machines, where it can. Default: none are put. */
  readonly provider?: Pick<OpenedProvider, 'callContext' | 'capabilities'>;
  readonly options: NodeControllerOptions;
}
