/** The security group that a load balancer has for itself: who may reach its ports. A part like any other. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import type { Begun, ListedPart, PartKind } from '@outrigger/provider-kit';
import { awsCodeOf } from '../../client/aws-errors.ts';
import type { SecurityGroup } from '../../client/generated/ec2.ts';
import { LOAD_BALANCER, SECURITY_GROUP, type KindSetup } from '../frame.ts';
import { loadBalancerName } from '../names.ts';
import { hasNoGroups, readSurely } from '../nlb/nlb-setup.ts';
import type { Tagged } from '../observe/recent-changes.ts';
import { Tagging, type TagCalls } from '../observe/tagging.ts';
import { hasTags, isOfOthers, ownerIn, tagList, tagsFor, tagsIn, type Tags } from '../ownership.ts';
import { authorize, revoke } from './change-rules.ts';
import { SHARED_TAG, type GroupLook } from './group-look.ts';
import { classicGroupName, nlbGroupName } from './group-names.ts';
import type { NodeAccess } from './node-access.ts';
import { permissionOf, rulesIn, rulesOf, type RuleText } from './rules.ts';

export interface SecurityGroupSetup extends Pick<KindSetup, 'client' | 'facts' | 'inUse' | 'settingsOf'> {
  readonly look: GroupLook;
  readonly access: NodeAccess;
}

interface GroupAttributes extends Readonly<Record<string, unknown>> {
  readonly rules: readonly RuleText[];
  /** Those that the Service asks for; of a group that is there, all. */
  readonly tags: Tags;
  /** Of a group that is there. */
  readonly name?: string;
}

const isDependency = (error: unknown): boolean => awsCodeOf(error) === 'DependencyViolation';
/** Each family has a quota of its own. */
const isIPv6 = (rule: RuleText): boolean => rule.includes(':');
const GROUP_ID = /^sg-[0-9a-f]+$/u;

export function securityGroupKind(setup: SecurityGroupSetup): PartKind {
  return new SecurityGroupKind(setup);
}

class SecurityGroupKind implements PartKind {
  readonly kind = SECURITY_GROUP;
  readonly compare = { tags: (there: unknown, wanted: unknown): boolean => hasTags(there as Tags, wanted as Tags) };
  readonly #setup: SecurityGroupSetup;
  readonly #tagging: Tagging;

  constructor(setup: SecurityGroupSetup) {
    this.#setup = setup;
    const { ec2 } = setup.client;
    const calls: TagCalls = {
      read: async (id, call) => {
        const { SecurityGroups = [] } = await ec2(call, 'DescribeSecurityGroups', { GroupIds: [id] });
        return tagsIn(SecurityGroups[0]?.Tags);
      },
      set: (id, Tags, call) => ec2(call, 'CreateTags', { Resources: [id], Tags }),
      remove: (id, keys, call) => ec2(call, 'DeleteTags', { Resources: [id], Tags: keys.map((Key) => ({ Key })) }),
    };
    this.#tagging = new Tagging(calls, setup.look.recent);
  }

  readonly wanted: PartKind['wanted'] = (desired, there) => {
    const settings = this.#setup.settingsOf(desired);
    if (settings.groups.named.length > 0) return [];
    if (settings.type === 'nlb' && hasNoGroups(there(LOAD_BALANCER)?.attributes)) return [];
    return [{ attributes: { rules: rulesOf(settings), tags: settings.tags } satisfies GroupAttributes }];
  };

  readonly isPredecessors: NonNullable<PartKind['isPredecessors']> = ({ attributes }, service) =>
    this.#namesFor(service).includes(String(attributes['name']));

