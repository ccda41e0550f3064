import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import {
  AddTagsCommand,
  CreateListenerCommand,
  CreateLoadBalancerCommand,
  CreateTargetGroupCommand,
  DeleteListenerCommand,
  DeleteLoadBalancerCommand,
  DeleteTargetGroupCommand,
  DeregisterTargetsCommand,
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
  ModifyLoadBalancerAttributesCommand,
  ModifyTargetGroupAttributesCommand,
  RegisterTargetsCommand,
  SetIpAddressTypeCommand,
  SetSecurityGroupsCommand,
  SetSubnetsCommand,
  type CreateLoadBalancerCommandInput,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { FakeClock } from '@outrigger/testing';
import type { FakeAwsKnobs } from '../aws-account.ts';
import type { ClusterSeed, SeededCluster } from '../aws-world.ts';
import { createFakeAws, type FakeAws } from '../fake-aws.ts';
import { sdkOptions } from '../sdk-options.suite.ts';

interface Rig {
  readonly aws: FakeAws;
  readonly clock: FakeClock;
  readonly cluster: SeededCluster;
  readonly elb: ElasticLoadBalancingV2Client;
  readonly ec2: EC2Client;
  /** Its ARN. */
  readonly balancer: (input?: Partial<CreateLoadBalancerCommandInput>) => Promise<string>;
  readonly group: (name: string, protocol?: 'TCP' | 'UDP' | 'TCP_UDP' | 'TLS') => Promise<string>;
  readonly listener: (
    balancer: string,
    group: string,
    port: number,
    protocol?: 'TCP' | 'UDP' | 'TCP_UDP',
  ) => Promise<string>;
  readonly states: (group: string) => Promise<Readonly<Record<string, string>>>;
}

function rigOf(knobs: Partial<FakeAwsKnobs> = {}, seed: ClusterSeed = {}): Rig {
  const clock = new FakeClock();
  const aws = createFakeAws({ clock, knobs });
  const cluster = aws.seedCluster(seed);
  const elb = new ElasticLoadBalancingV2Client(sdkOptions(aws));
  return {
    aws,
    clock,
    cluster,
    elb,
    ec2: new EC2Client(sdkOptions(aws)),
    balancer: async (input = {}) => {
      const answer = await elb.send(
        new CreateLoadBalancerCommand({ Name: 'lb', Type: 'network', Subnets: [...cluster.publicSubnets], ...input }),
      );
      return answer.LoadBalancers?.[0]?.LoadBalancerArn ?? '';
    },
    group: async (Name, Protocol = 'TCP') => {
      const answer = await elb.send(
        new CreateTargetGroupCommand({ Name, Protocol, Port: 30_080, VpcId: cluster.vpcId }),
      );
      return answer.TargetGroups?.[0]?.TargetGroupArn ?? '';
    },
    listener: async (LoadBalancerArn, TargetGroupArn, Port, Protocol = 'TCP') => {
      const DefaultActions = [{ Type: 'forward' as const, TargetGroupArn }];
      const answer = await elb.send(new CreateListenerCommand({ LoadBalancerArn, Port, Protocol, DefaultActions }));
      return answer.Listeners?.[0]?.ListenerArn ?? '';
    },
    states: async (TargetGroupArn) => {
      const { TargetHealthDescriptions: all = [] } = await elb.send(
        new DescribeTargetHealthCommand({ TargetGroupArn }),
      );
      return Object.fromEntries(all.map(({ Target, TargetHealth }) => [Target?.Id ?? '', TargetHealth?.State ?? '']));
    },
  };
}

test('a load balancer is provisioned, then active; the same again is the same one, another one of its name is refused', async () => {
  const { aws, balancer, clock, cluster, elb } = rigOf({ provisioningMs: 60_000 });
  const arn = await balancer({ Tags: [{ Key: 'a', Value: 'b' }] });
  const read = async () => (await elb.send(new DescribeLoadBalancersCommand({ Names: ['lb'] }))).LoadBalancers?.[0];
  assert.equal((await read())?.State?.Code, 'provisioning');
  await clock.advance(60_000);
  const active = await read();
  assert.deepEqual([active?.State?.Code, active?.Scheme, active?.VpcId], ['active', 'internet-facing', cluster.vpcId]);
  assert.match(active?.DNSName ?? '', /^lb-[0-9a-f]{16}\.elb\.eu-central-1\.amazonaws\.com$/u);
  assert.equal(await balancer(), arn);
  await assert.rejects(balancer({ Scheme: 'internal' }), { name: 'DuplicateLoadBalancerNameException' });
  await assert.rejects(elb.send(new DescribeLoadBalancersCommand({ Names: ['lb', 'other'] })), {
    name: 'LoadBalancerNotFoundException',
  });
  const { TagDescriptions: tags } = await elb.send(new DescribeTagsCommand({ ResourceArns: [arn] }));
  assert.deepEqual(tags?.[0]?.Tags, [{ Key: 'a', Value: 'b' }]);
  assert.deepEqual(aws.takeProblems(), []);
});

test('what AWS refuses of a load balancer', async () => {
  const { aws, balancer, cluster, elb } = rigOf({ mostNetworkLoadBalancers: 2 });
  const [first = '', second = ''] = cluster.publicSubnets;
  const cases: readonly (readonly [Partial<CreateLoadBalancerCommandInput>, string])[] = [
    [{ Name: 'x'.repeat(33) }, 'ValidationError'],
    [{ Name: 'internal-a' }, 'ValidationError'],
    [{ Name: 'a_b' }, 'ValidationError'],
    [{ Subnets: [first, cluster.privateSubnets[0] ?? ''] }, 'InvalidConfigurationRequestException'],
    [{ Subnets: ['subnet-0123456789abcdef0'] }, 'SubnetNotFoundException'],
    [{ SecurityGroups: ['sg-0123456789abcdef0'] }, 'InvalidSecurityGroupException'],
    [{ IpAddressType: 'dualstack' }, 'InvalidSubnetException'],
    [
      { Subnets: undefined, SubnetMappings: [{ SubnetId: first, AllocationId: 'eipalloc-1' }, { SubnetId: second }] },
      'InvalidConfigurationRequestException',
    ],
  ];
  for (const [input, name] of cases) await assert.rejects(balancer(input), { name }, JSON.stringify(input));
  const localZone = { name: 'eu-central-1-ham-1a', id: 'euc1-ham1-az1', type: 'local-zone' };
  const local = createFakeAws({ clock: new FakeClock(), zones: [localZone] });
  const { publicSubnets: Subnets } = local.seedCluster({ zones: 1 });
  const there = new ElasticLoadBalancingV2Client(sdkOptions(local));
  await assert.rejects(
    there.send(new CreateLoadBalancerCommand({ Name: 'lb', Type: 'network', Subnets: [...Subnets] })),
    {
      name: 'InvalidSubnetException',
    },
  );
  const arn = await balancer();
  await elb.send(
    new ModifyLoadBalancerAttributesCommand({
      LoadBalancerArn: arn,
      Attributes: [{ Key: 'deletion_protection.enabled', Value: 'true' }],
    }),
  );
  await assert.rejects(elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn })), {
    name: 'OperationNotPermittedException',
  });
  await assert.rejects(
    elb.send(new SetSecurityGroupsCommand({ LoadBalancerArn: arn, SecurityGroups: [cluster.nodeGroupId] })),
    {
      name: 'InvalidConfigurationRequestException',
    },
  );
  await assert.rejects(
    elb.send(
      new ModifyLoadBalancerAttributesCommand({
        LoadBalancerArn: arn,
        Attributes: [{ Key: 'idle_timeout', Value: '1' }],
      }),
    ),
    { name: 'ValidationError' },
  );
  await balancer({ Name: 'two' });
  await assert.rejects(balancer({ Name: 'three' }), { name: 'TooManyLoadBalancersException' });
  await assert.rejects(elb.send(new AddTagsCommand({ ResourceArns: [arn, arn], Tags: [{ Key: 'a' }] })), {
    name: 'ValidationError',
  });
  await assert.rejects(elb.send(new DescribeTagsCommand({ ResourceArns: Array.from({ length: 21 }, () => arn) })), {
    name: 'ValidationError',
  });
  assert.deepEqual(aws.takeProblems(), []);
});

