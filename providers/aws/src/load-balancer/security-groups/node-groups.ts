/** Which security group of a node lets its load balancers in. */
import { CloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { GroupIdentifier, Instance, Tag } from '../../client/generated/ec2.ts';
import { CLUSTER_TAG_PREFIX, hasClusterTag, LEGACY_CLUSTER_TAG } from '../../cluster/cluster-tags.ts';
import type { ClusterFacts } from '../../cluster/own-cluster.ts';
import { instancesByIds } from '../../instances/described-instances.ts';

export interface NodeGroupsOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** Of the cloud config: of several, the one that counts. */
  readonly named: () => readonly string[];
  /** `undefined`: not known yet. */
  readonly own: { readonly known: ClusterFacts | undefined };
}

/** The groups of an instance seldom change. */
const BELIEVED_MS = 600_000;
/** One that is not found may be too young to be known everywhere. */
const YOUNG_MS = 30_000;

interface Known {
  readonly groups: readonly string[];
  readonly vpcId: string | undefined;
  /** Those that name clusters. */
  readonly tags: readonly Tag[];
  readonly at: number;
}

/** What nodes are let in by. */
export interface JudgedGroups {
  /** Group to its instances. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Instances of which it is not clear, and why. */
  readonly unclear: ReadonlyMap<string, CloudError>;
  /** All groups that those have. */
  readonly ofUnclear: ReadonlySet<string>;
}

export class NodeGroups {
  readonly #options: NodeGroupsOptions;
  readonly #known = new Map<string, Known>();
  #learning: Promise<void> = Promise.resolve();

  constructor(options: NodeGroupsOptions) {
    this.#options = options;
  }

  /**
   * Reads the groups of instances of which they are not known: one request for 500. Instances that there are not have none. One after the
   * other: what is read for one Service is known to those that have waited.
   */
  async learn(instanceIds: readonly string[], call: CallContext): Promise<void> {
    if (this.#unknown(instanceIds).length === 0) return;
    const learnt = this.#learning.then(() => this.#read(this.#unknown(instanceIds), call));
    this.#learning = learnt.catch(() => undefined);
    await learnt;
  }

  #unknown(instanceIds: readonly string[]): readonly string[] {
    const now = this.#options.clock.monotonic();
    for (const [id, { at }] of this.#known) if (now - at >= BELIEVED_MS) this.#known.delete(id);
    return [...new Set(instanceIds)].filter((id) => !this.#known.has(id));
  }

  async #read(unknown: readonly string[], call: CallContext): Promise<void> {
    const now = this.#options.clock.monotonic();
    const found = await instancesByIds(this.#options.client.ec2, unknown, call);
    for (const one of found.values()) if (one instanceof Error) throw one;
    for (const [id, one] of found) {
      const isThere = typeof one === 'object' && !(one instanceof Error);
      const { SecurityGroups, Tags = [], VpcId: vpcId }: Instance = isThere ? one : {};
      const tags = Tags.filter(({ Key = '' }) => Key.startsWith(CLUSTER_TAG_PREFIX) || Key === LEGACY_CLUSTER_TAG);
      const at = isThere ? now : now - BELIEVED_MS + YOUNG_MS;
      this.#known.set(id, { groups: idsOf(SecurityGroups), vpcId, tags, at });
    }
  }

  /** One instance keeps no other out: whoever runs a kubelet may name any instance of the account. */
  judge(instanceIds: readonly string[], tagged: ReadonlySet<string>): JudgedGroups {
    const groups = new Map<string, string[]>();
    const unclear = new Map<string, CloudError>();
    const ofUnclear = new Set<string>();
    for (const id of new Set(instanceIds)) {
      const group = this.groupOf(id, tagged);
      if (typeof group === 'string') {
        const ids = groups.get(group);
        if (ids) ids.push(id);
        else groups.set(group, [id]);
      } else if (group) {
        unclear.set(id, group);
        for (const one of this.#known.get(id)?.groups ?? []) ofUnclear.add(one);
      }
    }
    return { groups, unclear, ofUnclear };
  }

  /**
   * The group of a node: the one of the cloud config, or the only one with the cluster's tag, or, of an instance with the cluster's tag, its
   * only one. `undefined`: its groups are not known, or it has none. An error: several could be meant, or none is the cluster's.
   */
  groupOf(instanceId: string, tagged: ReadonlySet<string>): string | CloudError | undefined {
    const instance = this.#known.get(instanceId);
    if (!instance || instance.groups.length === 0) return undefined;
    const { groups, tags, vpcId } = instance;
    const { known } = this.#options.own;
    if (known && vpcId !== undefined && vpcId !== known.vpcId) return elsewhere(instanceId, vpcId, known.vpcId);
    const named = this.#options.named();
    for (const narrowed of [groups.filter((id) => named.includes(id)), groups.filter((id) => tagged.has(id)), groups]) {
      const [only, second] = narrowed;
      if (second !== undefined) return severalGroups(instanceId, narrowed);
      if (only === undefined) continue;
      const isCluster = named.includes(only) || tagged.has(only) || (known && hasClusterTag(tags, known.tags));
      return isCluster ? only : foreignGroup(instanceId, only, known);
    }
    return undefined;
  }
}

const idsOf = (groups: readonly GroupIdentifier[] = []): readonly string[] =>
  groups.map(({ GroupId }) => GroupId).filter((id) => id !== undefined);

function severalGroups(instanceId: string, groups: readonly string[]): CloudError {
  const message = `instance ${instanceId} has ${groups.length} security groups of which any may be its node's (${groups.join(', ')}): give the cluster's tag to one alone, or name it with NodeSecurityGroups in the cloud config`;
  return new CloudError('invalid', message);
}

function foreignGroup(instanceId: string, group: string, known: ClusterFacts | undefined): CloudError {
  if (!known) return new CloudError('unavailable', `whether instance ${instanceId} is the cluster's is not known yet`);
  const message = `neither instance ${instanceId} nor its security group ${group} has the tag ${CLUSTER_TAG_PREFIX}${known.tags.id}, so no rule for load balancers is added to that group: tag it, or name it with NodeSecurityGroups in the cloud config`;
  return new CloudError('invalid', message);
}

function elsewhere(instanceId: string, vpcId: string, own: string): CloudError {
  return new CloudError(
    'invalid',
    `instance ${instanceId} is in ${vpcId}, and load balancers of the cluster are in ${own}`,
  );
}
