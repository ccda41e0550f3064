/** The tags by which cloud-provider-aws, installers and this provider know what belongs to a cluster. */
import { CloudError } from '@outrigger/cloud-provider';

/** As each of AWS' APIs has them. */
export interface AwsTag {
  readonly Key?: string;
  readonly Value?: string;
}

export const CLUSTER_TAG_PREFIX = 'kubernetes.io/cluster/';
export const LEGACY_CLUSTER_TAG = 'KubernetesCluster';

/** Which cluster this is, as its installer named it in AWS. */
export interface ClusterTags {
  /** `<id>` of `kubernetes.io/cluster/<id>`. */
  readonly id: string;
  /** The legacy tag is in use, so what is made gets it too. */
  readonly isLegacy: boolean;
}

/** The value of a tag; `undefined` where there is none. */
export function tagValue(tags: readonly AwsTag[] | undefined, key: string): string | undefined {
  return tags?.find(({ Key }) => Key === key)?.Value;
}

/** Whether a thing is this cluster's, or shared with it. */
export function hasClusterTag(tags: readonly AwsTag[] | undefined, { id }: ClusterTags): boolean {
  return tagValue(tags, CLUSTER_TAG_PREFIX + id) !== undefined || tagValue(tags, LEGACY_CLUSTER_TAG) === id;
}

/** Whether a thing is some cluster's: subnets without such a tag are for all. */
export function hasAnyClusterTag(tags: readonly AwsTag[] | undefined): boolean {
  return tags?.some(({ Key }) => Key?.startsWith(CLUSTER_TAG_PREFIX)) ?? false;
}

/** What everything that is made gets, beside the tags of its owner. */
export function ownedTags({ id, isLegacy }: ClusterTags): Readonly<Record<string, string>> {
  return { [CLUSTER_TAG_PREFIX + id]: 'owned', ...(isLegacy && { [LEGACY_CLUSTER_TAG]: id }) };
}

/** As the tags of an instance of the cluster say it. Throws `configuration` where they name none, or several. */
export function clusterTagsOf(tags: readonly AwsTag[] | undefined, instance: string): ClusterTags {
  const named = (tags ?? []).flatMap(({ Key = '' }) =>
    Key.startsWith(CLUSTER_TAG_PREFIX) ? [Key.slice(CLUSTER_TAG_PREFIX.length)] : [],
  );
  const legacy = tagValue(tags, LEGACY_CLUSTER_TAG);
  const ids = new Set([...named, ...(legacy === undefined ? [] : [legacy])]);
  const [id] = ids;
  const remedy = 'set KubernetesClusterID in [Global] of the cloud config';
  if (id === undefined || id === '')
    throw new CloudError(
      'configuration',
      `the instance ${instance}, on which the program runs, has no tag ${CLUSTER_TAG_PREFIX}<name>: tag it, or ${remedy}`,
    );
  if (ids.size > 1)
    throw new CloudError(
      'configuration',
      `the tags of the instance ${instance}, on which the program runs, name several clusters: ${[...ids].toSorted().join(', ')}; ${remedy}`,
    );
  return { id, isLegacy: legacy !== undefined };
}
