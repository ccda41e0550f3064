/** Security groups with their rules: duplicates, limits, and what still depends on a group. */
import type { Operations } from '../../src/client/generated/ec2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { SecurityGroup, SecurityGroupRule } from '../things.ts';
import { described, page, tagList, type FilterTable } from './describe.ts';
import { canonicalRange } from './ip-range.ts';
import { specifiedTags } from './tags.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];
type Permission = NonNullable<Input<'AuthorizeSecurityGroupIngress'>['IpPermissions']>[number];
type NewRule = Omit<SecurityGroupRule, 'id' | 'tags'>;

const DESCRIPTION = /^[\w .:/()#,@[\]+=&;{}!$*-]{0,255}$/u;
const PROTOCOLS: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '1': 'icmp', '58': 'icmpv6' };

function groupFilters(rules: ReadonlyMap<string, readonly SecurityGroupRule[]>): FilterTable<SecurityGroup> {
  const ingress = ({ id }: SecurityGroup): readonly SecurityGroupRule[] =>
    (rules.get(id) ?? []).filter(({ isEgress }) => !isEgress);
  return {
    description: ({ description }) => [description],
    'group-id': ({ id }) => [id],
    'group-name': ({ name }) => [name],
    'vpc-id': ({ vpcId }) => [vpcId],
    'ip-permission.group-id': (group) => ingress(group).map(({ referencedGroupId }) => referencedGroupId),
    'ip-permission.cidr': (group) => ingress(group).map(({ ipv4 }) => ipv4),
  };
}

const ruleFilters: FilterTable<SecurityGroupRule> = {
  'group-id': ({ groupId }) => [groupId],
  'security-group-rule-id': ({ id }) => [id],
};

