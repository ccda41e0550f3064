import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeRig } from './fake-rig.suite.ts';
import { loadBalancerName } from './names.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';
import { groupOf, rigOf, rulesIn, untagNodes } from './upstream-nlb.suite.ts';

test('one without security groups and without any node is complete, and nodes that come let it in', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  const [first = ''] = rig.instances;
  const nodes = await groupOf(rig, first);
  const isRule = ({ groupId, isEgress }: { readonly groupId: string; readonly isEgress: boolean }): boolean =>
    groupId === nodes && !isEgress;
  for (const { id } of rig.aws.account.rules.all().filter(isRule)) rig.aws.account.rules.remove(id);
  await rig.bring(rig.desired(service, []));
  const { actions, complete } = rig.balancers.plan(rig.desired(service, []), await rig.parts(service));
  assert.deepEqual([actions, complete], [[], true]);
  await rig.bring(rig.desired(service, [first]));
  assert.deepEqual(await rulesIn(rig, nodes), [
    'icmp 3-4 0.0.0.0/0 mtu',
    `tcp 30080-30080 0.0.0.0/0 client=${loadBalancerName(service.uid)}`,
  ]);
});

test('while it is not known which cluster this is, one without security groups stays, and goes with its rules afterwards', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  const nodes = await groupOf(rig, rig.instances[0] ?? '');
  const rules = await rulesIn(rig, nodes);
  rig.aws.metadata.isServed = false;
  rig.started('');
  await assert.rejects(rig.bring(rig.desired(service, [], false)), /it is not known which cluster this is/);
  assert.deepEqual([await rulesIn(rig, nodes), rig.aws.account.balancers.all().length], [rules, 1]);
  rig.started();
  await rig.bring(rig.desired(service, [], false));
  assert.deepEqual([await rulesIn(rig, nodes), rig.aws.account.balancers.all().length], [[], 0]);
});

test('while it is not known which cluster this is, one with security groups goes', async () => {
  const rig = new FakeRig({});
  const service = serviceOf();
  await rig.bring(rig.desired(service));
  rig.aws.metadata.isServed = false;
  rig.started('');
  await rig.bring(rig.desired(service, [], false));
  assert.equal(rig.aws.account.balancers.all().length, 0);
});

test('nodes let in a load balancer without security groups by its ports, source ranges and subnets, as these change, and no more when it goes', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  const nodes = await groupOf(rig, rig.instances[0] ?? '');
  const name = loadBalancerName(service.uid);
  await rig.bring(rig.desired(service));
  assert.deepEqual(await rulesIn(rig, nodes), [`tcp 30080-30080 0.0.0.0/0 client=${name}`]);
  const ours = rig.aws.account.groups
    .all()
    .filter(({ tags }) => Object.keys(tags).some((key) => key.startsWith('outrigger.dev/')));
  assert.deepEqual(ours, [], 'a group that it can never have is not made');
  await rig.bring(rig.desired(serviceOf({}, { sourceRanges: ['192.0.2.0/24'] }, [80, 443])));
  const found = await rulesIn(rig, nodes);
  const { Subnets = [] } = await rig.client.ec2(rig.call, 'DescribeSubnets', {});
  const [thing] = rig.aws.account.balancers.all();
  const { AvailabilityZones = [] } =
    (await rig.client.elbv2(rig.call, 'DescribeLoadBalancers', {})).LoadBalancers?.[0] ?? {};
  assert.ok(thing);
  const ranges = Subnets.filter(({ SubnetId }) => AvailabilityZones.some((zone) => zone.SubnetId === SubnetId)).map(
    ({ CidrBlock = '' }) => CidrBlock,
  );
  assert.ok(ranges.length > 0);
  const ports = [30080, 30443];
  assert.deepEqual(
    found,
    [
      'icmp 3-4 192.0.2.0/24 mtu',
      ...ports.map((port) => `tcp ${port}-${port} 192.0.2.0/24 client=${name}`),
      ...ports.flatMap((port) => ranges.map((range) => `tcp ${port}-${port} ${range} health=${name}`)),
    ].toSorted(),
  );
  await rig.bring(rig.desired(service, [], false));
  assert.deepEqual(await rulesIn(rig, nodes), []);
  assert.deepEqual(rig.aws.takeProblems(), []);
});

