import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AssignIpv6AddressesCommand,
  CreateRouteCommand,
  CreateTagsCommand,
  DeleteRouteCommand,
  DeleteTagsCommand,
  DescribeAvailabilityZonesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTopologyCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DescribeVolumesCommand,
  EC2Client,
  ModifyInstanceAttributeCommand,
  ModifyNetworkInterfaceAttributeCommand,
  ReplaceRouteCommand,
} from '@aws-sdk/client-ec2';
import { FakeClock } from '@outrigger/testing';
import type { ClusterSeed, SeededCluster } from '../aws-world.ts';
import { createFakeAws, type FakeAws } from '../fake-aws.ts';
import { sdkOptions } from '../sdk-options.suite.ts';

function rigOf(seed: ClusterSeed = {}): {
  readonly aws: FakeAws;
  readonly cluster: SeededCluster;
  readonly ec2: EC2Client;
} {
  const aws = createFakeAws({ clock: new FakeClock() });
  return { aws, cluster: aws.seedCluster(seed), ec2: new EC2Client(sdkOptions(aws)) };
}

test('routes of both families: made, replaced, black holes, gone', async () => {
  const { aws, cluster, ec2 } = rigOf({ hasIpv6: true });
  const RouteTableId = cluster.routeTableId;
  const [one = '', two = ''] = cluster.instances.map(({ id }) => id);
  const eniOf = (id: string): string =>
    aws.account.interfaces.all().find(({ attachment }) => attachment?.instanceId === id)?.id ?? '';
  await ec2.send(new CreateRouteCommand({ RouteTableId, DestinationCidrBlock: '100.64.0.5/24', InstanceId: one }));
  await ec2.send(
    new CreateRouteCommand({
      RouteTableId,
      DestinationIpv6CidrBlock: '2001:db8:1::/64',
      NetworkInterfaceId: eniOf(two),
    }),
  );
  const again = new CreateRouteCommand({ RouteTableId, DestinationCidrBlock: '100.64.0.0/24', InstanceId: two });
  await assert.rejects(ec2.send(again), { name: 'RouteAlreadyExists' });
  const routes = async () => {
    const { RouteTables: tables } = await ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [RouteTableId] }));
    return (tables?.[0]?.Routes ?? [])
      .filter(({ Origin }) => Origin === 'CreateRoute')
      .map((route) => [route.DestinationCidrBlock ?? route.DestinationIpv6CidrBlock, route.InstanceId, route.State]);
  };
  assert.deepEqual(await routes(), [
    ['100.64.0.0/24', one, 'active'],
    ['2001:db8:1::/64', two, 'active'],
  ]);
  aws.changeInstance(one, { state: 'terminated' });
  assert.deepEqual((await routes())[0], ['100.64.0.0/24', undefined, 'blackhole']);
  await ec2.send(
    new ReplaceRouteCommand({ RouteTableId, DestinationCidrBlock: '100.64.0.0/24', NetworkInterfaceId: eniOf(two) }),
  );
  assert.deepEqual((await routes())[0], ['100.64.0.0/24', two, 'active']);
  await ec2.send(new DeleteRouteCommand({ RouteTableId, DestinationCidrBlock: '100.64.0.0/24' }));
  await assert.rejects(ec2.send(new DeleteRouteCommand({ RouteTableId, DestinationCidrBlock: '100.64.0.0/24' })), {
    name: 'InvalidRoute.NotFound',
  });
  await assert.rejects(ec2.send(new DeleteRouteCommand({ RouteTableId, DestinationCidrBlock: '10.0.0.0/16' })), {
    name: 'InvalidParameterValue',
  });
  assert.equal((await routes()).length, 1);
  assert.deepEqual(aws.takeProblems(), []);
});

