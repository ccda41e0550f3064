/** Names of a Service's parts, the same as CPO gives them: by them a load balancer goes from there to here and back. */
import type { ClusterIdentity, LoadBalancerService } from '@outrigger/cloud-provider';

/** Octavia and Neutron take 255 characters. */
const MAX_NAME = 255;

export interface LoadBalancerNames {
  /** `kube_service_<cluster>_<namespace>_<name>`; also the tag on all that the Service uses of a load balancer. */
  readonly loadBalancer: string;
  /** What the predecessors of CPO's 2019 release called it: `a<uid>`, cut at 32. */
  readonly legacy: string;
  readonly securityGroup: string;
}

type Named = Pick<LoadBalancerService, 'uid' | 'namespace' | 'name'>;

/** The names for a Service of this cluster. A cluster under its former name (`previous-cluster-name`): give that one. */
export function loadBalancerNames(service: Named, cluster: Pick<ClusterIdentity, 'name'>): LoadBalancerNames {
  const { uid, namespace, name } = service;
  return {
    loadBalancer: cut(`kube_service_${cluster.name}_${namespace}_${name}`),
    // kubernetes cloud-provider, `DefaultLoadBalancerName`.
    legacy: `a${uid.replaceAll('-', '')}`.slice(0, 32),
    securityGroup: cut(`lb-sg-${uid}-${namespace}-${name}`),
  };
}

/** `listener_0_kube_service_…`. */
export function childName(kind: 'listener' | 'pool' | 'monitor', index: number, loadBalancer: string): string {
  return cut(`${kind}_${index}_${loadBalancer}`);
}

/** Names are ASCII: a Service's and a cluster's by the API server's and CPO's own rules. */
const cut = (name: string): string => name.slice(0, MAX_NAME);
