/** What the node lifecycle controller is made from. */
import type { InstanceLookups } from '@outrigger/cloud-runtime';
import type { Node, Store } from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';

export interface NodeLifecycleControllerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** `--node-deletion-grace-period`, in milliseconds. Default: 30,000. */
  readonly deletionGraceMs?: number;
  /** `--node-deletion-max-fraction`, of a zone and of the cluster. Default: 0.3. */
  readonly deletionMaxFraction?: number;
  /** How long a deleted node counts, in milliseconds. Default: 600,000. */
  readonly deletionWindowMs?: number;
  /** `--unknown-node-deletion-period`, in milliseconds. Default: 0, never. */
  readonly unknownNodeDeletionMs?: number;
  /** Nodes that are written at a time. Default: 8. */
  readonly concurrentWrites?: number;
}

export interface NodeLifecycleControllerDependencies extends ControllerDependencies {
  readonly store: Store<Node>;
  readonly lookups: Pick<InstanceLookups, 'lookUp' | 'read' | 'snapshot' | 'hints'>;
  readonly options: NodeLifecycleControllerOptions;
}