test('a port has one listener, and a group that is in use stays', async () => {
  const { aws, balancer, elb, group, listener } = rigOf();
  const [arn, tcp, udp, both] = [
    await balancer(),
    await group('tcp'),
    await group('udp', 'UDP'),
    await group('both', 'TCP_UDP'),
  ];
  assert.equal(await group('tcp'), tcp);
  await assert.rejects(group('tcp', 'TLS'), { name: 'DuplicateTargetGroupNameException' });
  const made = await listener(arn, tcp, 80);
  assert.equal(await listener(arn, tcp, 80), made);
  await assert.rejects(listener(arn, udp, 80, 'UDP'), { name: 'DuplicateListenerException' });
  await assert.rejects(listener(arn, udp, 81), { name: 'IncompatibleProtocolsException' });
  await listener(arn, both, 53, 'TCP_UDP');
  const other = await balancer({ Name: 'other' });
  await assert.rejects(listener(other, tcp, 80), { name: 'TargetGroupAssociationLimitException' });
  await assert.rejects(elb.send(new DeleteTargetGroupCommand({ TargetGroupArn: tcp })), {
    name: 'ResourceInUseException',
  });
  await elb.send(new DeleteListenerCommand({ ListenerArn: made }));
  await elb.send(new DeleteTargetGroupCommand({ TargetGroupArn: tcp }));
  await elb.send(new DeleteTargetGroupCommand({ TargetGroupArn: tcp }));
  const { Listeners: left } = await elb.send(new DescribeListenersCommand({ LoadBalancerArn: arn }));
  assert.deepEqual(
    left?.map(({ Port }) => Port),
    [53],
  );
  await elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
  await elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
  assert.deepEqual(aws.account.listeners.all(), []);
  assert.deepEqual(aws.takeProblems(), []);
});

