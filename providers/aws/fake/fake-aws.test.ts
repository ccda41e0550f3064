import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws } from './fake-aws.ts';
import { sdkOptions } from './sdk-options.suite.ts';

const region = 'eu-central-1';

test('a seeded cluster is what the SDK reads', async () => {
  const aws = createFakeAws({ clock: new FakeClock() });
  const cluster = aws.seedCluster({ nodes: 3, hasIpv6: true });
  const ec2 = new EC2Client(sdkOptions(aws));
  const { Reservations: reservations = [] } = await ec2.send(
    new DescribeInstancesCommand({ Filters: [{ Name: 'tag-key', Values: ['kubernetes.io/cluster/kubernetes'] }] }),
  );
  const instances = reservations.flatMap(({ Instances: all = [] }) => all);
  assert.deepEqual(
    new Set(instances.map(({ InstanceId }) => InstanceId)),
    new Set(cluster.instances.map(({ id }) => id)),
  );
  const first = instances.find(({ InstanceId }) => InstanceId === cluster.instances[0]?.id);
  assert.deepEqual(
    [first?.PrivateIpAddress, first?.PrivateDnsName, first?.State?.Name, first?.Placement?.AvailabilityZoneId],
    ['10.0.128.4', 'ip-10-0-128-4.eu-central-1.compute.internal', 'running', 'euc1-az1'],
  );
  assert.deepEqual(
    first?.NetworkInterfaces?.[0]?.Ipv6Addresses?.map(({ Ipv6Address }) => Ipv6Address),
    ['2001:db8:0:8::4'],
  );
  const { Subnets: subnets } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [...cluster.publicSubnets] }));
  assert.equal(subnets?.length, 2);
  const { RouteTables: tables } = await ec2.send(
    new DescribeRouteTablesCommand({ Filters: [{ Name: 'vpc-id', Values: [cluster.vpcId] }] }),
  );
  assert.equal(tables?.length, 2);
  const { SecurityGroups: groups } = await ec2.send(
    new DescribeSecurityGroupsCommand({ GroupIds: [cluster.nodeGroupId] }),
  );
  assert.equal(groups?.[0]?.GroupName, 'kubernetes-nodes');
  const identity = await new STSClient(sdkOptions(aws)).send(new GetCallerIdentityCommand({}));
  assert.equal(identity.Account, '123456789012');
  assert.deepEqual(aws.takeProblems(), []);
  assert.deepEqual(aws.calls.counts(), {
    'ec2:DescribeInstances': 1,
    'ec2:DescribeSubnets': 1,
    'ec2:DescribeRouteTables': 1,
    'ec2:DescribeSecurityGroups': 1,
    'sts:GetCallerIdentity': 1,
  });
});

test('one unknown ID fails the whole request and is named; what is malformed too; a filter that is not known is refused', async () => {
  const aws = createFakeAws({ clock: new FakeClock() });
  const cluster = aws.seedCluster({ nodes: 2 });
  const ec2 = new EC2Client(sdkOptions(aws));
  const unknown = ['i-0123456789abcdef0', 'i-0123456789abcdef1'];
  await assert.rejects(
    ec2.send(new DescribeInstancesCommand({ InstanceIds: [...unknown, cluster.instances[0]?.id ?? ''] })),
    {
      name: 'InvalidInstanceID.NotFound',
      message: "The instance IDs 'i-0123456789abcdef0, i-0123456789abcdef1' do not exist",
    },
  );
  await assert.rejects(ec2.send(new DescribeInstancesCommand({ InstanceIds: ['i-x'] })), {
    name: 'InvalidInstanceID.Malformed',
  });
  await assert.rejects(ec2.send(new DescribeInstancesCommand({ Filters: [{ Name: 'tags', Values: ['a'] }] })), {
    name: 'InvalidParameterValue',
  });
  await assert.rejects(
    ec2.send(new DescribeInstancesCommand({ InstanceIds: [cluster.instances[0]?.id ?? ''], MaxResults: 10 })),
    { name: 'InvalidParameterCombination' },
  );
  assert.deepEqual(aws.takeProblems(), []);
});

test('pages hold no more than is asked for, and a new instance is found when the lag is over', async () => {
  const clock = new FakeClock();
  const aws = createFakeAws({ clock, knobs: { ec2LagMs: 5_000 } });
  const { nodeGroupId, privateSubnets } = aws.seedCluster({ nodes: 12 });
  const ec2 = new EC2Client(sdkOptions(aws));
  const sizes: number[] = [];
  let token: string | undefined;
  do {
    const answer = await ec2.send(new DescribeInstancesCommand({ MaxResults: 5, NextToken: token }));
    sizes.push(answer.Reservations?.length ?? 0);
    token = answer.NextToken;
  } while (token !== undefined);
  assert.deepEqual(sizes, [5, 5, 2]);
  const { id } = aws.addInstance({ subnetId: privateSubnets[0] ?? '', groupIds: [nodeGroupId], isLaunched: true });
  await assert.rejects(ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] })), {
    name: 'InvalidInstanceID.NotFound',
  });
  await clock.advance(5_000);
  assert.equal((await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }))).Reservations?.length, 1);
});

test('what is not signed, or for another region, is refused; so is what no policy allows', async () => {
  const aws = createFakeAws({ clock: new FakeClock(), allowed: ['ec2:DescribeSubnets'] });
  await assert.rejects(
    new EC2Client({ ...sdkOptions(aws), region: 'us-east-1' }).send(new DescribeSubnetsCommand({})),
    {
      name: 'AuthFailure',
    },
  );
  const ec2 = new EC2Client({ ...sdkOptions(aws), region });
  await ec2.send(new DescribeSubnetsCommand({}));
  await assert.rejects(ec2.send(new DescribeInstancesCommand({})), { name: 'UnauthorizedOperation' });
  await assert.rejects(ec2.send(new DescribeSubnetsCommand({ DryRun: true })), { name: 'DryRunOperation' });
  await assert.rejects(ec2.send(new DescribeInstancesCommand({ DryRun: true })), { name: 'UnauthorizedOperation' });
  const unsigned = await aws.handle({
    method: 'POST',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    text: 'Action=DescribeSubnets&Version=2016-11-15',
  });
  assert.equal(unsigned?.status, 401);
});
