import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AddTagsCommand,
  ApplySecurityGroupsToLoadBalancerCommand,
  AttachLoadBalancerToSubnetsCommand,
  ConfigureHealthCheckCommand,
  CreateLoadBalancerCommand,
  CreateLoadBalancerListenersCommand,
  CreateLoadBalancerPolicyCommand,
  DeleteLoadBalancerCommand,
  DeleteLoadBalancerListenersCommand,
  DeregisterInstancesFromLoadBalancerCommand,
  DescribeInstanceHealthCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DetachLoadBalancerFromSubnetsCommand,
  ElasticLoadBalancingClient,
  ModifyLoadBalancerAttributesCommand,
  RegisterInstancesWithLoadBalancerCommand,
  SetLoadBalancerPoliciesForBackendServerCommand,
  type CreateLoadBalancerCommandInput,
  type LoadBalancerDescription,
} from '@aws-sdk/client-elastic-load-balancing';
import { FakeClock } from '@outrigger/testing';
import type { FakeAwsKnobs } from '../aws-account.ts';
import type { SeededCluster } from '../aws-world.ts';
import { createFakeAws, type FakeAws } from '../fake-aws.ts';
import { sdkOptions } from '../sdk-options.suite.ts';

interface Rig {
  readonly aws: FakeAws;
  readonly cluster: SeededCluster;
  readonly elb: ElasticLoadBalancingClient;
  readonly create: (input?: Partial<CreateLoadBalancerCommandInput>) => Promise<string | undefined>;
  readonly read: () => Promise<LoadBalancerDescription | undefined>;
}

const LoadBalancerName = 'a1';
const HTTP = { Protocol: 'tcp', LoadBalancerPort: 80, InstancePort: 30_080 };

function rigOf(knobs: Partial<FakeAwsKnobs> = {}): Rig {
  const aws = createFakeAws({ clock: new FakeClock(), knobs });
  const cluster = aws.seedCluster();
  const elb = new ElasticLoadBalancingClient(sdkOptions(aws));
  return {
    aws,
    cluster,
    elb,
    create: async (input = {}) => {
      const given = { LoadBalancerName, Listeners: [HTTP], Subnets: [...cluster.publicSubnets], ...input };
      return (await elb.send(new CreateLoadBalancerCommand(given))).DNSName;
    },
    read: async () =>
      (await elb.send(new DescribeLoadBalancersCommand({ LoadBalancerNames: [LoadBalancerName] })))
        .LoadBalancerDescriptions?.[0],
  };
}

test('a classic load balancer with its defaults; the same again is the same one', async () => {
  const { aws, create, cluster, elb, read } = rigOf();
  const name = await create({ SecurityGroups: [cluster.nodeGroupId] });
  assert.match(name ?? '', /^a1-\d{10}\.eu-central-1\.elb\.amazonaws\.com$/u);
  assert.equal(await create({ SecurityGroups: [cluster.nodeGroupId] }), name);
  const others = [{ Scheme: 'internal' }, { SecurityGroups: [cluster.nodeGroupId], Tags: [{ Key: 'a', Value: 'b' }] }];
  for (const other of others) await assert.rejects(create(other), { name: 'DuplicateAccessPointNameException' });
  const made = await read();
  assert.deepEqual(
    [
      made?.Scheme,
      made?.VPCId,
      made?.SecurityGroups,
      made?.ListenerDescriptions?.[0]?.Listener,
      made?.HealthCheck?.Target,
    ],
    [
      'internet-facing',
      cluster.vpcId,
      [cluster.nodeGroupId],
      { Protocol: 'TCP', LoadBalancerPort: 80, InstanceProtocol: 'TCP', InstancePort: 30_080 },
      'TCP:30080',
    ],
  );
  const { LoadBalancerAttributes: attributes } = await elb.send(
    new DescribeLoadBalancerAttributesCommand({ LoadBalancerName }),
  );
  assert.deepEqual(
    [attributes?.ConnectionSettings, attributes?.CrossZoneLoadBalancing],
    [{ IdleTimeout: 60 }, { Enabled: false }],
  );
  await elb.send(new DeleteLoadBalancerCommand({ LoadBalancerName }));
  await elb.send(new DeleteLoadBalancerCommand({ LoadBalancerName }));
  await assert.rejects(read(), { name: 'AccessPointNotFoundException' });
  assert.deepEqual(aws.takeProblems(), []);
});

