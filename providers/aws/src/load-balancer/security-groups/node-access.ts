/**
 * How load balancers get through to the nodes: a rule in the nodes' security group that lets in whoever has the load balancer's group. All
 * NLBs share one such group, so that a node's group has one rule for them, however many they are; a Classic Load Balancer is let in
 * by its own, as cloud-provider-aws does it.
 */
import { CloudError, sameOwner, type CallContext, type Owner } from '@outrigger/cloud-provider';
import { awsCodeOf } from '../../client/aws-errors.ts';
import type { IpPermission, SecurityGroup, SecurityGroupRule } from '../../client/generated/ec2.ts';
import { pages } from '../../client/pages.ts';
import { tagValue } from '../../cluster/cluster-tags.ts';
import type { BackEndAccess } from '../frame.ts';
import type { Closed } from '../left-out.ts';
import type { Tagged } from '../observe/recent-changes.ts';
import { CLUSTER_TAG, ownerIn, tagList, tagsIn } from '../ownership.ts';
import { authorize, revoke, revokeById } from './change-rules.ts';
import { eachGroup, isRefusal } from './each-group.ts';
import { SHARED_TAG, type GroupLook, type GroupLookOptions } from './group-look.ts';
import { sharedGroupName } from './group-names.ts';
import { HeldGroups } from './held-groups.ts';
import { LoadBalancerRules } from './load-balancer-rules.ts';
import { NodeGroups, type JudgedGroups } from './node-groups.ts';
import type { NodeRules, SeenNodeRules } from './node-rules.ts';
import { describedRulesIn, rulesIn, type DescribedRule, type RuleText } from './rules.ts';

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

export class NodeAccess implements BackEndAccess {
  readonly #options: GroupLookOptions & NodeAccessOptions;
  readonly #nodes: NodeGroups;
  readonly #rules: LoadBalancerRules;
  readonly held: HeldGroups;
  #groups: readonly SecurityGroup[] = [];
  #ofNodes: readonly SecurityGroup[] = [];
  /** `<node group> <source group>`: opened by this process, and when. */
  readonly #opened = new Map<string, number>();
  /** Requests for rules that EC2 has refused since the last look: each port of a Service asks for the same ones. */
  readonly #refused = new Map<string, Error>();
  #sharedId: string | undefined;
  /** When it was seen or made last; monotonic. */
  #sharedAt: number = 0;
  #making: Promise<string> | undefined;
  #releasing: Promise<boolean> | undefined;
  /** Requests under way that give it to something. */
  #users: number = 0;

