/**
 * What a Service of one namespace may use of what is another's: load balancers of other Services, and what of the cloud a Service
 * can name. Pure.
 */
import {
  ANNOTATION_LENGTH,
  CloudError,
  type ForeignThing,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancers,
  type LoadBalancerService,
  type Owner,
  sameOwner,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { isOwnedBy } from './check-plan.ts';

/**
 * Which Services may begin to use one load balancer together: of one `namespace`, of the whole `cluster`, or none (`off`). Who shares
 * one already goes on to.
 */
export const loadBalancerSharings = ['namespace', 'cluster', 'off'] as const;
export type LoadBalancerSharing = (typeof loadBalancerSharings)[number];

/**
 * On the Service that owns a load balancer: other namespaces whose Services may use it too, with commas between them; `*`: all. A longer
 * value than `ANNOTATION_LENGTH` invites none, and its Service is told.
 */
export const shareWithAnnotation = 'outrigger.dev/share-load-balancer-with';

export interface Tenancy {
  /** Default: `namespace`. */
  readonly sharing?: LoadBalancerSharing | undefined;
  /** Namespaces whose Services may name things of the cloud; `*`: all. Default: all. */
  readonly trustedNamespaces?: readonly string[] | undefined;
}

interface TenancyOfCluster extends Tenancy {
  readonly clusterId: string;
  /** By its UID; `undefined`: there is none, or it is not known. */
  readonly serviceOf: (uid: string) => Service | undefined;
}

const has = (namespaces: readonly string[], namespace: string): boolean =>
  namespaces.includes('*') || (namespace !== '' && namespaces.includes(namespace));

export function mayUse(
  { allowed, owner, ownerNamespace }: ForeignThing,
  { namespace, uid }: Pick<LoadBalancerService, 'namespace' | 'uid'>,
  { clusterId, serviceOf, sharing = 'namespace' }: TenancyOfCluster,
): boolean {
  if (sameOwner(owner, { clusterId, uid })) return true;
  if (owner === undefined && ownerNamespace === undefined) return has(allowed, namespace);
  if (sharing === 'off') return false;
  if (has(allowed, namespace)) return true;
  if (owner === undefined) return sharing === 'cluster' || ownerNamespace === namespace;
  // Another cluster's namespaces are not this one's.
  if (owner.clusterId !== clusterId) return false;
  if (sharing === 'cluster') return true;
  const { metadata } = serviceOf(owner.uid) ?? {};
  if (!metadata) return false;
  const list = metadata.annotations?.[shareWithAnnotation] ?? '';
  const invited = list.length > ANNOTATION_LENGTH ? [] : list.split(',').map((one) => one.trim());
  return metadata.namespace === namespace || has(invited, namespace);
}

/** Made for the Service by another program, which has put no owner on it. */
export const isPredecessors = ({ id, owner }: LoadBalancerPart, others: readonly ForeignThing[]): boolean =>
  owner === undefined && !others.some((one) => one.id === id);

interface Trust extends Tenancy, Pick<LoadBalancers, 'annotations'> {
  readonly owner: Owner;
}

/**
 * Why a Service of a namespace that is not trusted is refused: it names something of the cloud. What the program has written itself, or
 * a predecessor, is the name of a part that is its own.
 */
export function whyNotTrusted(
  { annotations, ingress, namespace, requestedIP }: LoadBalancerService,
  { others = [], parts }: Pick<Extract<LoadBalancerObservation, { kind: 'parts' }>, 'others' | 'parts'>,
  { annotations: declared, owner, trustedNamespaces = ['*'] }: Trust,
): CloudError | undefined {
  if (has(trustedNamespaces, namespace)) return undefined;
  const isOfItsOwn = (value: string): boolean => {
    const ofId = parts.filter(({ id }) => id.toLowerCase() === value.toLowerCase());
    return ofId.some((part) => isOwnedBy(part, owner) || isPredecessors(part, others));
  };
  const dangerous = declared.filter(({ dangerous: why }) => why !== undefined);
  const named = dangerous.find(({ name }) => annotations[name] && !isOfItsOwn(annotations[name]));
  const isServed = ingress.some(({ ip }) => ip === requestedIP);
  const what = named ? `the annotation ${named.name}` : requestedIP && !isServed ? 'loadBalancerIP' : undefined;
  if (what === undefined) return undefined;
  const text = `Services of the namespace ${namespace} may not name resources of the cloud, but ${what} does; remove it, or ask the administrator of the cluster (--trusted-service-namespaces)`;
  return new CloudError('not-owned', text);
}