export const securityGroupOperations = {
  DescribeSecurityGroups: (input: Input<'DescribeSecurityGroups'>, account: AwsAccount): object => {
    const rules = Map.groupBy(account.rules.list(), ({ groupId }) => groupId);
    const kind = {
      store: account.groups,
      filters: groupFilters(rules),
      errors: 'InvalidGroup',
      malformed: 'InvalidGroupId.Malformed',
      prefix: 'sg',
      noun: 'security group',
    };
    if (input.GroupNames) throw refused('InvalidParameterValue', 'Group names are only supported for the default VPC');
    const { items, next } = page(described(kind, input.GroupIds, input), input);
    return { SecurityGroups: items.map((group) => groupView(account, group, rules.get(group.id) ?? [])), ...next };
  },

  DescribeSecurityGroupRules: (input: Input<'DescribeSecurityGroupRules'>, account: AwsAccount): object => {
    const kind = {
      store: account.rules,
      filters: ruleFilters,
      errors: 'InvalidSecurityGroupRuleId',
      prefix: 'sgr',
      noun: 'security group rule ID',
    };
    const { items, next } = page(described(kind, input.SecurityGroupRuleIds, input), input);
    return { SecurityGroupRules: items.map((rule) => ruleView(account, rule)), ...next };
  },

  CreateSecurityGroup: (input: Input<'CreateSecurityGroup'>, account: AwsAccount): object => {
    const { Description: description, GroupName: name, TagSpecifications: tagSpecifications, VpcId: vpcId } = input;
    if (vpcId === undefined) throw refused('VPCIdNotSpecified', 'No default VPC for this user');
    if (!account.vpcs.get(vpcId)) throw refused('InvalidVpcID.NotFound', `The vpc ID '${vpcId}' does not exist`);
    if (name.startsWith('sg-')) throw refused('InvalidParameterValue', 'Group names may not be in the format sg-*.');
    if (!DESCRIPTION.test(name)) throw refused('InvalidParameterValue', 'Invalid security group name');
    if (description === '' || !DESCRIPTION.test(description))
      throw refused('InvalidParameterValue', 'Invalid security group description');
    if (account.groups.all().some((group) => group.vpcId === vpcId && group.name === name)) {
      throw refused('InvalidGroup.Duplicate', `The security group '${name}' already exists for VPC '${vpcId}'`);
    }
    const tags = specifiedTags(tagSpecifications, 'security-group');
    const group = { id: account.newId('sg'), vpcId, name, description, tags };
    account.groups.put(group);
    account.rules.put({
      id: account.newId('sgr'),
      groupId: group.id,
      isEgress: true,
      protocol: '-1',
      from: -1,
      to: -1,
      ipv4: '0.0.0.0/0',
      description: undefined,
      tags: {},
    });
    return { GroupId: group.id, Tags: tagList(tags), SecurityGroupArn: groupArn(account, group.id) };
  },

  DeleteSecurityGroup: (input: Input<'DeleteSecurityGroup'>, account: AwsAccount): object => {
    const group = existing(account, input.GroupId);
    const usedBy = account.liveInterfaces().find(({ groupIds }) => groupIds.includes(group.id));
    const namedBy = account.rules
      .all()
      .find(({ groupId, referencedGroupId }) => referencedGroupId === group.id && groupId !== group.id);
    if (usedBy || namedBy) throw refused('DependencyViolation', `resource ${group.id} has a dependent object`);
    if (group.name === 'default')
      throw refused('CannotDelete', `the specified group: "${group.id}" name: "default" cannot be deleted by a user`);
    for (const { groupId, id } of account.rules.all()) if (groupId === group.id) account.rules.remove(id);
    account.groups.remove(group.id);
    return { Return: true, GroupId: group.id };
  },

  AuthorizeSecurityGroupIngress: (input: Input<'AuthorizeSecurityGroupIngress'>, account: AwsAccount): object => {
    const group = existing(account, input.GroupId);
    const tags = specifiedTags(input.TagSpecifications, 'security-group-rule');
    const wanted = permissionsOf(input).flatMap((permission) => rulesOf(account, group, permission));
    const had = account.rules.all().filter(({ groupId, isEgress }) => groupId === group.id && !isEgress);
    const keys = new Set(had.map(keyOf));
    for (const rule of wanted) {
      if (keys.has(keyOf(rule)))
        throw refused('InvalidPermission.Duplicate', `the specified rule "${keyOf(rule)}, ALLOW" already exists`);
      keys.add(keyOf(rule));
    }
    for (const [other, what] of [
      ['ipv6', 'IPv4'],
      ['ipv4', 'IPv6'],
    ] as const) {
      const count = [...had, ...wanted].filter((rule) => rule[other] === undefined).length;
      // https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
      if (count > account.knobs.mostRules) {
        throw refused(
          'RulesPerSecurityGroupLimitExceeded',
          `The maximum number of ${what} rules per security group has been reached.`,
        );
      }
    }
    const made = wanted.map((rule) => ({ ...rule, id: account.newId('sgr'), tags }));
    for (const rule of made) account.rules.put(rule);
    return { Return: true, SecurityGroupRules: made.map((rule) => ruleView(account, rule)) };
  },

  RevokeSecurityGroupIngress: (input: Input<'RevokeSecurityGroupIngress'>, account: AwsAccount): object => {
    const group = existing(account, input.GroupId);
    const { SecurityGroupRuleIds: ids } = input;
    const had = account.rules.all().filter(({ groupId, isEgress }) => groupId === group.id && !isEgress);
    const revoked = ids
      ? ids.map((id) => ruleById(had, id))
      : permissionsOf(input).flatMap((permission) =>
          rulesOf(account, group, permission).map((rule) => {
            const found = had.find((one) => keyOf(one) === keyOf(rule));
            if (found) return found;
            throw refused('InvalidPermission.NotFound', 'The specified rule does not exist in this security group.');
          }),
        );
    for (const { id } of revoked) account.rules.remove(id);
    return {
      Return: true,
      RevokedSecurityGroupRules: revoked.map(
        ({ description, from, groupId, id, ipv4, ipv6, protocol, referencedGroupId, to }) => ({
          SecurityGroupRuleId: id,
          GroupId: groupId,
          IsEgress: false,
          IpProtocol: protocol,
          FromPort: from,
          ToPort: to,
          ...(ipv4 !== undefined && { CidrIpv4: ipv4 }),
          ...(ipv6 !== undefined && { CidrIpv6: ipv6 }),
          ...(referencedGroupId !== undefined && { ReferencedGroupId: referencedGroupId }),
          ...(description !== undefined && { Description: description }),
        }),
      ),
    };
  },
};

