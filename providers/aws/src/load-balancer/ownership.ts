/**
 * Proof of ownership, as tags: the cluster's and the Service's UID. Beside them stand the two tags of cloud-provider-aws, by which
 * installers clean up, and by which it takes over again what was made here.
 */
import type { LoadBalancerService, Owner } from '@outrigger/cloud-provider';
import { CLUSTER_TAG_PREFIX, LEGACY_CLUSTER_TAG } from '../cluster/cluster-tags.ts';

/** Of whatever a cluster owns: the cluster's ID. */
export const CLUSTER_TAG = 'outrigger.dev/cluster';
const OWNER = 'outrigger.dev/owner';
const SERVICE_NAME = 'kubernetes.io/service-name';
/** Keys of tags that a Service has asked for: what it asks for no more is taken away, and what others have added stays. */
const ASKED = 'outrigger.dev/additional-tags';
/** Of the AWS Load Balancer Controller and EKS. */
const THEIRS = /^(?:elbv2|service|ingress|gateway)\.(?:k8s\.aws|eks\.amazonaws\.com)\//u;
const VALUE_LENGTH = 256;

export type Tags = Readonly<Record<string, string>>;

/** Of ELB, ELBv2 and EC2 alike. */
export interface AwsTag {
  readonly Key?: string;
  readonly Value?: string;
}

export function tagsIn(list: readonly AwsTag[] | undefined): Tags {
  return Object.fromEntries((list ?? []).map(({ Key = '', Value = '' }) => [Key, Value]));
}

export function tagList(tags: Tags): readonly { readonly Key: string; readonly Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

export function ownerTags({ clusterId, uid }: Owner): Tags {
  return { [CLUSTER_TAG]: clusterId, [OWNER]: uid };
}

/** `undefined`: they do not say both. */
export function ownerIn({ [CLUSTER_TAG]: clusterId, [OWNER]: uid }: Tags): Owner | undefined {
  return clusterId && uid ? { clusterId, uid } : undefined;
}

export interface TagRequest {
  readonly owner: Owner;
  readonly service: Pick<LoadBalancerService, 'name' | 'namespace'>;
  /** `kubernetes.io/cluster/<id>: owned`, and the legacy one where the cluster has it. */
  readonly clusterTags: Tags;
  /** What the Service asks for. */
  readonly additional: Tags;
}

/** All tags that something is created with. */
export function tagsFor({ additional, clusterTags, owner, service }: TagRequest): Tags {
  return {
    ...additional,
    ...askedTag(additional),
    ...clusterTags,
    [SERVICE_NAME]: `${service.namespace}/${service.name}`,
    ...ownerTags(owner),
  };
}

/** Which tags of a Service's wish are to be set, and which of an earlier wish are to go. */
export function tagChanges(there: Tags, additional: Tags): { readonly set: Tags; readonly remove: readonly string[] } {
  const wanted = { ...additional, ...askedTag(additional) };
  const set = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => there[key] !== value));
  const asked = (there[ASKED] ?? '').split(' ').filter((key) => key !== '');
  const old = [...asked, ASKED].filter((key) => Object.hasOwn(there, key) && !Object.hasOwn(wanted, key));
  return { set, remove: old };
}

export function hasTags(there: Tags, additional: Tags): boolean {
  const { remove, set } = tagChanges(there, additional);
  return remove.length === 0 && Object.keys(set).length === 0;
}

/** cloud-provider-aws has made it for this Service of this cluster, and nobody owns it. */
export function isPredecessors(
  tags: Tags,
  { name, namespace }: Pick<LoadBalancerService, 'name' | 'namespace'>,
  clusterTags: Tags,
): boolean {
  if (CLUSTER_TAG in tags || OWNER in tags || isOfOthers(tags)) return false;
  // One of a cluster that has both tags, or the legacy one alone: as cloud-provider-aws knows its own.
  const isOfCluster = Object.entries(clusterTags).some(([key, value]) =>
    key === LEGACY_CLUSTER_TAG ? tags[key] === value : key.startsWith(CLUSTER_TAG_PREFIX) && key in tags,
  );
  return isOfCluster && tags[SERVICE_NAME] === `${namespace}/${name}`;
}

/** The AWS Load Balancer Controller's, or EKS': never touched. With an owner's tags it is that one's, whatever else has been added to it. */
export function isOfOthers(tags: Tags): boolean {
  return !ownerIn(tags) && Object.keys(tags).some((key) => THEIRS.test(key));
}

/** Keys have no spaces where they come from; of what does not fit, nothing is ever taken away. */
function askedTag(additional: Tags): Tags {
  let text = '';
  for (const key of Object.keys(additional)
    .filter((one) => !one.includes(' '))
    .toSorted()) {
    if (text.length + key.length + 1 <= VALUE_LENGTH) text = text === '' ? key : `${text} ${key}`;
  }
  return text === '' ? {} : { [ASKED]: text };
}