test('targets begin, serve, drain and go', async () => {
  const { aws, balancer, clock, cluster, elb, group, listener, states } = rigOf({ targetInitialMs: 30_000 });
  const [one, two, three] = cluster.instances.map(({ id }) => id);
  const arn = await group('tg');
  const Targets = [one, two, three].map((Id) => ({ Id }));
  await elb.send(new RegisterTargetsCommand({ TargetGroupArn: arn, Targets }));
  assert.deepEqual(Object.values(await states(arn)), ['unused', 'unused', 'unused']);
  await listener(await balancer(), arn, 80);
  assert.deepEqual(Object.values(await states(arn)), ['initial', 'initial', 'initial']);
  await clock.advance(30_000);
  aws.account.targets.setHealth(two ?? '', 'unhealthy');
  aws.changeInstance(three ?? '', { state: 'stopped' });
  assert.deepEqual(await states(arn), { [one ?? '']: 'healthy', [two ?? '']: 'unhealthy', [three ?? '']: 'unused' });
  await elb.send(
    new ModifyTargetGroupAttributesCommand({
      TargetGroupArn: arn,
      Attributes: [{ Key: 'deregistration_delay.timeout_seconds', Value: '60' }],
    }),
  );
  await elb.send(new DeregisterTargetsCommand({ TargetGroupArn: arn, Targets: [{ Id: one }] }));
  assert.equal((await states(arn))[one ?? ''], 'draining');
  await clock.advance(60_000);
  aws.changeInstance(three ?? '', { state: 'terminated' });
  assert.deepEqual(Object.keys(await states(arn)), [two]);
  for (const Id of ['i-0123456789abcdef0', three]) {
    await assert.rejects(elb.send(new RegisterTargetsCommand({ TargetGroupArn: arn, Targets: [{ Id }] })), {
      name: 'InvalidTargetException',
    });
  }
  await assert.rejects(elb.send(new RegisterTargetsCommand({ TargetGroupArn: arn, Targets: [{ Id: 'i-0' }] })), {
    name: 'ValidationError',
    message: "Instance ID 'i-0' is not valid",
  });
  assert.deepEqual(aws.takeProblems(), []);
});

test('a quota counts the targets of a zone, in all groups of a load balancer, and not those that drain', async () => {
  const { aws, balancer, cluster, elb, group, listener } = rigOf({ mostTargets: 3 }, { nodes: 6 });
  const zones = Map.groupBy(cluster.instances, ({ subnetId }) => subnetId);
  const [here = [], there = []] = [...zones.values()].map((all) => all.map(({ id: Id }) => ({ Id })));
  assert.deepEqual([here.length, there.length], [3, 3]);
  const register = (TargetGroupArn: string, Targets: { readonly Id: string }[]) =>
    elb.send(new RegisterTargetsCommand({ TargetGroupArn, Targets }));
  const [one, two, alone] = [await group('one'), await group('two'), await group('alone')];
  const arn = await balancer();
  await listener(arn, one, 80);
  await listener(arn, two, 443);
  await register(one, here);
  await register(one, here);
  await register(alone, here);
  await assert.rejects(register(two, [...there, here[0]!]), { name: 'TooManyTargetsException' });
  await register(two, there);
  await elb.send(new DeregisterTargetsCommand({ TargetGroupArn: one, Targets: [here[1]!] }));
  await register(two, [here[0]!]);
  await assert.rejects(register(two, [here[2]!]), { name: 'TooManyTargetsException' });
  assert.deepEqual(aws.takeProblems(), []);
});

