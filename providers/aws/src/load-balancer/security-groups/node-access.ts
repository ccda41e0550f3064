/**
 * How load balancers get through to the nodes: a rule in the nodes' security group that lets in whoever has the load balancer's group. All
 * NLBs share one such group, so that a node's group has one rule for them, however many they are; a Classic Load Balancer is let in
 * by its own, as cloud-provider-aws does it.
 */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import { awsCodeOf } from '../../client/aws-errors.ts';
import type { IpPermission, SecurityGroup } from '../../client/generated/ec2.ts';
import { pages } from '../../client/pages.ts';
import { tagValue } from '../../cluster/cluster-tags.ts';
import type { BackEndAccess } from '../frame.ts';
import type { Tagged } from '../observe/recent-changes.ts';
import { CLUSTER_TAG, tagList } from '../ownership.ts';
import { SHARED_TAG, type GroupLook, type GroupLookOptions } from './group-look.ts';
import { sharedGroupName } from './group-names.ts';
import { NodeGroups } from './node-groups.ts';
import { permissionOf, rulesIn, sourcesOf } from './rules.ts';

export interface NodeAccessOptions {
  readonly look: GroupLook;
  readonly config: () => {
    /** The groups of nodes are left alone: whoever runs the cluster lets load balancers in. Default: false. */
    readonly disableSecurityGroupIngress?: boolean;
    /** Of several groups of a node, the one that counts. Empty: by their tags. */
    readonly nodeSecurityGroups: readonly string[];
  };
}

/** What no look has shown is believed for so long, as long as looks may be behind. */
const BELIEVED_MS = 60_000;
/** Of a group that no look shows, as it has no tag of the cluster. */
const UNSHOWN_MS = 600_000;
const DESCRIPTION = 'load balancers of Kubernetes';
/** Upstream's rules for one NLB: `kubernetes.io/rule/nlb/client=<name>`, `…/health=<name>`. */
const OLD_RULE = /^kubernetes\.io\/rule\/nlb\/(?:client|health)=(?<name>\S+)$/u;

export class NodeAccess implements BackEndAccess {
  readonly #options: GroupLookOptions & NodeAccessOptions;
  readonly #nodes: NodeGroups;
  #groups: readonly SecurityGroup[] = [];
  /** `<node group> <source group>`: opened by this process, and when. */
  readonly #opened = new Map<string, number>();
  #sharedId: string | undefined;
  /** When somebody last asked for the shared group, to give it to a load balancer. */
  #askedAt: number = Number.NEGATIVE_INFINITY;
  #making: Promise<string> | undefined;

  constructor(options: NodeAccessOptions) {
    this.#options = { ...options.look.options, ...options };
    const { client, clock } = this.#options;
    const named = (): readonly string[] => options.config().nodeSecurityGroups;
    this.#nodes = new NodeGroups({ client, clock, named });
  }

  /** Whether NLBs have the shared group: with `DisableSecurityGroupIngress` nobody is let in by it. */
  get usesShared(): boolean {
    return !this.#options.config().disableSecurityGroupIngress;
  }

  /** As of the last look, or as this process has made it since. */
  get sharedId(): string | undefined {
    return this.#sharedId;
  }

  /** Before the lists of a look, with its call. */
  async refresh(call: CallContext): Promise<void> {
    this.#groups = (await this.#options.look.groups(call)).map(({ thing }: Tagged<SecurityGroup>) => thing);
    const seen = this.#groups.find(({ Tags }) => tagValue(Tags, SHARED_TAG) === this.#options.cluster.id)?.GroupId;
    if (seen !== undefined) this.#sharedId = seen;
    const now = this.#options.clock.monotonic();
    for (const [key, at] of this.#opened) {
      const isShown = this.#groups.some(({ GroupId }) => key.startsWith(`${GroupId} `));
      if (now - at >= (isShown ? BELIEVED_MS : UNSHOWN_MS)) this.#opened.delete(key);
    }
  }