test('an instance with several interfaces is changed, and routed to, by its interfaces alone', async () => {
  const { aws, cluster, ec2 } = rigOf({ nodes: 1 });
  const { id: InstanceId } = aws.addInstance({
    subnetId: cluster.privateSubnets[0] ?? '',
    groupIds: [cluster.nodeGroupId],
    interfaces: [{ privateIpCount: 2, ipv4Prefixes: ['10.0.129.0/28'] }, {}],
  });
  const off = { SourceDestCheck: { Value: false } };
  await assert.rejects(ec2.send(new ModifyInstanceAttributeCommand({ InstanceId, ...off })), {
    name: 'InvalidInstanceID',
  });
  const { RouteTables: tables } = await ec2.send(new DescribeRouteTablesCommand({}));
  const route = { RouteTableId: tables?.[0]?.RouteTableId, DestinationCidrBlock: '100.64.0.0/24', InstanceId };
  await assert.rejects(ec2.send(new CreateRouteCommand(route)), { name: 'InvalidInstanceID' });
  const { NetworkInterfaces: found } = await ec2.send(
    new DescribeNetworkInterfacesCommand({
      Filters: [
        { Name: 'attachment.instance-id', Values: [InstanceId] },
        { Name: 'attachment.device-index', Values: ['0'] },
      ],
    }),
  );
  assert.equal(found?.length, 1);
  await ec2.send(
    new ModifyNetworkInterfaceAttributeCommand({ NetworkInterfaceId: found[0]?.NetworkInterfaceId, ...off }),
  );
  const { Reservations: read } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [InstanceId] }));
  const instance = read?.[0]?.Instances?.[0];
  assert.deepEqual(
    [
      instance?.SourceDestCheck,
      instance?.NetworkInterfaces?.map(({ PrivateIpAddresses: ips, Ipv4Prefixes: ranges }) => [
        ips?.length,
        ranges?.length,
      ]),
    ],
    [
      false,
      [
        [2, 1],
        [1, 0],
      ],
    ],
  );
  assert.deepEqual(aws.takeProblems(), []);
});

test('IPv6 prefixes are assigned to an interface, and shown with its instance', async () => {
  const { aws, cluster, ec2 } = rigOf({ hasIpv6: true, nodes: 1 });
  const [instance] = cluster.instances;
  const NetworkInterfaceId = aws.account.interfaces.all()[0]?.id;
  const { AssignedIpv6Prefixes: assigned } = await ec2.send(
    new AssignIpv6AddressesCommand({ NetworkInterfaceId, Ipv6PrefixCount: 1 }),
  );
  assert.match(assigned?.[0] ?? '', /^2001:db8:0:8:[0-9a-f]{1,4}::\/80$/u);
  const { Reservations: read } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [instance?.id ?? ''] }));
  assert.deepEqual(read?.[0]?.Instances?.[0]?.NetworkInterfaces?.[0]?.Ipv6Prefixes, [{ Ipv6Prefix: assigned?.[0] }]);
  assert.deepEqual(aws.takeProblems(), []);
});

test('tags are set and taken of whatever there is, all or nothing', async () => {
  const { aws, cluster, ec2 } = rigOf();
  const id = cluster.instances[0]?.id ?? '';
  const tagsOf = () => aws.account.instances.get(id)?.tags;
  const before = tagsOf();
  const Tags = [{ Key: 'a', Value: 'b' }];
  await assert.rejects(ec2.send(new CreateTagsCommand({ Resources: [id, 'i-0123456789abcdef0'], Tags })), {
    name: 'InvalidInstanceID.NotFound',
  });
  assert.deepEqual(tagsOf(), before);
  await ec2.send(new CreateTagsCommand({ Resources: [id, cluster.vpcId], Tags }));
  assert.deepEqual(tagsOf(), { ...before, a: 'b' });
  await ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: [{ Key: 'a', Value: 'other' }] }));
  assert.equal(tagsOf()?.['a'], 'b');
  await ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: [{ Key: 'a' }] }));
  assert.deepEqual(tagsOf(), before);
  const many = Array.from({ length: 51 }, (_, n) => ({ Key: `k${n}`, Value: '' }));
  await assert.rejects(ec2.send(new CreateTagsCommand({ Resources: [id], Tags: many })), { name: 'TagLimitExceeded' });
  await assert.rejects(ec2.send(new CreateTagsCommand({ Resources: [id], Tags: [{ Key: 'aws:a' }] })), {
    name: 'InvalidParameterValue',
  });
  assert.deepEqual(aws.takeProblems(), []);
});