function existing(account: AwsAccount, id: string | undefined): SecurityGroup {
  if (id === undefined)
    throw refused('MissingParameter', 'The request must contain the parameter groupName or groupId');
  const group = account.knobs.writesLag ? account.groups.seen(id) : account.groups.get(id);
  if (group) return group;
  throw refused('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
}

function ruleById(had: readonly SecurityGroupRule[], id: string): SecurityGroupRule {
  const rule = had.find((one) => one.id === id);
  if (rule) return rule;
  throw refused('InvalidSecurityGroupRuleId.NotFound', `The security group rule ID '${id}' does not exist`);
}

function permissionsOf(
  input: Input<'AuthorizeSecurityGroupIngress'> | Input<'RevokeSecurityGroupIngress'>,
): readonly Permission[] {
  const { CidrIp: cidr, FromPort: from, IpPermissions: permissions, IpProtocol: protocol, ToPort: to } = input;
  if (permissions && permissions.length > 0) return permissions;
  if (cidr === undefined) throw refused('MissingParameter', 'The request must contain the parameter ipPermissions');
  return [
    {
      IpRanges: [{ CidrIp: cidr }],
      ...(protocol !== undefined && { IpProtocol: protocol }),
      ...(from !== undefined && { FromPort: from }),
      ...(to !== undefined && { ToPort: to }),
    },
  ];
}

function rulesOf(account: AwsAccount, group: SecurityGroup, permission: Permission): readonly NewRule[] {
  const {
    FromPort: from = -1,
    IpProtocol: given = '',
    IpRanges: ipv4 = [],
    Ipv6Ranges: ipv6 = [],
    PrefixListIds: lists = [],
    ToPort: to = -1,
    UserIdGroupPairs: pairs = [],
  } = permission;
  const protocol = PROTOCOLS[given] ?? given;
  if (!/^(?:-1|tcp|udp|icmp|icmpv6|\d+)$/u.test(protocol))
    throw refused('InvalidParameterValue', `Invalid value '${given}' for IP protocol. Unknown protocol.`);
  if (['tcp', 'udp'].includes(protocol) && !(from >= 0 && from <= to && to <= 65_535)) {
    throw refused('InvalidParameterValue', `Invalid value for portRange. Must be between 0 and 65535: ${from}-${to}`);
  }
  // All protocols means all ports, whatever is given (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_IpPermission.html).
  const ports = protocol === '-1' ? { from: -1, to: -1 } : { from, to };
  const base = (
    description: string | undefined,
  ): Pick<NewRule, 'groupId' | 'isEgress' | 'protocol' | 'from' | 'to' | 'description'> => {
    if (description !== undefined && !DESCRIPTION.test(description)) {
      throw refused('InvalidParameterValue', `Invalid rule description: ${description}`);
    }
    return { groupId: group.id, isEgress: false, protocol, ...ports, description };
  };
  const rules: readonly NewRule[] = [
    ...ipv4.map(({ CidrIp: cidr, Description: description }) => ({
      ...base(description),
      ipv4: rangeOf(cidr, 'ipv4'),
    })),
    ...ipv6.map(({ CidrIpv6: cidr, Description: description }) => ({
      ...base(description),
      ipv6: rangeOf(cidr, 'ipv6'),
    })),
    ...lists.map(({ Description: description, PrefixListId: prefixListId }) => ({
      ...base(description),
      prefixListId,
    })),
    ...pairs.map(({ Description: description, GroupId: id = '' }) => {
      const other = account.groups.get(id);
      if (!other) throw refused('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
      if (other.vpcId !== group.vpcId) {
        const message = 'You have specified two resources that belong to different networks.';
        throw refused('InvalidGroup.NotFound', message);
      }
      return { ...base(description), referencedGroupId: id };
    }),
  ];
  if (rules.length === 0) throw refused('InvalidParameterValue', 'A permission names no source');
  return rules;
}

function rangeOf(cidr: string | undefined, family: 'ipv4' | 'ipv6'): string {
  const range = cidr === undefined ? undefined : canonicalRange(cidr, family);
  if (range === undefined) throw refused('InvalidParameterValue', `CIDR block ${cidr ?? ''} is malformed`);
  return range;
}

/** The description is no part of it. */
function keyOf({ from, ipv4, ipv6, prefixListId, protocol, referencedGroupId, to }: NewRule): string {
  const peer = ipv4 ?? ipv6 ?? prefixListId ?? referencedGroupId ?? '';
  return `peer: ${peer}, ${protocol.toUpperCase()}, from port: ${from}, to port: ${to}`;
}

function groupArn({ accountId, region }: AwsAccount, id: string): string {
  return `arn:aws:ec2:${region}:${accountId}:security-group/${id}`;
}

function groupView(
  account: AwsAccount,
  { description, id, name, tags, vpcId }: SecurityGroup,
  rules: readonly SecurityGroupRule[],
): object {
  return {
    GroupId: id,
    GroupName: name,
    Description: description,
    OwnerId: account.accountId,
    VpcId: vpcId,
    SecurityGroupArn: groupArn(account, id),
    IpPermissions: permissionViews(
      account,
      rules.filter(({ isEgress }) => !isEgress),
    ),
    IpPermissionsEgress: permissionViews(
      account,
      rules.filter(({ isEgress }) => isEgress),
    ),
    Tags: tagList(tags),
  };
}

/** One permission for all sources of a protocol and a range of ports. */
function permissionViews(account: AwsAccount, rules: readonly SecurityGroupRule[]): readonly object[] {
  const groups = Map.groupBy(rules, ({ from, protocol, to }) => `${protocol}/${from}/${to}`);
  return [...groups.values()].map((same) => {
    const [{ from, protocol, to } = { from: -1, protocol: '-1', to: -1 }] = same;
    const described = ({ description }: SecurityGroupRule): object =>
      description === undefined ? {} : { Description: description };
    return {
      IpProtocol: protocol,
      ...(protocol !== '-1' && { FromPort: from, ToPort: to }),
      IpRanges: same.flatMap((rule) => (rule.ipv4 === undefined ? [] : [{ CidrIp: rule.ipv4, ...described(rule) }])),
      Ipv6Ranges: same.flatMap((rule) =>
        rule.ipv6 === undefined ? [] : [{ CidrIpv6: rule.ipv6, ...described(rule) }],
      ),
      PrefixListIds: same.flatMap((rule) =>
        rule.prefixListId === undefined ? [] : [{ PrefixListId: rule.prefixListId, ...described(rule) }],
      ),
      UserIdGroupPairs: same.flatMap((rule) =>
        rule.referencedGroupId === undefined
          ? []
          : [{ GroupId: rule.referencedGroupId, UserId: account.accountId, ...described(rule) }],
      ),
    };
  });
}

function ruleView(account: AwsAccount, rule: SecurityGroupRule): object {
  const { description, from, groupId, id, ipv4, ipv6, isEgress, prefixListId, protocol, referencedGroupId, tags, to } =
    rule;
  return {
    SecurityGroupRuleId: id,
    GroupId: groupId,
    GroupOwnerId: account.accountId,
    IsEgress: isEgress,
    IpProtocol: protocol,
    FromPort: from,
    ToPort: to,
    ...(ipv4 !== undefined && { CidrIpv4: ipv4 }),
    ...(ipv6 !== undefined && { CidrIpv6: ipv6 }),
    ...(prefixListId !== undefined && { PrefixListId: prefixListId }),
    ...(referencedGroupId !== undefined && {
      ReferencedGroupInfo: { GroupId: referencedGroupId, UserId: account.accountId },
    }),
    ...(description !== undefined && { Description: description }),
    Tags: tagList(tags),
  };
}