  /** Makes the shared group where there is none. All who ask meanwhile get one. */
  async ensureShared(call: CallContext): Promise<string> {
    this.#askedAt = this.#options.clock.monotonic();
    if (this.#sharedId !== undefined) return this.#sharedId;
    this.#making ??= this.#makeShared(call).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  /** In a look, so that `isOpen` can tell. */
  async learn(instanceIds: readonly string[], call: CallContext): Promise<void> {
    if (this.usesShared) await this.#nodes.learn(instanceIds, call);
  }

  /**
   * Whether these instances let the group in, as far as is known: what is not known is for `open` to find out. Pure. Never throws:
   * `open` says what is wrong.
   */
  isOpen(sourceId: string, instanceIds: readonly string[]): boolean {
    if (!this.usesShared) return true;
    try {
      return this.#groupsOf(instanceIds).every((group) => this.#lets(group, sourceId));
    } catch {
      return false;
    }
  }

  /** Of the groups of a Classic Load Balancer, which AWS shows in any order, the one that nodes let in: its own, else the first. Pure. */
  sourceOf(groupIds: readonly string[]): string | undefined {
    const own = this.#groups.filter(({ Tags }) => tagValue(Tags, CLUSTER_TAG) !== undefined);
    return groupIds.find((id) => own.some(({ GroupId }) => GroupId === id)) ?? groupIds[0];
  }

  /** Lets the group in to these instances: one rule for each group that they have. Throws `invalid` where it is not clear which. */
  async open(sourceId: string, instanceIds: readonly string[], call: CallContext): Promise<void> {
    if (!this.usesShared) return;
    await this.#nodes.learn(instanceIds, call);
    for (const group of this.#groupsOf(instanceIds)) {
      if (!this.#lets(group, sourceId)) await this.#authorize(group, sourceId, call);
    }
  }

  /**
   * Whoever of the cluster lets the group in does so no more: before it is deleted, since EC2 keeps what is referred to. Throws `conflict` where
   * others let it in.
   */
  async close(sourceId: string, call: CallContext): Promise<void> {
    const Filters = [{ Name: 'ip-permission.group-id', Values: [sourceId] }];
    const { SecurityGroups = [] } = await this.#options.client.ec2(call, 'DescribeSecurityGroups', { Filters });
    const isOthers = ({ GroupId, IpPermissions }: SecurityGroup): boolean =>
      GroupId !== sourceId &&
      !this.#groups.some((one) => one.GroupId === GroupId) &&
      !(IpPermissions ?? []).some(({ UserIdGroupPairs = [] }) =>
        UserIdGroupPairs.some((one) => one.GroupId === sourceId && one.Description?.startsWith(DESCRIPTION)),
      );
    const others = SecurityGroups.filter(isOthers).map(({ GroupId }) => GroupId);
    if (others.length > 0) {
      const message = `rules of ${others.join(', ')} let in security group ${sourceId}, which EC2 keeps as long, and are not the cluster's: remove them`;
      throw new CloudError('conflict', message, { effect: 'none' });
    }
    for (const { GroupId, IpPermissions = [] } of SecurityGroups) {
      const permissions = IpPermissions.filter((one) => sourcesOf(one).includes(sourceId)).map((one) =>
        onlyFrom(one, sourceId),
      );
      if (GroupId !== undefined && GroupId !== sourceId) await this.#revoke(GroupId, permissions, call);
      this.#opened.delete(`${GroupId} ${sourceId}`);
    }
  }

  /** Rules of this program that let the group in, of a group that stays: those of others for it are left alone. */
  async withdraw(sourceId: string, call: CallContext): Promise<void> {
    const { client, cluster } = this.#options;
    const Filters = [{ Name: `tag:${CLUSTER_TAG}`, Values: [cluster.id] }];
    const rules = await pages(client.ec2, call, 'DescribeSecurityGroupRules', { Filters, MaxResults: 1_000 });
    const own = rules.filter(({ ReferencedGroupInfo }) => ReferencedGroupInfo?.GroupId === sourceId);
    for (const [GroupId = '', ofGroup] of Map.groupBy(own, (rule) => rule.GroupId)) {
      const SecurityGroupRuleIds = ofGroup.flatMap(({ SecurityGroupRuleId }) => SecurityGroupRuleId ?? []);
      await client.ec2(call, 'RevokeSecurityGroupIngress', { GroupId, SecurityGroupRuleIds });
      this.#opened.delete(`${GroupId} ${sourceId}`);
    }
  }

  /** Whether rules of cloud-provider-aws for this NLB are left in groups of nodes. Pure. */
  hasOld(loadBalancer: string): boolean {
    return this.#groups.some((group) => oldRulesIn(group, loadBalancer).length > 0);
  }

  /** Takes them away: only where nodes let the NLB in by its group already (`isOpen`). */
  async withdrawOld(loadBalancer: string, call: CallContext): Promise<void> {
    for (const group of this.#groups) {
      const permissions = oldRulesIn(group, loadBalancer);
      if (group.GroupId !== undefined) await this.#revoke(group.GroupId, permissions, call);
    }
  }

  /**
   * Removes the shared group where no network interface and no NLB has it: with the last one. Not where one may be on its way: the group of a
   * load balancer that is being made is on no interface yet, for minutes.
   */
  async releaseShared(call: CallContext): Promise<void> {
    const { client, clock, look } = this.#options;
    const id = this.#sharedId;
    if (id === undefined || this.#making || clock.monotonic() - this.#askedAt < BELIEVED_MS) return;
    const Filters = [{ Name: 'group-id', Values: [id] }];
    const { NetworkInterfaces = [] } = await client.ec2(call, 'DescribeNetworkInterfaces', { Filters });
    if (NetworkInterfaces.length > 0) return;
    const balancers = await pages(client.elbv2, call, 'DescribeLoadBalancers', { PageSize: 400 });
    if (balancers.some(({ SecurityGroups }) => SecurityGroups?.includes(id))) return;
    await this.close(id, call);
    this.#sharedId = undefined;
    try {
      await client.ec2(call, 'DeleteSecurityGroup', { GroupId: id });
      look.recent.deleted(id);
    } catch (error) {
      if (!['InvalidGroup.NotFound', 'DependencyViolation'].includes(awsCodeOf(error) ?? '')) throw error;
    }
  }

  #groupsOf(instanceIds: readonly string[]): readonly string[] {
    const tagged = this.#tagged();
    const groups = instanceIds.map((id) => this.#nodes.groupOf(id, tagged));
    return [...new Set(groups)].filter((id) => id !== undefined);
  }

  /** With the cluster's tag, and no load balancer's. */
  #tagged(): ReadonlySet<string> {
    const isOfNodes = ({ Tags }: SecurityGroup): boolean =>
      tagValue(Tags, CLUSTER_TAG) === undefined && tagValue(Tags, SHARED_TAG) === undefined;
    return new Set(this.#groups.filter(isOfNodes).map(({ GroupId = '' }) => GroupId));
  }

  #lets(groupId: string, sourceId: string): boolean {
    if (this.#opened.has(`${groupId} ${sourceId}`)) return true;
    const group = this.#groups.find(({ GroupId }) => GroupId === groupId);
    return rulesIn(group?.IpPermissions).includes(`all ${sourceId}`);
  }

  async #authorize(GroupId: string, sourceId: string, call: CallContext): Promise<void> {
    const { client, clock, cluster } = this.#options;
    const at = clock.monotonic();
    try {
      await client.ec2(call, 'AuthorizeSecurityGroupIngress', {
        GroupId,
        IpPermissions: [permissionOf(`all ${sourceId}`, `${DESCRIPTION} ${cluster.name}`.slice(0, 255))],
        TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: tagList({ [CLUSTER_TAG]: cluster.id }) }],
      });
    } catch (error) {
      const code = awsCodeOf(error);
      if (code === 'RulesPerSecurityGroupLimitExceeded') throw fullGroup(GroupId, error);
      if (code !== 'InvalidPermission.Duplicate') throw error;
    }
    this.#opened.set(`${GroupId} ${sourceId}`, at);
  }

  async #revoke(GroupId: string, IpPermissions: readonly IpPermission[], call: CallContext): Promise<void> {
    if (IpPermissions.length === 0) return;
    try {
      await this.#options.client.ec2(call, 'RevokeSecurityGroupIngress', { GroupId, IpPermissions });
    } catch (error) {
      if (!['InvalidPermission.NotFound', 'InvalidGroup.NotFound'].includes(awsCodeOf(error) ?? '')) throw error;
    }
  }