  constructor(options: NodeAccessOptions) {
    this.#options = { ...options.look.options, ...options };
    const { client, clock, own } = this.#options;
    this.held = new HeldGroups({ client, clock });
    const named = (): readonly string[] => options.config().nodeSecurityGroups;
    this.#nodes = new NodeGroups({ client, clock, named, own });
    this.#rules = new LoadBalancerRules({
      client,
      clock,
      shown: () => this.#ofNodes,
      judge: (instanceIds) => this.#judge(instanceIds),
      allow: (groupId, rules, call) => this.#allow(groupId, rules, call),
      withOwnRules: async (call) => (await this.#ownRules(call)).map(({ GroupId = '' }) => GroupId),
    });
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
    this.#refused.clear();
    this.#groups = (await this.#options.look.groups(call)).map(({ thing }: Tagged<SecurityGroup>) => thing);
    this.#ofNodes = this.#groups.filter(
      ({ Tags }) => tagValue(Tags, CLUSTER_TAG) === undefined && tagValue(Tags, SHARED_TAG) === undefined,
    );
    const seen = this.#groups.find(({ Tags }) => tagValue(Tags, SHARED_TAG) === this.#options.cluster.id)?.GroupId;
    const now = this.#options.clock.monotonic();
    if (seen !== undefined) this.#knowShared(seen);
    // Somebody has deleted it: another one is made where it is needed.
    else if (now - this.#sharedAt >= BELIEVED_MS) this.#sharedId = undefined;
    for (const [key, at] of this.#opened) {
      const isShown = this.#groups.some(({ GroupId }) => key.startsWith(`${GroupId} `));
      if (now - at >= (isShown ? BELIEVED_MS : UNSHOWN_MS)) this.#opened.delete(key);
    }
  }

  /** Makes the shared group where there is none. All who ask meanwhile get one. */
  async ensureShared(call: CallContext): Promise<string> {
    await this.#releasing?.catch(() => {});
    if (this.#sharedId !== undefined) return this.#sharedId;
    this.#making ??= this.#makeShared(call).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async useShared<T>(use: (id: string) => Promise<T>, call: CallContext): Promise<T> {
    this.#users++;
    try {
      return await use(await this.ensureShared(call));
    } finally {
      this.#users--;
    }
  }

  async learn(instanceIds: readonly string[], call: CallContext): Promise<void> {
    if (this.usesShared) await this.#nodes.learn(instanceIds, call);
  }

  async learnRules(instanceIds: readonly string[], call: CallContext): Promise<void> {
    if (!this.usesShared) return;
    await this.#nodes.learn(instanceIds, call);
    await this.#rules.learn(this.#judge(instanceIds).groups.keys(), call);
  }

  /**
   * Whether these instances let the group in, as far as is known: what is not known is for `open` to find out. Pure. Of an instance of which
   * it is not clear by which group, `open` can do nothing, so it does not count.
   */
  isOpen(sourceId: string, instanceIds: readonly string[]): boolean {
    if (!this.usesShared) return true;
    return [...this.#judge(instanceIds).groups.keys()].every((group) => this.#lets(group, sourceId));
  }

  /** Of the groups of a Classic Load Balancer, which AWS shows in any order, those of which nodes let in one: its own, else any. Pure. */
  sourcesOf(groupIds: readonly string[]): readonly string[] {
    const isOwn = ({ GroupId, Tags }: SecurityGroup, id: string): boolean =>
      GroupId === id && tagValue(Tags, CLUSTER_TAG) !== undefined;
    const own = groupIds.find((id) => this.#groups.some((group) => isOwn(group, id)));
    return own === undefined ? groupIds : [own];
  }

  /** Lets the group in to these instances: one rule for each group that they have. */
  async open(sourceId: string, instanceIds: readonly string[], call: CallContext): Promise<Closed | undefined> {
    if (!this.usesShared) return undefined;
    await this.#nodes.learn(instanceIds, call);
    const judged = this.#judge(instanceIds);
    return eachGroup(judged, call, async (group) => {
      if (!this.#lets(group, sourceId)) await this.#authorize(group, sourceId, call);
    });
  }

  /**
   * Whoever of the cluster lets the group in does so no more: before it is deleted, since EC2 keeps what is referred to. Throws `conflict` where
   * others let it in.
   */
  async close(sourceId: string, call: CallContext): Promise<void> {
    const Filters = [{ Name: 'ip-permission.group-id', Values: [sourceId] }];
    const { SecurityGroups = [] } = await this.#options.client.ec2(call, 'DescribeSecurityGroups', { Filters });
    const rules = SecurityGroups.flatMap(({ GroupId = '', IpPermissions }) =>
      GroupId === sourceId
        ? []
        : describedRulesIn(IpPermissions)
            .filter(({ rule }) => rule.endsWith(` ${sourceId}`))
            .map((one) => ({ ...one, GroupId })),
    );
    const others = rules
      .filter((one) => !this.#permissionsOf(one.GroupId) && !one.description.startsWith(DESCRIPTION))
      .map(({ GroupId }) => GroupId);
    if (others.length > 0) {
      const message = `rules of ${[...new Set(others)].join(', ')} let in security group ${sourceId}, which EC2 keeps as long, and are not the cluster's: remove them`;
      throw new CloudError('conflict', message, { effect: 'none' });
    }
    for (const [GroupId, ofGroup] of Map.groupBy(rules, (one) => one.GroupId)) {
      this.#opened.delete(`${GroupId} ${sourceId}`);
      await this.#revoke(
        GroupId,
        ofGroup.map(({ rule }) => rule),
        call,
      );
    }
  }

  /** Rules of this program that let these groups in, which stay: those of others for them are left alone. */
  async withdraw(sourceIds: ReadonlySet<string>, call: CallContext): Promise<void> {
    if (sourceIds.size === 0) return;
    const { client } = this.#options;
    for (const { GroupId = '', ReferencedGroupInfo, SecurityGroupRuleId = '' } of await this.#ownRules(call)) {
      const { GroupId: sourceId = '' } = ReferencedGroupInfo ?? {};
      if (!sourceIds.has(sourceId)) continue;
      // Before it is asked for: the answer may be lost.
      this.#opened.delete(`${GroupId} ${sourceId}`);
      await revokeById(client, GroupId, SecurityGroupRuleId, call);
    }
  }

  /** What groups of nodes have for this NLB itself, as cloud-provider-aws would. `instanceIds`: its targets. Pure. */
  rulesFor(loadBalancer: string, instanceIds: readonly string[]): SeenNodeRules {
    return this.#rules.of(loadBalancer, instanceIds);
  }

  async setRules(
    loadBalancer: string,
    rules: NodeRules,
    instanceIds: readonly string[],
    call: CallContext,
  ): Promise<Closed | undefined> {
    if (!this.usesShared) return undefined;
    await this.#nodes.learn(instanceIds, call);
    return this.#rules.set(loadBalancer, rules, instanceIds, call);
  }

  async spreadRules(
    loadBalancer: string,
    instanceIds: readonly string[],
    call: CallContext,
  ): Promise<Closed | boolean> {
    if (!this.usesShared) return false;
    await this.#nodes.learn(instanceIds, call);
    return this.#rules.spread(loadBalancer, instanceIds, call);
  }

  async clearRules(loadBalancer: string, hadNoGroups: boolean, call: CallContext): Promise<void> {
    if (this.usesShared) await this.#rules.clear(loadBalancer, hadNoGroups, call);
  }

  hasCleared(loadBalancer: string): boolean {
    return this.#rules.hasCleared(loadBalancer);
  }

  hasOwnGroup(owner: Owner): boolean {
    return this.#groups.some(({ Tags }) => sameOwner(ownerIn(tagsIn(Tags)), owner));
  }

  releaseShared(call: CallContext): Promise<boolean> {
    const id = this.#sharedId;
    // Whoever is about to use it has a target group, and with that it goes.
    if (id === undefined || this.#users > 0) return Promise.resolve(true);
    this.#releasing ??= this.#release(id, call).finally(() => {
      this.#releasing = undefined;
    });
    return this.#releasing;
  }

  async #release(id: string, call: CallContext): Promise<boolean> {
    const { client, look } = this.#options;
    if (await this.held.has(id, call)) return false;
    await this.close(id, call);
    try {
      await client.ec2(call, 'DeleteSecurityGroup', { GroupId: id });
    } catch (error) {
      if (awsCodeOf(error) === 'DependencyViolation') return false;
      if (awsCodeOf(error) !== 'InvalidGroup.NotFound') throw error;
    }
    this.#sharedId = undefined;
    look.recent.deleted(id);
    return true;
  }

  /** Of this cluster, wherever they are. */
  #ownRules(call: CallContext): Promise<readonly SecurityGroupRule[]> {
    const { client, cluster } = this.#options;
    const Filters = [{ Name: `tag:${CLUSTER_TAG}`, Values: [cluster.id] }];
    return pages(client.ec2, call, 'DescribeSecurityGroupRules', { Filters, MaxResults: 1_000 });
  }

  #judge(instanceIds: readonly string[]): JudgedGroups {
    return this.#nodes.judge(instanceIds, this.#tagged());
  }

  /** With the cluster's tag, and no load balancer's. */
  #tagged(): ReadonlySet<string> {
    return new Set(this.#ofNodes.map(({ GroupId = '' }) => GroupId));
  }

  #lets(groupId: string, sourceId: string): boolean {
    if (this.#opened.has(`${groupId} ${sourceId}`)) return true;
    return rulesIn(this.#permissionsOf(groupId)).includes(`all ${sourceId}`);
  }

  /** `undefined`: no look shows the group. */
  #permissionsOf(groupId: string): readonly IpPermission[] | undefined {
    const group = this.#groups.find(({ GroupId }) => GroupId === groupId);
    return group && (group.IpPermissions ?? []);
  }

  async #authorize(GroupId: string, sourceId: string, call: CallContext): Promise<void> {
    const { clock, cluster } = this.#options;
    const at = clock.monotonic();
    const description = `${DESCRIPTION} ${cluster.name}`.slice(0, 255);
    await this.#allow(GroupId, [{ rule: `all ${sourceId}`, description }], call);
    this.#opened.set(`${GroupId} ${sourceId}`, at);
  }

  async #allow(GroupId: string, rules: readonly DescribedRule[], call: CallContext): Promise<readonly DescribedRule[]> {
    const { client, cluster } = this.#options;
    const key = JSON.stringify([GroupId, rules]);
    const known = this.#refused.get(key);
    if (known) throw known;
    try {
      return await authorize(client, GroupId, rules, call, { [CLUSTER_TAG]: cluster.id });
    } catch (error) {
      if (isRefusal(error) && !call.signal.aborted) this.#refused.set(key, error);
      throw error;
    }
  }

  #revoke(GroupId: string, rules: readonly RuleText[], call: CallContext): Promise<void> {
    return revoke(this.#options.client, GroupId, rules, call);
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
      this.#knowShared(GroupId);
      return GroupId;
    } catch (error) {
      if (awsCodeOf(error) !== 'InvalidGroup.Duplicate') throw error;
      return this.#sharedByName(GroupName, known.vpcId, call);
    }
  }

  #knowShared(id: string): void {
    this.#sharedId = id;
    this.#sharedAt = this.#options.clock.monotonic();
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
    this.#knowShared(id);
    return id;
  }
}