test('rules of the AWS Load Balancer Controller in the group of nodes stay, also one that the load balancer needs itself', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  const { rules } = rig.aws.account;
  const description = 'elbv2.k8s.aws/targetGroupBinding=shared';
  const GroupId = await groupOf(rig, rig.instances[0] ?? '');
  const source = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'k8s-traffic-kubernetes-0011223344' });
  const UserIdGroupPairs = [{ GroupId: source, Description: description }];
  const IpRanges = ['0.0.0.0/0', '10.0.0.0/16'].map((CidrIp) => ({ CidrIp, Description: description }));
  const IpPermissions = [{ IpProtocol: 'tcp', FromPort: 30_443, ToPort: 30_443, IpRanges, UserIdGroupPairs }];
  await rig.client.ec2(rig.call, 'AuthorizeSecurityGroupIngress', { GroupId, IpPermissions });
  const theirs = (): unknown => structuredClone(rules.all().filter((rule) => rule.description === description));
  const before = theirs();
  const more = serviceOf({}, {}, [80, 443]);
  for (const desired of [
    rig.desired(service),
    rig.desired(more),
    rig.desired(more, rig.instances.slice(1)),
    rig.desired(service),
    rig.desired(service, [], false),
  ]) {
    await rig.bring(desired);
    assert.deepEqual(theirs(), before);
  }
  assert.deepEqual(await rulesIn(rig, GroupId), []);
});

test('a node that joins with another security group lets it in before it is a target', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  const [first, second, third = ''] = rig.instances;
  await rig.bring(rig.desired(service, [first ?? '', second ?? '']));
  const other = await rig.client.ec2(rig.call, 'CreateSecurityGroup', {
    GroupName: 'pool',
    Description: 'pool',
    VpcId: rig.vpcId,
    TagSpecifications: [
      { ResourceType: 'security-group', Tags: [{ Key: 'kubernetes.io/cluster/kubernetes', Value: 'owned' }] },
    ],
  });
  const pool = other.GroupId ?? '';
  const { interfaces } = rig.aws.account;
  const own = interfaces.all().find(({ attachment }) => attachment?.instanceId === third);
  assert.ok(own);
  interfaces.put({ ...own, groupIds: [pool] });
  rig.started();
  const desired = rig.desired(service);
  const done: string[] = [];
  const plan = rig.balancers.planMembers?.(desired, await rig.parts(service));
  for (const action of plan?.actions ?? []) {
    done.push(`${action.kind} ${action.part}`);
    await rig.balancers.apply(action, desired, rig.call);
  }
  assert.deepEqual(done, ['update target-group']);
  assert.deepEqual(await rulesIn(rig, pool), [
    'icmp 3-4 0.0.0.0/0 mtu',
    `tcp 30080-30080 0.0.0.0/0 client=${loadBalancerName(service.uid)}`,
  ]);
  await rig.bring(rig.desired(service, [], false));
  assert.deepEqual(await rulesIn(rig, pool), []);
});