  async #makeShared(call: CallContext): Promise<string> {
    const { client, cluster, own } = this.#options;
    const { known } = own;
    if (!known) throw new CloudError('unavailable', 'the VPC of the cluster is not known yet');
    const GroupName = sharedGroupName(cluster.id);
    const Tags = tagList({ [SHARED_TAG]: cluster.id, Name: GroupName });
    try {
      const { GroupId } = await client.ec2(call, 'CreateSecurityGroup', {
        GroupName,
        Description: `Network Load Balancers of the Kubernetes cluster ${cluster.name}`.slice(0, 255),
        VpcId: known.vpcId,
        TagSpecifications: [{ ResourceType: 'security-group', Tags }],
      });
      if (GroupId === undefined) throw new CloudError('unavailable', 'CreateSecurityGroup: the answer names no group');
      this.#sharedId = GroupId;
      return GroupId;
    } catch (error) {
      if (awsCodeOf(error) !== 'InvalidGroup.Duplicate') throw error;
      return this.#sharedByName(GroupName, known.vpcId, call);
    }
  }

  /** One that no look has shown yet: its name is made of the cluster's ID. */
  async #sharedByName(name: string, vpcId: string, call: CallContext): Promise<string> {
    const { client, cluster } = this.#options;
    const Filters = [
      { Name: 'vpc-id', Values: [vpcId] },
      { Name: 'group-name', Values: [name] },
    ];
    const { SecurityGroups = [] } = await client.ec2(call, 'DescribeSecurityGroups', { Filters });
    const id = SecurityGroups.find(({ Tags }) => tagValue(Tags, SHARED_TAG) === cluster.id)?.GroupId;
    if (id === undefined) {
      const message = `there is a security group ${name} without the tag ${SHARED_TAG}=${cluster.id}: delete it, or tag it`;
      throw new CloudError('conflict', message);
    }
    this.#sharedId = id;
    return id;
  }
}

