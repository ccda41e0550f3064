/** Whether an instance that a provider ID names is a node of this cluster: a kubelet registers its Node with whatever ID it likes. Pure. */
import { CloudError, type NodeRef } from '@outrigger/cloud-provider';
import type { Instance } from '../client/generated/ec2.ts';
import { CLUSTER_TAG_PREFIX, hasClusterTag, LEGACY_CLUSTER_TAG } from '../cluster/cluster-tags.ts';
import type { ClusterFacts } from '../cluster/own-cluster.ts';
import { addressInName } from './asked-instance.ts';
import { isCalled } from './instance-metadata.ts';

/** Tags of others that are named. */
const MOST_NAMED = 3;

/**
 * Why the instance is none of the cluster's; `undefined`: it is one. It has to be in the cluster's VPC and to have the tag of the cluster. One that
 * has no tag of any cluster is still a node's that is called as the instance is, which no kubelet chooses (NodeRestriction): clusters that come
 * from cloud-provider-aws have such. With another name it is a `conflict`, which at a start takes no back end away, as it may be a node that has not been
 * tagged; all else is `invalid`. Of what is not known of the cluster nothing is held against an instance.
 */
export function whyNotOwn(
  { name }: Pick<NodeRef, 'name'>,
  instance: Pick<Instance, 'InstanceId' | 'PrivateDnsName' | 'PrivateIpAddress' | 'Tags' | 'VpcId'>,
  { tags, vpcId }: Partial<ClusterFacts>,
): CloudError | undefined {
  const { InstanceId: id = '', PrivateIpAddress: address, Tags = [], VpcId } = instance;
  const which = `node ${name}: the instance ${id} of its provider ID`;
  if (vpcId !== undefined && VpcId && VpcId !== vpcId) {
    const what = `${which} is in the VPC ${VpcId}, and the cluster in ${vpcId}`;
    return new CloudError('invalid', `${what}: correct spec.providerID, or VPC in [Global] of the cloud config`);
  }
  if (!tags || hasClusterTag(Tags, tags)) return undefined;
  const wanted = CLUSTER_TAG_PREFIX + tags.id;
  const others = Tags.flatMap(({ Key = '', Value = '' }) =>
    Key === LEGACY_CLUSTER_TAG ? [`${Key}=${Value}`] : Key.startsWith(CLUSTER_TAG_PREFIX) ? [Key] : [],
  ).slice(0, MOST_NAMED);
  if (others.length > 0) {
    const what = `${which} has the tag ${others.join(', ')}, and not ${wanted}: it is another cluster's`;
    return new CloudError('invalid', `${what}; correct spec.providerID, or add the tag if it is a node of this one`);
  }
  const isItsName = isCalled(instance, name) || (address !== undefined && addressInName(name) === address);
  if (isItsName) return undefined;
  const what = `${which} has no tag ${wanted}, and is not called as the node is`;
  return new CloudError('conflict', `${what}: tag it if it is a node of this cluster, else correct spec.providerID`);
}
