/** Which load balancers of a list concern a Service, and how. Pure. */
import { sameOwner, type ClusterIdentity, type LoadBalancerService, type Owner } from '@outrigger/cloud-provider';
import { isUuid } from '../uuid.ts';
import { annotationTable } from './desired/annotation-table.ts';
import { loadBalancerNames, type LoadBalancerNames } from './desired/load-balancer-names.ts';
import type { WireLoadBalancer } from './octavia-wire.ts';
import { ownersIn } from './ownership.ts';

export interface ServiceIdentity {
  readonly service: LoadBalancerService;
  readonly owner: Owner;
  /** This cluster's name and its former one. */
  readonly clusterNames: readonly string[];
  /** Under this cluster's name and its former one; none for a Service of which only the UID is known. */
  readonly names: readonly LoadBalancerNames[];
  /** IDs of the load balancers that it names. */
  readonly named: readonly string[];
}

export interface ClusterNames {
  readonly cluster: ClusterIdentity;
  /** What CPO's `--cluster-name` was, where this cluster's is another now. */
  readonly previousClusterName?: string | undefined;
}

export function identityOf(
  service: LoadBalancerService,
  { cluster, previousClusterName }: ClusterNames,
): ServiceIdentity {
  const clusters = [cluster, ...(previousClusterName ? [{ name: previousClusterName }] : [])];
  return {
    service,
    owner: { clusterId: cluster.id, uid: service.uid },
    clusterNames: clusters.map((one) => one.name),
    names: service.name === '' ? [] : clusters.map((one) => loadBalancerNames(service, one)),
    named: namedBy(service),
  };
}

/**
 * `own`, `shared`: by our tag. `named`: by the Service's annotation, or for adoption. `namesake`: nobody's, and called what the
 * Service's would be.
 */
export type Relation = 'own' | 'shared' | 'named' | 'namesake';

export function relationOf(wire: WireLoadBalancer, identity: ServiceIdentity): Relation | undefined {
  const { owner, named, names } = identity;
  const tagged = ownersIn(wire.tags ?? []);
  if (tagged.owner && sameOwner(tagged.owner, owner)) return 'own';
  if (tagged.sharers.some((one) => sameOwner(one, owner))) return 'shared';
  if (named.includes(wire.id)) return 'named';
  return hasOwnName(wire.name, names) && !tagged.taken && wire.provisioning_status !== 'PENDING_DELETE'
    ? 'namesake'
    : undefined;
}

/** Whether a load balancer is called what the predecessor would call the Service's. */
export const hasOwnName = (name: string, names: ServiceIdentity['names']): boolean =>
  names.some(({ legacy, loadBalancer }) => name === loadBalancer || name === legacy);

/** IDs of the load balancers that the Service names. What is no ID names none: a path of `..` would lead elsewhere. */
export function namedBy({ adopt = [], annotations }: LoadBalancerService): readonly string[] {
  const id = annotations[annotationTable.loadBalancerId.name]?.toLowerCase();
  return [
    ...(id && isUuid(id) ? [id] : []),
    ...adopt.filter(({ kind }) => kind === 'load-balancer').map((one) => one.id),
  ];
}

/** CPO's words on the floating IPs that it makes, by which it knows them again. */
export const cpoFloatingIPText = 'Floating IP for Kubernetes external service';