test('in a group of nodes that no look shows, as it has no tag of the cluster, rules follow ports and source ranges, and go with the load balancer', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  const nodes = await untagNodes(rig);
  const name = loadBalancerName(service.uid);
  await rig.bring(rig.desired(service));
  const open = `tcp 30080-30080 0.0.0.0/0 client=${name}`;
  assert.deepEqual(await rulesIn(rig, nodes), [open]);
  const clientRules = async (): Promise<readonly string[]> =>
    (await rulesIn(rig, nodes)).filter((rule) => rule.includes(' client='));
  const range = '192.0.2.0/24';
  const rule = (port: number): string => `tcp ${port}-${port} ${range} client=${name}`;
  await rig.bring(rig.desired(serviceOf({}, { sourceRanges: [range] }, [80, 443])));
  assert.deepEqual(await clientRules(), [rule(30080), rule(30443)]);
  rig.started();
  await rig.bring(rig.desired(serviceOf({}, { sourceRanges: [range] }, [443])));
  assert.deepEqual(await clientRules(), [rule(30443)]);
  const writes = rig.writes;
  await rig.clock.advance(600_000);
  assert.deepEqual(await rig.bring(rig.desired(serviceOf({}, { sourceRanges: [range] }, [443]))), []);
  assert.equal(rig.writes, writes, 'what is so is not written again');
  await rig.bring(rig.desired(service, [], false));
  assert.deepEqual(await rulesIn(rig, nodes), []);
  assert.deepEqual(rig.aws.takeProblems(), []);
});

test('a node that joins where no look shows the group of the nodes makes no shared group for one that can never have it', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await untagNodes(rig);
  await rig.bring(rig.desired(service, rig.instances.slice(0, 2)));
  await rig.bring(rig.desired(service));
  const shared = rig.aws.account.groups.all().filter(({ tags }) => 'outrigger.dev/shared-by' in tags);
  assert.deepEqual(shared, []);
});

for (const restarts of [false, true]) {
  test(`rules in a group that no look shows, and that no node has any more, go with ${restarts ? 'the load balancer, when another process has come' : 'the next change of its rules'}`, async () => {
    const service = serviceOf();
    const rig = await rigOf(service);
    const pool = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'pool' });
    const [last = ''] = rig.instances.slice(-1);
    const { interfaces } = rig.aws.account;
    const own = interfaces.all().find(({ attachment }) => attachment?.instanceId === last);
    assert.ok(own);
    interfaces.put({ ...own, groupIds: [pool] });
    await rig.bring(rig.desired(service));
    assert.equal((await rulesIn(rig, pool)).length, 2);
    if (restarts) {
      interfaces.put(own);
      rig.started();
    }
    await rig.bring(rig.desired(service, rig.instances.slice(0, 2)));
    const narrowed = serviceOf({}, { sourceRanges: ['192.0.2.0/24'] });
    await rig.bring(restarts ? rig.desired(service, [], false) : rig.desired(narrowed, rig.instances.slice(0, 2)));
    assert.deepEqual(await rulesIn(rig, pool), []);
  });
}

test('where AWS does not change its subnets, nodes let in still what asks about health from those that it has', async () => {
  const service = serviceOf({}, { sourceRanges: ['192.0.2.0/24'] });
  const rig = await rigOf(service);
  const nodes = await groupOf(rig, rig.instances[0] ?? '');
  await rig.bring(rig.desired(service));
  const healthRules = async (): Promise<readonly string[]> =>
    (await rulesIn(rig, nodes)).filter((rule) => rule.includes(' health='));
  const before = await healthRules();
  assert.ok(before.length > 0);
  const [thing] = (await rig.client.elbv2(rig.call, 'DescribeLoadBalancers', {})).LoadBalancers ?? [];
  const [one, ...others] = thing?.AvailabilityZones ?? [];
  assert.ok(others.length > 0);
  rig.aws.faults.set({ operation: 'SetSubnets', status: 400, code: 'ResourceInUse' });
  const moved = serviceOf({ subnets: `${one?.SubnetId}` }, { sourceRanges: ['192.0.2.0/24'] });
  await assert.rejects(rig.bring(rig.desired(moved)));
  assert.deepEqual(await healthRules(), before);
  rig.aws.faults.set();
  await rig.bring(rig.desired(moved));
  assert.deepEqual((await healthRules()).length, 1);
});
