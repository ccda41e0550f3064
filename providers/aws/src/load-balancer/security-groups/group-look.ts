/** The security groups of the VPC that concern load balancers of this cluster: one list a look, for all Services. */
import type { CallContext, Clock, ClusterIdentity } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { SecurityGroup } from '../../client/generated/ec2.ts';
import { pages } from '../../client/pages.ts';
import { CLUSTER_TAG_PREFIX, hasClusterTag, LEGACY_CLUSTER_TAG, tagValue } from '../../cluster/cluster-tags.ts';
import type { ClusterFacts } from '../../cluster/own-cluster.ts';
import { RecentChanges, type Tagged } from '../observe/recent-changes.ts';
import { CLUSTER_TAG, tagsIn } from '../ownership.ts';

/** On the group that all Network Load Balancers of the cluster share; its value is the cluster's ID. */
export const SHARED_TAG = 'outrigger.dev/shared-by';

export interface GroupLookOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  readonly cluster: Pick<ClusterIdentity, 'id' | 'name'>;
  /** As far as it is known: without it, only what has our own tags is seen. */
  readonly own: { readonly known: Pick<ClusterFacts, 'tags' | 'vpcId'> | undefined };
}

const PAGE = 1_000;

export class GroupLook {
  readonly recent: RecentChanges<SecurityGroup>;
  readonly options: GroupLookOptions;
  readonly #looks = new WeakMap<CallContext, Promise<readonly Tagged<SecurityGroup>[]>>();

  constructor(options: GroupLookOptions) {
    this.options = options;
    this.recent = new RecentChanges(options.clock);
  }

  /** This cluster's, by our tag or by upstream's: the nodes' too. The same for all who ask with this very call. */
  groups(call: CallContext): Promise<readonly Tagged<SecurityGroup>[]> {
    const known = this.#looks.get(call);
    if (known) return known;
    const look = this.#read(call);
    this.#looks.set(call, look);
    return look;
  }

  async #read(call: CallContext): Promise<readonly Tagged<SecurityGroup>[]> {
    const { client, cluster, own } = this.options;
    const { known } = own;
    const keys = known
      ? [CLUSTER_TAG_PREFIX + known.tags.id, ...(known.tags.isLegacy ? [LEGACY_CLUSTER_TAG] : [])]
      : [];
    const Filters = [
      ...(known ? [{ Name: 'vpc-id', Values: [known.vpcId] }] : []),
      { Name: 'tag-key', Values: [CLUSTER_TAG, SHARED_TAG, ...keys] },
    ];
    const listed = await pages(client.ec2, call, 'DescribeSecurityGroups', { Filters, MaxResults: PAGE });
    const isOwn = ({ Tags }: SecurityGroup): boolean => {
      const ours = tagValue(Tags, CLUSTER_TAG) ?? tagValue(Tags, SHARED_TAG);
      if (ours !== undefined) return ours === cluster.id;
      return known !== undefined && hasClusterTag(Tags, known.tags);
    };
    const seen = listed.filter(isOwn).map((thing): Tagged<SecurityGroup> => {
      const { GroupId: id = '', Tags } = thing;
      return { thing, tags: this.recent.tagsOf(id, tagsIn(Tags)), isDeleted: this.recent.wasDeleted(id) };
    });
    const young = this.recent.missing(new Set(listed.map(({ GroupId = '' }) => GroupId)));
    return [...seen.filter(({ isDeleted }) => !isDeleted), ...young.map(([, made]) => made)];
  }
}