test('all of it can be changed', async () => {
  const { aws, cluster, create, elb, read } = rigOf();
  const [first = '', second = ''] = cluster.publicSubnets;
  await create({ Subnets: [first] });
  const other = { Protocol: 'HTTP', LoadBalancerPort: 8_080, InstancePort: 30_081 };
  await elb.send(new CreateLoadBalancerListenersCommand({ LoadBalancerName, Listeners: [HTTP, other] }));
  await assert.rejects(
    elb.send(new CreateLoadBalancerListenersCommand({ LoadBalancerName, Listeners: [{ ...HTTP, InstancePort: 1 }] })),
    { name: 'DuplicateListenerException' },
  );
  await elb.send(new DeleteLoadBalancerListenersCommand({ LoadBalancerName, LoadBalancerPorts: [8_080] }));
  await elb.send(new AttachLoadBalancerToSubnetsCommand({ LoadBalancerName, Subnets: [second] }));
  await assert.rejects(
    elb.send(new DetachLoadBalancerFromSubnetsCommand({ LoadBalancerName, Subnets: [first, second] })),
    {
      name: 'InvalidConfigurationRequestException',
    },
  );
  await elb.send(new DetachLoadBalancerFromSubnetsCommand({ LoadBalancerName, Subnets: [first] }));
  await elb.send(
    new ApplySecurityGroupsToLoadBalancerCommand({ LoadBalancerName, SecurityGroups: [cluster.nodeGroupId] }),
  );
  const HealthCheck = {
    Target: 'HTTP:10256/healthz',
    Interval: 10,
    Timeout: 5,
    UnhealthyThreshold: 2,
    HealthyThreshold: 2,
  };
  await elb.send(new ConfigureHealthCheckCommand({ LoadBalancerName, HealthCheck }));
  await assert.rejects(
    elb.send(new ConfigureHealthCheckCommand({ LoadBalancerName, HealthCheck: { ...HealthCheck, Timeout: 10 } })),
  );
  await elb.send(
    new ModifyLoadBalancerAttributesCommand({
      LoadBalancerName,
      LoadBalancerAttributes: { ConnectionSettings: { IdleTimeout: 30 }, ConnectionDraining: { Enabled: true } },
    }),
  );
  await elb.send(
    new CreateLoadBalancerPolicyCommand({
      LoadBalancerName,
      PolicyName: 'proxy',
      PolicyTypeName: 'ProxyProtocolPolicyType',
      PolicyAttributes: [{ AttributeName: 'ProxyProtocol', AttributeValue: 'true' }],
    }),
  );
  await elb.send(
    new SetLoadBalancerPoliciesForBackendServerCommand({
      LoadBalancerName,
      InstancePort: 30_080,
      PolicyNames: ['proxy'],
    }),
  );
  const { LoadBalancerAttributes: attributes } = await elb.send(
    new DescribeLoadBalancerAttributesCommand({ LoadBalancerName }),
  );
  assert.deepEqual(
    [attributes?.ConnectionSettings, attributes?.ConnectionDraining, attributes?.AdditionalAttributes?.length],
    [{ IdleTimeout: 30 }, { Enabled: true, Timeout: 300 }, 1],
  );
  const changed = await read();
  assert.deepEqual(
    [
      changed?.Subnets,
      changed?.SecurityGroups,
      changed?.HealthCheck,
      changed?.ListenerDescriptions?.length,
      changed?.BackendServerDescriptions,
    ],
    [[second], [cluster.nodeGroupId], HealthCheck, 1, [{ InstancePort: 30_080, PolicyNames: ['proxy'] }]],
  );
  await elb.send(
    new SetLoadBalancerPoliciesForBackendServerCommand({ LoadBalancerName, InstancePort: 30_080, PolicyNames: [] }),
  );
  assert.deepEqual((await read())?.BackendServerDescriptions, []);
  assert.deepEqual(aws.takeProblems(), []);
});

test('instances, tags and quotas', async () => {
  const { aws, cluster, create, elb, read } = rigOf({ mostClassicLoadBalancers: 1 });
  await create();
  await assert.rejects(create({ LoadBalancerName: 'two' }), { name: 'TooManyAccessPointsException' });
  const [one = '', two = ''] = cluster.instances.map(({ id }) => id);
  const Instances = [{ InstanceId: one }, { InstanceId: two }];
  await elb.send(new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName, Instances }));
  const unknown = [{ InstanceId: 'i-0123456789abcdef0' }];
  await assert.rejects(
    elb.send(new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName, Instances: unknown })),
    {
      name: 'InvalidEndPointException',
    },
  );
  aws.account.targets.setHealth(two, 'unhealthy');
  const { InstanceStates: states } = await elb.send(new DescribeInstanceHealthCommand({ LoadBalancerName }));
  assert.deepEqual(
    states?.map(({ State }) => State),
    ['InService', 'OutOfService'],
  );
  await elb.send(
    new DeregisterInstancesFromLoadBalancerCommand({ LoadBalancerName, Instances: [{ InstanceId: one }] }),
  );
  assert.deepEqual((await read())?.Instances, [{ InstanceId: two }]);
  const tagsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ Key: `k${n}`, Value: 'v' }));
  await elb.send(new AddTagsCommand({ LoadBalancerNames: [LoadBalancerName], Tags: tagsOf(10) }));
  await assert.rejects(elb.send(new AddTagsCommand({ LoadBalancerNames: [LoadBalancerName], Tags: tagsOf(11) })), {
    name: 'TooManyTagsException',
  });
  const { TagDescriptions: tags } = await elb.send(new DescribeTagsCommand({ LoadBalancerNames: [LoadBalancerName] }));
  assert.equal(tags?.[0]?.Tags?.length, 10);
  assert.deepEqual(aws.takeProblems(), []);
});
