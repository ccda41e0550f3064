/** What the route controller is given. */
import type { Cidr, Routes } from '@outrigger/cloud-provider';
import type { MakeCallContext } from '@outrigger/cloud-runtime';
import type { Node, Store } from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';

export interface RouteControllerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** `--cluster-cidr`, by `parseClusterCidrs`: one range, or one of each family. */
  readonly clusterCidrs: readonly Cidr[];
  /** `--service-cluster-ip-range`: no pod CIDR that overlaps it gets a route. Default: none. */
  readonly serviceCidrs?: readonly Cidr[] | undefined;
  /** False while there may be others, of which nodes have parts: of a node outside of those above nothing is said. Default: true. */
  readonly knowsAllRanges?: boolean;
  /** `--route-reconciliation-period`, in milliseconds, which is kept to as it is. Default: 600,000, of which a tenth is left to chance. */
  readonly routeReconciliationPeriodMs?: number | undefined;
  /** Conditions that are written at a time. Default: 8. */
  readonly concurrentWrites?: number;
}

export interface RouteControllerDependencies extends ControllerDependencies {
  readonly store: Store<Node>;
  readonly routes: Routes;
  readonly callContext: MakeCallContext;
  readonly options: RouteControllerOptions;
}
