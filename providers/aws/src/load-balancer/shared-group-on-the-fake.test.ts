import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';

const SLOW = { provisioningMs: 120_000, interfaceReleaseMs: 60_000, elbLagMs: 2_000, ec2LagMs: 2_000 };
const SHARED = 'outrigger.dev/shared-by';

const sharedGroups = ({ aws }: FakeRig): number => aws.account.groups.all().filter(({ tags }) => SHARED in tags).length;

test('of Services that all name groups of their own, the last one takes the shared group along, and none before', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  const named = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'by-hand' });
  const [first, second] = ['1', '2'].map((digit) =>
    serviceOf(
      { 'security-groups': named },
      { uid: `${digit}f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0`, name: `web-${digit}` },
    ),
  );
  await rig.bring(rig.desired(first!));
  await rig.bring(rig.desired(second!));
  assert.equal(sharedGroups(rig), 1);
  rig.started();
  await rig.bring(rig.desired(first!, [], false));
  assert.equal(sharedGroups(rig), 1);
  assert.deepEqual(await rig.bring(rig.desired(second!)), [], 'the other one is let in as before');
  await rig.bring(rig.desired(second!, [], false));
  assert.equal(sharedGroups(rig), 0);
  assert.deepEqual(rig.aws.takeProblems(), []);
});

test('of a Service whose load balancer AWS never made, the shared group goes too', async () => {
  const rig = new FakeRig({ knobs: { ...SLOW, mostNetworkLoadBalancers: 0 } });
  await assert.rejects(rig.bring(rig.desired(serviceOf())), /maximum number|quota|limit/iu);
  assert.equal(sharedGroups(rig), 1);
  await rig.bring(rig.desired(serviceOf(), [], false));
  assert.equal(sharedGroups(rig), 0);
});

test('from Network to Classic, the shared group goes with the Network one', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  await rig.bring(rig.desired(serviceOf()));
  await rig.bring(rig.desired({ ...serviceOf(), annotations: {} }));
  assert.equal(sharedGroups(rig), 0);
});

test('of a Service whose target groups AWS refuses, nothing is left over', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  const named = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'by-hand' });
  for (const service of [serviceOf(), serviceOf({ 'security-groups': named })]) {
    rig.aws.faults.set({ operation: 'CreateTargetGroup', status: 400, code: 'TooManyTargetGroups', times: 1_000 });
    const desired = rig.desired(service);
    for (let round = 0; round < 3; round++) {
      const { actions } = rig.balancers.plan(desired, await rig.parts(service));
      for (const action of actions) await rig.balancers.apply(action, desired, rig.call).catch(() => {});
      await rig.clock.advance(20_000);
    }
    rig.aws.faults.set();
    await rig.bring(rig.desired(service, [], false));
    assert.equal(sharedGroups(rig), 0);
  }
});

test('a shared group that somebody deletes with its load balancer is made again', async () => {
  const rig = new FakeRig();
  const { account } = rig.aws;
  await rig.bring(rig.desired(serviceOf()));
  await rig.clock.advance(600_000);
  for (const { id } of account.listeners.all()) account.listeners.remove(id);
  for (const { id } of account.balancers.all()) account.balancers.remove(id);
  const before = account.groups.all().filter(({ tags }) => SHARED in tags);
  for (const { id } of before) account.groups.remove(id);
  for (const rule of account.rules.all()) if (rule.referencedGroupId === before[0]?.id) account.rules.remove(rule.id);
  await rig.bring(rig.desired(serviceOf()));
  assert.equal(sharedGroups(rig), 1);
  assert.deepEqual(rig.aws.takeProblems(), []);
});

test('while a load balancer is being made with the shared group, the last deletion leaves it alone', async () => {
  const rig = new FakeRig();
  const [old, young] = ['1', '2'].map((digit) =>
    serviceOf({}, { uid: `${digit}f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0`, name: `web-${digit}` }),
  );
  await rig.bring(rig.desired(old!));
  const desired = rig.desired(young!);
  const removed = rig.desired(old!, [], false);
  let gone: Promise<unknown> | undefined;
  rig.before = async (body) => {
    if (!body.includes('Action=CreateLoadBalancer') || gone) return;
    // All of the other one goes while this request waits for its turn.
    gone = rig.bring(removed);
    await gone;
  };
  await rig.bring(desired);
  assert.ok(gone);
  assert.equal(sharedGroups(rig), 1);
  assert.equal(rig.aws.account.targetGroups.all().length, 1);
  await rig.bring(rig.desired(young!, [], false));
  assert.equal(sharedGroups(rig), 0);
});

test('a node whose security group is full is no target, and no change of a load balancer waits for it, only for nodes that are', async () => {
  const rig = new FakeRig();
  const { account } = rig.aws;
  const tags = { 'kubernetes.io/cluster/kubernetes': 'owned' };
  const full = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'full', tags });
  const IpRanges = Array.from({ length: 60 }, (_, i) => ({ CidrIp: `10.9.${i}.0/24` }));
  const IpPermissions = [{ IpProtocol: 'tcp', FromPort: 1, ToPort: 1, IpRanges }];
  await rig.client.ec2(rig.call, 'AuthorizeSecurityGroupIngress', { GroupId: full, IpPermissions });
  const subnetId = account.instances.get(rig.instances[0] ?? '')?.subnetId ?? '';
  const { id } = rig.aws.addInstance({ subnetId, groupIds: [full], tags });
  const named = ['one', 'two'].map((name) => rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name }));
  const groups = (): readonly string[] => account.balancers.all()[0]?.groupIds ?? [];
  await rig.bring(rig.desired(serviceOf({ 'security-groups': named[0]! })));
  const told = (change: Readonly<Record<string, string>>): Promise<void> =>
    assert.rejects(rig.bring(rig.desired(serviceOf(change), [...rig.instances, id])), /is full/u);
  await told({ 'security-groups': named[1]! });
  assert.ok(groups().includes(named[1]!) && !groups().includes(named[0]!));
  // One that is served is not cut off, and all else is done.
  const [group] = account.targetGroups.all();
  const [balancer] = account.balancers.all();
  const registered = { TargetGroupArn: group!.id, Targets: [{ Id: id }] };
  await rig.client.elbv2(rig.call, 'RegisterTargets', registered);
  rig.started();
  account.balancers.put({ ...balancer!, groupIds: [named[1]!] });
  await told({ 'security-groups': named[0]!, 'cross-zone-load-balancing-enabled': 'true' });
  assert.deepEqual(groups(), [named[1]!]);
  const LoadBalancerArn = balancer!.id;
  const { Attributes } = await rig.client.elbv2(rig.call, 'DescribeLoadBalancerAttributes', { LoadBalancerArn });
  const crossZone = Attributes?.find(({ Key }) => Key === 'load_balancing.cross_zone.enabled');
  assert.equal(crossZone?.Value, 'true');
});