test('zones, topology, volumes, and pods of Fargate', async () => {
  const { aws, cluster, ec2 } = rigOf({ nodes: 1 });
  const { AvailabilityZones: zones } = await ec2.send(new DescribeAvailabilityZonesCommand({}));
  assert.deepEqual(
    zones?.map(({ ZoneId }) => ZoneId),
    ['euc1-az1', 'euc1-az2', 'euc1-az3'],
  );
  const subnetId = cluster.privateSubnets[0] ?? '';
  const groupIds = [cluster.nodeGroupId];
  const networkNodes = ['nn-1', 'nn-2', 'nn-3'];
  const known = aws.addInstance({ subnetId, groupIds, type: 'p4d.24xlarge', networkNodes });
  const InstanceIds = [known.id, cluster.instances[0]?.id ?? ''];
  const { Instances: topology } = await ec2.send(new DescribeInstanceTopologyCommand({ InstanceIds }));
  assert.deepEqual(
    topology?.map(({ InstanceId, NetworkNodes, ZoneId }) => [InstanceId, NetworkNodes, ZoneId]),
    [[known.id, networkNodes, 'euc1-az1']],
  );
  const volume = aws.addVolume({ zone: 'eu-central-1b' });
  const { Volumes: volumes } = await ec2.send(new DescribeVolumesCommand({ VolumeIds: [volume] }));
  assert.deepEqual(
    volumes?.map(({ AvailabilityZone }) => AvailabilityZone),
    ['eu-central-1b'],
  );
  const pod = aws.addFargatePod({ subnetId });
  const { NetworkInterfaces: found } = await ec2.send(
    new DescribeNetworkInterfacesCommand({
      Filters: [
        { Name: 'attachment.status', Values: ['attached'] },
        { Name: 'vpc-id', Values: [cluster.vpcId] },
        { Name: 'private-ip-address', Values: [...pod.privateIps] },
      ],
    }),
  );
  assert.deepEqual(
    found?.map(({ NetworkInterfaceId }) => NetworkInterfaceId),
    [pod.id],
  );
  assert.deepEqual(aws.takeProblems(), []);
});

test('what the models refuse is refused, and is a problem that a test sees', async () => {
  const { aws } = rigOf();
  const headers = {
    authorization: `AWS4-HMAC-SHA256 Credential=AKIA/20261123/eu-central-1/ec2/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`,
    'x-amz-date': '20261123T000000Z',
  };
  const ask = async (text: string) => {
    const answer = await aws.handle({
      method: 'POST',
      path: '/',
      query: new URLSearchParams(),
      headers,
      text: `${text}&Version=2016-11-15`,
    });
    return [
      answer?.status,
      /<Code>(?<code>\w+)</u.exec(answer?.text ?? '')?.groups?.['code'],
      aws.takeProblems().length,
    ];
  };
  assert.deepEqual(await ask('Action=DescribeInstances&InstanceIds.1=i-1'), [400, 'InvalidParameterValue', 1]);
  assert.deepEqual(await ask('Action=DescribeSubnets&MaxResults=4'), [400, 'InvalidParameterValue', 1]);
  assert.deepEqual(await ask('Action=RunInstances'), [400, 'InvalidAction', 1]);
  assert.deepEqual(await ask('Action=DescribeSubnets&MaxResults=5'), [200, undefined, 0]);
});
