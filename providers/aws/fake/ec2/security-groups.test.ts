import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  EC2Client,
  RevokeSecurityGroupIngressCommand,
  type IpPermission,
} from '@aws-sdk/client-ec2';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws, type FakeAws } from '../fake-aws.ts';
import { sdkOptions } from '../sdk-options.suite.ts';

interface Rig {
  readonly aws: FakeAws;
  readonly ec2: EC2Client;
  readonly nodeGroupId: string;
  /** Its ID. */
  readonly create: (name: string) => Promise<string>;
  readonly open: (GroupId: string, ...permissions: readonly IpPermission[]) => Promise<unknown>;
}

function rigOf(): Rig {
  const aws = createFakeAws({ clock: new FakeClock() });
  const { nodeGroupId, vpcId } = aws.seedCluster();
  const ec2 = new EC2Client(sdkOptions(aws));
  return {
    aws,
    ec2,
    nodeGroupId,
    create: async (name) => {
      const TagSpecifications = [{ ResourceType: 'security-group' as const, Tags: [{ Key: 'Name', Value: name }] }];
      const made = await ec2.send(
        new CreateSecurityGroupCommand({ GroupName: name, Description: 'd', VpcId: vpcId, TagSpecifications }),
      );
      return made.GroupId ?? '';
    },
    open: (GroupId, ...permissions) =>
      ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: [...permissions] })),
  };
}

const tcp = (port: number, ...ranges: readonly string[]): IpPermission => ({
  IpProtocol: 'tcp',
  FromPort: port,
  ToPort: port,
  IpRanges: ranges.map((CidrIp) => ({ CidrIp })),
});

test('a group has its tags from the start, and a name that is unique in its VPC', async () => {
  const { aws, create, ec2 } = rigOf();
  const GroupId = await create('lb');
  const { SecurityGroups: found } = await ec2.send(
    new DescribeSecurityGroupsCommand({ Filters: [{ Name: 'tag:Name', Values: ['l*'] }] }),
  );
  assert.deepEqual(
    found?.map((group) => [group.GroupId, group.GroupName, group.IpPermissionsEgress?.length]),
    [[GroupId, 'lb', 1]],
  );
  await assert.rejects(create('lb'), { name: 'InvalidGroup.Duplicate' });
  await assert.rejects(create('sg-lb'), { name: 'InvalidParameterValue' });
  await assert.rejects(ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: ['sg-0123456789abcdef0'] })), {
    name: 'InvalidGroup.NotFound',
    message: "The security group 'sg-0123456789abcdef0' does not exist",
  });
  assert.deepEqual(aws.takeProblems(), []);
});

test('a rule for a group of another VPC is refused', async () => {
  const { aws, create, open } = rigOf();
  const GroupId = aws.addSecurityGroup({ vpcId: aws.addVpc(), name: 'away' });
  const permission = { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: await create('lb') }] };
  await assert.rejects(open(GroupId, permission), {
    name: 'InvalidGroup.NotFound',
    message: 'You have specified two resources that belong to different networks.',
  });
});

test('rules: ranges lose their host bits, one that is there is refused with all that come with it, and each has an ID', async () => {
  const { aws, create, ec2, open } = rigOf();
  const GroupId = await create('lb');
  await open(GroupId, tcp(80, '10.1.2.3/8'), {
    IpProtocol: '6',
    FromPort: 80,
    ToPort: 80,
    Ipv6Ranges: [{ CidrIpv6: '2001:DB8:0::1/32', Description: 'six' }],
  });
  await assert.rejects(open(GroupId, tcp(81, '0.0.0.0/0'), tcp(80, '10.0.0.0/8')), {
    name: 'InvalidPermission.Duplicate',
  });
  const { SecurityGroups: read } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [GroupId] }));
  assert.deepEqual(read?.[0]?.IpPermissions, [
    {
      IpProtocol: 'tcp',
      FromPort: 80,
      ToPort: 80,
      IpRanges: [{ CidrIp: '10.0.0.0/8' }],
      Ipv6Ranges: [{ CidrIpv6: '2001:db8::/32', Description: 'six' }],
      PrefixListIds: [],
      UserIdGroupPairs: [],
    },
  ]);
  const { SecurityGroupRules: rules = [] } = await ec2.send(
    new DescribeSecurityGroupRulesCommand({ Filters: [{ Name: 'group-id', Values: [GroupId] }] }),
  );
  const ingress = rules.filter(({ IsEgress }) => IsEgress === false);
  assert.equal(ingress.length, 2);
  await ec2.send(
    new RevokeSecurityGroupIngressCommand({ GroupId, SecurityGroupRuleIds: [ingress[0]?.SecurityGroupRuleId ?? ''] }),
  );
  await ec2.send(
    new RevokeSecurityGroupIngressCommand({
      GroupId,
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: 80, ToPort: 80, Ipv6Ranges: [{ CidrIpv6: '2001:db8::/32' }] }],
    }),
  );
  await assert.rejects(
    ec2.send(new RevokeSecurityGroupIngressCommand({ GroupId, IpPermissions: [tcp(80, '10.0.0.0/8')] })),
    {
      name: 'InvalidPermission.NotFound',
    },
  );
  for (const wrong of [
    tcp(80, '10.0.0.0'),
    { ...tcp(80, '10.0.0.0/8'), ToPort: 70_000 },
    { ...tcp(80, '10.0.0.0/8'), IpProtocol: 'sctpx' },
  ]) {
    await assert.rejects(open(GroupId, wrong), { name: 'InvalidParameterValue' });
  }
  assert.deepEqual(aws.takeProblems(), []);
});

test('60 rules of a family are the most, and one that names a group counts in both', async () => {
  const { aws, create, nodeGroupId, open } = rigOf();
  const GroupId = await create('lb');
  await open(GroupId, ...Array.from({ length: 60 }, (_, n) => tcp(n, '0.0.0.0/0')));
  await open(GroupId, { IpProtocol: 'tcp', FromPort: 1, ToPort: 1, Ipv6Ranges: [{ CidrIpv6: '::/0' }] });
  const full = { name: 'RulesPerSecurityGroupLimitExceeded' };
  await assert.rejects(open(GroupId, tcp(60, '0.0.0.0/0')), full);
  await assert.rejects(open(GroupId, { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: nodeGroupId }] }), full);
  assert.deepEqual(aws.takeProblems(), []);
});

test('a group that another one names, or an interface has, cannot go', async () => {
  const { aws, create, ec2, nodeGroupId, open } = rigOf();
  const GroupId = await create('lb');
  await open(nodeGroupId, { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId }] });
  const remove = () => ec2.send(new DeleteSecurityGroupCommand({ GroupId }));
  await assert.rejects(remove(), { name: 'DependencyViolation' });
  await assert.rejects(ec2.send(new DeleteSecurityGroupCommand({ GroupId: nodeGroupId })), {
    name: 'DependencyViolation',
  });
  await ec2.send(
    new RevokeSecurityGroupIngressCommand({
      GroupId: nodeGroupId,
      IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId }] }],
    }),
  );
  await remove();
  await assert.rejects(remove(), { name: 'InvalidGroup.NotFound' });
  assert.deepEqual(
    aws.account.rules.all().filter(({ groupId }) => groupId === GroupId),
    [],
  );
  assert.deepEqual(aws.takeProblems(), []);
});