test('interfaces outlive their load balancer and hold its security group', async () => {
  const { aws, balancer, clock, cluster, ec2, elb } = rigOf({ interfaceReleaseMs: 120_000 });
  const created = await ec2.send(
    new CreateSecurityGroupCommand({ GroupName: 'lb', Description: 'lb', VpcId: cluster.vpcId }),
  );
  const GroupId = created.GroupId ?? '';
  const arn = await balancer({ SecurityGroups: [GroupId] });
  const rule = { IpProtocol: 'tcp', FromPort: 0, ToPort: 65_535, UserIdGroupPairs: [{ GroupId }] };
  const open = new AuthorizeSecurityGroupIngressCommand({ GroupId: cluster.nodeGroupId, IpPermissions: [rule] });
  await ec2.send(open);
  await assert.rejects(ec2.send(open), { name: 'InvalidPermission.Duplicate' });
  await elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
  for (const { groupId, id, isEgress } of aws.account.rules.all()) {
    if (groupId === cluster.nodeGroupId && !isEgress) aws.account.rules.remove(id);
  }
  await assert.rejects(ec2.send(new DeleteSecurityGroupCommand({ GroupId })), { name: 'DependencyViolation' });
  await clock.advance(120_000);
  await ec2.send(new DeleteSecurityGroupCommand({ GroupId }));
  assert.deepEqual(aws.takeProblems(), []);
});

test('both families, fixed addresses, and subnets that change', async () => {
  const { aws, balancer, cluster, elb, group, listener } = rigOf({}, { hasIpv6: true });
  const [first = '', second = ''] = cluster.publicSubnets;
  const { allocationId, publicIp } = aws.addAddress();
  const SubnetMappings = [{ SubnetId: first, AllocationId: allocationId }];
  const arn = await balancer({ Subnets: undefined, SubnetMappings, IpAddressType: 'dualstack' });
  const { LoadBalancers: read } = await elb.send(new DescribeLoadBalancersCommand({ LoadBalancerArns: [arn] }));
  assert.deepEqual(read?.[0]?.AvailabilityZones?.[0]?.LoadBalancerAddresses, [
    { IpAddress: publicIp, AllocationId: allocationId, IPv6Address: '2001:db8::4' },
  ]);
  await assert.rejects(balancer({ Name: 'b', Subnets: undefined, SubnetMappings }), { name: 'ResourceInUseException' });
  await assert.rejects(listener(arn, await group('udp', 'UDP'), 53, 'UDP'), {
    name: 'InvalidConfigurationRequestException',
  });
  await elb.send(new SetIpAddressTypeCommand({ LoadBalancerArn: arn, IpAddressType: 'ipv4' }));
  await listener(arn, await group('udp', 'UDP'), 53, 'UDP');
  const plain = await balancer({ Name: 'plain', Subnets: [first] });
  await elb.send(new SetSubnetsCommand({ LoadBalancerArn: plain, Subnets: [first, second] }));
  const { LoadBalancers: grown } = await elb.send(new DescribeLoadBalancersCommand({ LoadBalancerArns: [plain] }));
  assert.deepEqual(
    grown?.[0]?.AvailabilityZones?.map(({ SubnetId }) => SubnetId),
    [first, second],
  );
  assert.deepEqual(aws.takeProblems(), []);
});

test('lists come in pages, and lie behind writes', async () => {
  const { aws, balancer, clock, elb, group } = rigOf({ elbLagMs: 10_000 });
  for (const name of ['a', 'b', 'c']) await group(name);
  const arn = await balancer();
  assert.deepEqual((await elb.send(new DescribeTargetGroupsCommand({}))).TargetGroups, []);
  await assert.rejects(elb.send(new DescribeLoadBalancersCommand({ LoadBalancerArns: [arn] })), {
    name: 'LoadBalancerNotFoundException',
  });
  await assert.rejects(elb.send(new DescribeTagsCommand({ ResourceArns: [arn] })), {
    name: 'LoadBalancerNotFoundException',
  });
  await clock.advance(10_000);
  const first = await elb.send(new DescribeTargetGroupsCommand({ PageSize: 2 }));
  const rest = await elb.send(new DescribeTargetGroupsCommand({ PageSize: 2, Marker: first.NextMarker }));
  assert.deepEqual(
    [...(first.TargetGroups ?? []), ...(rest.TargetGroups ?? [])].map(({ TargetGroupName: name }) => name),
    ['a', 'b', 'c'],
  );
  assert.equal(rest.NextMarker, undefined);
  assert.deepEqual(aws.takeProblems(), []);
});
