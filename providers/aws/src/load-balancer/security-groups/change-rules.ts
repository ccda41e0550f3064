/** Rules into security groups and out of them; what is so already is no error. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { awsCodeOf } from '../../client/aws-errors.ts';
import { tagList, type Tags } from '../ownership.ts';
import { permissionOf, type DescribedRule, type RuleText } from './rules.ts';

const NO_RULE = 'InvalidPermission.NotFound';
const GONE = [NO_RULE, 'InvalidSecurityGroupRuleId.NotFound', 'InvalidGroup.NotFound'];

/** `tags`: of the rules. Default: none. Gives back those that were not there yet. Rejects with `quota` where the group is full. */
export async function authorize<Rule extends Pick<DescribedRule, 'rule'> & Partial<DescribedRule>>(
  client: Pick<AwsClient, 'ec2'>,
  GroupId: string,
  rules: readonly Rule[],
  call: CallContext,
  tags?: Tags,
): Promise<readonly Rule[]> {
  if (rules.length === 0) return [];
  try {
    await client.ec2(call, 'AuthorizeSecurityGroupIngress', {
      GroupId,
      IpPermissions: rules.map(({ description, rule }) => permissionOf(rule, description)),
      ...(tags && { TagSpecifications: [{ ResourceType: 'security-group-rule', Tags: tagList(tags) }] }),
    });
    return rules;
  } catch (error) {
    const code = awsCodeOf(error);
    if (code === 'RulesPerSecurityGroupLimitExceeded') throw fullGroup(GroupId, rules.length, error);
    if (code !== 'InvalidPermission.Duplicate') throw error;
    // One of them is there already, and EC2 has taken none.
    const added: Rule[] = [];
    if (rules.length > 1)
      for (const rule of rules) added.push(...(await authorize(client, GroupId, [rule], call, tags)));
    return added;
  }
}

/** A look may be behind: what is left the next one shows. */
export async function revoke(
  client: Pick<AwsClient, 'ec2'>,
  GroupId: string,
  rules: readonly RuleText[],
  call: CallContext,
): Promise<void> {
  if (rules.length === 0) return;
  const IpPermissions = rules.map((rule) => permissionOf(rule));
  const code = await unlessGone(client.ec2(call, 'RevokeSecurityGroupIngress', { GroupId, IpPermissions }));
  // One of them is gone already, and EC2 has taken none.
  if (code === NO_RULE && rules.length > 1) for (const rule of rules) await revoke(client, GroupId, [rule], call);
}

export async function revokeById(
  { ec2 }: Pick<AwsClient, 'ec2'>,
  GroupId: string,
  ruleId: string,
  call: CallContext,
): Promise<void> {
  await unlessGone(ec2(call, 'RevokeSecurityGroupIngress', { GroupId, SecurityGroupRuleIds: [ruleId] }));
}

/** That a rule is gone is no word about what it was for: who removes a load balancer would take it for gone. By what code EC2 has said so. */
async function unlessGone(revoked: Promise<unknown>): Promise<string | undefined> {
  try {
    await revoked;
    return undefined;
  } catch (error) {
    const code = awsCodeOf(error) ?? '';
    if (!GONE.includes(code)) throw error;
    return code;
  }
}

function fullGroup(groupId: string, count: number, cause: unknown): CloudError {
  const message = `security group ${groupId} is full, and ${count} more would be needed (AWS allows 60 rules of a family unless raised): ask for fewer ports or source ranges, remove other rules, or raise the quota "Inbound or outbound rules per security group"`;
  return new CloudError('quota', message, { cause });
}