  /** One of the AWS Load Balancer Controller is not taken over, whatever its name is. */
  readonly list: PartKind['list'] = async (call) => {
    const groups = await this.#setup.look.groups(call);
    const mayBeOurs = groups.filter(({ tags }) => !isOfOthers(tags));
    return mayBeOurs.flatMap((group) => this.#partOf(group) ?? []);
  };

  readonly read: NonNullable<PartKind['read']> = async (id, call) => {
    const { client, look } = this.#setup;
    if (!GROUP_ID.test(id)) throw new CloudError('invalid', `${SECURITY_GROUP}: this is no ID of one`);
    const group = await readSurely(id, look.recent.isYoung(id), async () => {
      const { SecurityGroups } = await client.ec2(call, 'DescribeSecurityGroups', { GroupIds: [id] });
      return SecurityGroups;
    });
    const part = this.#partOf({ thing: group, tags: look.recent.tagsOf(id, tagsIn(group.Tags)) });
    if (part) return part;
    throw new CloudError('invalid', `security group ${id} is shared by all load balancers of a cluster`);
  };

  readonly create: PartKind['create'] = async ({ attributes, desired, owner }, call) => {
    const { rules, tags: additional } = attributes as GroupAttributes;
    const { client, facts, look, settingsOf } = this.#setup;
    const { service } = desired;
    const { clusterTags, vpcId: VpcId } = facts();
    const [forClassic, forNlb] = this.#namesFor(service);
    const isNlb = settingsOf(desired).type === 'nlb';
    const GroupName = isNlb ? forNlb : forClassic;
    const description = isNlb
      ? '[k8s] Managed SecurityGroup for LoadBalancer'
      : `Security group for Kubernetes ELB ${loadBalancerName(service.uid)} (${service.namespace}/${service.name})`;
    const tags = tagsFor({ owner, service, clusterTags, additional });
    const { GroupId: id } = await client.ec2(call, 'CreateSecurityGroup', {
      GroupName,
      Description: description.slice(0, 255),
      VpcId,
      TagSpecifications: [{ ResourceType: 'security-group', Tags: tagList(tags) }],
    });
    if (id === undefined) throw new CloudError('unavailable', 'CreateSecurityGroup: the answer names no group');
    let IpPermissions = rules.map((rule) => permissionOf(rule));
    try {
      await this.#authorize(id, rules, call);
    } catch {
      // EC2 may not know the group everywhere yet; the next look finds it without rules, and says what is wrong with them.
      IpPermissions = [];
    }
    look.recent.created(id, { GroupId: id, GroupName, IpPermissions }, tags);
    return { id };
  };

  readonly update: NonNullable<PartKind['update']> = async (id, { attributes, changed }, call) => {
    const { rules, tags } = attributes as GroupAttributes;
    if (changed.includes('tags')) await this.#tagging.follow(id, tags, call);
    if (changed.includes('rules')) await this.#setRules(id, rules, call);
  };

  readonly claim: NonNullable<PartKind['claim']> = (id, owner, call) => this.#tagging.claim(id, owner, call);

  /** EC2 keeps a group that network interfaces have, of a load balancer for minutes, and one that rules refer to: those are looked for then. */
  readonly delete: PartKind['delete'] = async (id, call): Promise<Begun | void> => {
    const { access, client, inUse, look } = this.#setup;
    const remove = (): Promise<unknown> => client.ec2(call, 'DeleteSecurityGroup', { GroupId: id });
    // Who may not ask, or has no answer, learns it from the deletion: then it may be a load balancer's still, which nodes have to let in.
    const held = await access.held.has(id, call).catch(asError);
    if (held === true) return inUse.securityGroup(id);
    try {
      await remove().catch(async (error: unknown) => {
        if (!isDependency(error) || held) throw error;
        await access.close(id, call);
        await remove();
      });
    } catch (error) {
      if (!isDependency(error)) throw error;
      return inUse.securityGroup(id, held || asError(error));
    }
    look.recent.deleted(id);
  };

  /**
   * New ones first: nobody who stays is shut out in between. Of a group that is too full for both, the old ones have to go before, and go
   * when it is known that the new ones fit: as many as come beyond their number are asked for beside them.
   */
  async #setRules(id: string, rules: readonly RuleText[], call: CallContext): Promise<void> {
    const { ec2 } = this.#setup.client;
    const { SecurityGroups = [] } = await ec2(call, 'DescribeSecurityGroups', { GroupIds: [id] });
    const there = rulesIn(SecurityGroups[0]?.IpPermissions);
    const missing = rules.filter((rule) => !there.includes(rule));
    const extra = there.filter((rule) => !rules.includes(rule));
    try {
      await this.#authorize(id, missing, call);
      await this.#revoke(id, extra, call);
    } catch (error) {
      if (!isCloudError(error, 'quota') || extra.length === 0) throw error;
      const beyond = [isIPv6, (rule: RuleText) => !isIPv6(rule)].flatMap((isOf) =>
        missing.filter(isOf).slice(extra.filter(isOf).length),
      );
      await this.#authorize(id, beyond, call);
      await this.#revoke(id, extra, call);
      await this.#authorize(
        id,
        missing.filter((rule) => !beyond.includes(rule)),
        call,
      );
    }
  }

  async #authorize(id: string, rules: readonly RuleText[], call: CallContext): Promise<void> {
    await authorize(
      this.#setup.client,
      id,
      rules.map((rule) => ({ rule })),
      call,
    );
  }

  #revoke(id: string, rules: readonly RuleText[], call: CallContext): Promise<void> {
    return revoke(this.#setup.client, id, rules, call);
  }

  #namesFor(service: LoadBalancerService): readonly [classic: string, nlb: string] {
    return [classicGroupName(service), nlbGroupName(service, this.#setup.look.options.cluster.name)];
  }

  #partOf({ tags, thing }: Tagged<SecurityGroup>): ListedPart | undefined {
    const { GroupId: id, GroupName: name = '', IpPermissions } = thing;
    if (id === undefined || SHARED_TAG in tags) return undefined;
    return { id, owner: ownerIn(tags), state: 'ready', attributes: { name, rules: rulesIn(IpPermissions), tags } };
  }
}
