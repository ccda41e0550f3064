/** As much of EC2 as security groups need: rules, references, what is in use. */
import { CloudError } from '@outrigger/cloud-provider';
import type { IpPermission, SecurityGroup, Tag } from '../../client/generated/ec2.ts';
import { scriptedAws, type ScriptedAws } from '../scripted-aws.suite.ts';
import { describedRulesIn, permissionOf, type RuleText } from './rules.ts';

interface Group {
  readonly id: string;
  readonly name: string;
  readonly tags: Map<string, string>;
  /** With its description. */
  readonly rules: Map<RuleText, string>;
}

/** What `awsCodeOf` reads of an error of AWS. */
function awsError(code: string, message: string = code): Error {
  return Object.assign(new CloudError('conflict', `${code}: ${message}`), { apiCode: code });
}

export class Ec2Groups {
  readonly groups: Map<string, Group> = new Map();
  /** Groups of instances, by ID. */
  readonly instances: Map<string, readonly string[]> = new Map();
  /** Instances without the cluster's tag. */
  readonly untagged: Set<string> = new Set();
  /** VPCs of instances that are in another one. */
  readonly elsewhere: Map<string, string> = new Map();
  /** Groups that take no rule. */
  readonly full: Set<string> = new Set();
  /** Groups that network interfaces of load balancers have. */
  readonly inUse: Set<string> = new Set();
  /** Operations that the account may not use. */
  readonly mayNotRead: Set<string> = new Set();
  most: number = 60;
  readonly client: ScriptedAws = scriptedAws({
    CreateSecurityGroup: ({ GroupName, TagSpecifications }) => {
      if ([...this.groups.values()].some(({ name }) => name === GroupName)) throw awsError('InvalidGroup.Duplicate');
      const [{ Tags = [] } = {}] = TagSpecifications as readonly { readonly Tags?: readonly Tag[] }[];
      const tags = Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
      return { GroupId: this.put(String(GroupName), tags) };
    },
    DescribeSecurityGroups: ({ Filters, GroupIds }) => {
      const asked = GroupIds as readonly string[] | undefined;
      const gone = asked?.find((id) => !this.groups.has(id));
      if (gone !== undefined) throw awsError('InvalidGroup.NotFound', gone);
      const filters = (Filters ?? []) as readonly { readonly Name: string; readonly Values: readonly string[] }[];
      const found = [...this.groups.values()].filter(
        (group) =>
          (asked?.includes(group.id) ?? true) && filters.every(({ Name, Values }) => fits(group, Name, Values)),
      );
      return { SecurityGroups: found.map(shown) };
    },
    AuthorizeSecurityGroupIngress: ({ GroupId, IpPermissions }) => {
      const { rules } = this.#group(GroupId);
      const added = texts(IpPermissions);
      if (added.some(([rule]) => rules.has(rule))) throw awsError('InvalidPermission.Duplicate');
      if (rules.size + added.length > this.most || this.full.has(String(GroupId)))
        throw awsError('RulesPerSecurityGroupLimitExceeded');
      for (const [rule, description] of added) rules.set(rule, description);
      return { Return: true };
    },
    RevokeSecurityGroupIngress: ({ GroupId, IpPermissions }) => {
      const { rules } = this.#group(GroupId);
      const removed = texts(IpPermissions).map(([rule]) => rule);
      if (removed.some((rule) => !rules.has(rule))) throw awsError('InvalidPermission.NotFound');
      for (const rule of removed) rules.delete(rule);
      return { Return: true };
    },
    DeleteSecurityGroup: ({ GroupId }) => {
      const { id } = this.#group(GroupId);
      const isReferred = [...this.groups.values()].some(({ rules }) =>
        [...rules.keys()].some((rule) => rule.endsWith(id)),
      );
      if (this.inUse.has(id) || isReferred) throw awsError('DependencyViolation');
      this.groups.delete(id);
      return {};
    },
    CreateTags: ({ Resources, Tags }) => {
      for (const id of Resources as readonly string[]) {
        for (const { Key = '', Value = '' } of Tags as readonly Tag[]) this.#group(id).tags.set(Key, Value);
      }
      return {};
    },
    DeleteTags: ({ Resources, Tags }) => {
      for (const id of Resources as readonly string[]) {
        for (const { Key = '' } of Tags as readonly Tag[]) this.#group(id).tags.delete(Key);
      }
      return {};
    },
    DescribeInstances: ({ InstanceIds }) => {
      const ids = InstanceIds as readonly string[];
      const gone = ids.filter((id) => !this.instances.has(id));
      if (gone.length > 0) throw awsError('InvalidInstanceID.NotFound', gone.join(', '));
      const Instances = ids.map((InstanceId) => ({
        InstanceId,
        VpcId: this.elsewhere.get(InstanceId) ?? 'vpc-1',
        Tags: this.untagged.has(InstanceId) ? [] : [{ Key: 'kubernetes.io/cluster/c1', Value: 'owned' }],
        SecurityGroups: this.instances.get(InstanceId)?.map((GroupId) => ({ GroupId })),
      }));
      return { Reservations: [{ Instances }] };
    },
    DescribeNetworkInterfaces: ({ Filters }) => {
      if (this.mayNotRead.has('DescribeNetworkInterfaces')) throw awsError('UnauthorizedOperation');
      const [{ Values }] = Filters as readonly [{ readonly Values: readonly string[] }];
      const held = Values.filter((id) => this.inUse.has(id));
      return { NetworkInterfaces: held.map((GroupId) => ({ Groups: [{ GroupId }] })) };
    },
  });

  /** Of these operations, with what they were asked. */
  calls(...operations: readonly string[]): readonly string[] {
    return this.client.calls
      .map(({ operation }) => operation)
      .filter((one) => operations.length === 0 || operations.includes(one));
  }

  put(
    name: string,
    tags: Readonly<Record<string, string>> = {},
    rules: Readonly<Record<RuleText, string>> = {},
  ): string {
    const id = `sg-${(this.groups.size + 1).toString(16).padStart(8, '0')}`;
    this.groups.set(id, { id, name, tags: new Map(Object.entries(tags)), rules: new Map(Object.entries(rules)) });
    return id;
  }

  rules(id: string): readonly RuleText[] {
    return [...(this.groups.get(id)?.rules.keys() ?? [])].toSorted();
  }

  #group(id: unknown): Group {
    const group = this.groups.get(String(id));
    if (!group) throw awsError('InvalidGroup.NotFound', String(id));
    return group;
  }
}

function fits({ id, name, rules, tags }: Group, filter: string, values: readonly string[]): boolean {
  if (filter === 'vpc-id') return values.includes('vpc-1');
  if (filter === 'group-id') return values.includes(id);
  if (filter === 'tag-key') return values.some((key) => tags.has(key));
  if (filter === 'group-name') return values.includes(name);
  if (filter === 'ip-permission.group-id')
    return [...rules.keys()].some((rule) => values.some((source) => rule.endsWith(source)));
  throw new Error(`the filter ${filter} was not expected`);
}

function shown({ id, name, rules, tags }: Group): SecurityGroup {
  return {
    GroupId: id,
    GroupName: name,
    Tags: [...tags].map(([Key, Value]) => ({ Key, Value })),
    IpPermissions: [...rules].map(([rule, description]) => permissionOf(rule, description)),
  };
}

function texts(permissions: unknown): readonly (readonly [RuleText, string])[] {
  return describedRulesIn(permissions as readonly IpPermission[]).map(({ description, rule }) => [rule, description]);
}