/** The rest of a permission is others'. */
function onlyFrom({ FromPort, IpProtocol, ToPort }: IpPermission, GroupId: string): IpPermission {
  return {
    ...(IpProtocol !== undefined && { IpProtocol }),
    ...(FromPort !== undefined && { FromPort }),
    ...(ToPort !== undefined && { ToPort }),
    UserIdGroupPairs: [{ GroupId }],
  };
}

function oldRulesIn({ IpPermissions = [] }: SecurityGroup, loadBalancer: string): readonly IpPermission[] {
  const isOld = ({ Description = '' }: { readonly Description?: string }): boolean =>
    OLD_RULE.exec(Description)?.groups?.['name'] === loadBalancer;
  return IpPermissions.map(
    ({ IpRanges = [], Ipv6Ranges = [], UserIdGroupPairs: _pairs, PrefixListIds: _lists, ...ports }) => ({
      ...ports,
      IpRanges: IpRanges.filter(isOld),
      Ipv6Ranges: Ipv6Ranges.filter(isOld),
    }),
  )
    .filter(({ IpRanges, Ipv6Ranges }) => IpRanges.length + Ipv6Ranges.length > 0)
    .map(({ IpRanges, Ipv6Ranges, ...ports }) => ({
      ...ports,
      ...(IpRanges.length > 0 && { IpRanges }),
      ...(Ipv6Ranges.length > 0 && { Ipv6Ranges }),
    }));
}

function fullGroup(groupId: string, cause: unknown): CloudError {
  const message = `security group ${groupId} of the nodes has as many rules as AWS allows (60 unless raised), and one is needed for load balancers: remove rules, or raise the quota "Inbound or outbound rules per security group"`;
  return new CloudError('quota', message, { cause, effect: 'none' });
}
