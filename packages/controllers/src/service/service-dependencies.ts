/** What the service controller is made of. */
import type { LoadBalancers } from '@outrigger/cloud-provider';
import type { MakeCallContext } from '@outrigger/cloud-runtime';
import type { Node, Service, Store } from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import type { Locks } from '../load-balancer/locks.ts';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';
import type { Tenancy } from '../load-balancer/tenancy.ts';
import type { Machines } from './machines.ts';

export interface ServiceControllerOptions extends Tenancy {
  /** Recorded on the Services that have a load balancer, and the prefix of our provider IDs. */
  readonly providerName: string;
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** Names of all providers of this program. Default: this one alone. */
  readonly providers?: readonly string[];
  /** Nodes that are no back ends. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** Serves the Services without a `loadBalancerClass` too. Default: true. */
  readonly isDefault?: boolean;
  /** `--concurrent-service-syncs`: load balancers that are being changed at a time. Default: 32. */
  readonly concurrentServiceSyncs?: number;
}

export interface ServiceControllerDependencies extends ControllerDependencies {
  readonly services: Store<Service>;
  readonly nodes: Store<Node>;
  readonly provider: LoadBalancers;
  /** A node whose machine the cloud does not confirm does not become a back end. Default: nobody is asked, and every node's status counts. */
  readonly machines?: Machines | undefined;
  readonly callContext: MakeCallContext;
  /** Shared with whoever else changes load balancers of this provider. Default: nobody does. */
  readonly locks?: Locks;
  /** Calls back for each changed cloud config that was taken, and returns the way to stop. Default: none is ever taken. */
  readonly onReconfigured?: (listener: () => void) => () => void;
  readonly options: ServiceControllerOptions;
}
