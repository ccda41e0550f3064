/** What carries this cluster's identity in the cloud and has no Kubernetes object behind it. */
import type { LoadBalancerPart, Route } from '@outrigger/cloud-provider';

/** All parts of one load balancer: they go together, in the order that the provider plans. */
export interface OrphanedLoadBalancer {
  readonly kind: 'load-balancer';
  /** The same in each pass. */
  readonly key: string;
  /** Of the Service that it was made for. */
  readonly uid: string;
  readonly parts: readonly LoadBalancerPart[];
  /** The Service lives, and does not have them any more. Default: no. */
  readonly isLeft?: boolean;
}

export interface OrphanedRoute {
  readonly kind: 'route';
  readonly key: string;
  readonly route: Route;
}

export type Orphan = OrphanedLoadBalancer | OrphanedRoute;

export type OrphanKind = Orphan['kind'];

export const orphanKinds: readonly OrphanKind[] = ['load-balancer', 'route'];
