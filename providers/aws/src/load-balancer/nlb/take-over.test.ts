import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancer } from '../../client/generated/elbv2.ts';
import { loadBalancerName } from '../names.ts';
import { desiredOf, NlbRig, serviceOf, UID } from './nlb-rig.suite.ts';

const UPSTREAM = { 'kubernetes.io/cluster/test': 'owned', 'kubernetes.io/service-name': 'shop/web' };

/** What cloud-provider-aws leaves behind: names, tags, health check and group of its own. */
function predecessor(
  rig: NlbRig,
  tags: Readonly<Record<string, string>> = UPSTREAM,
  more: Partial<LoadBalancer> = {},
): string {
  const { elbv2 } = rig;
  const name = loadBalancerName(UID);
  const arn = `arn:aws:elasticloadbalancing:eu-1:1:loadbalancer/net/${name}/f1`;
  elbv2.loadBalancers.set(arn, {
    visibleAt: 0,
    thing: {
      LoadBalancerArn: arn,
      LoadBalancerName: name,
      DNSName: 'old.elb.eu-1.amazonaws.com',
      Type: 'network',
      Scheme: 'internet-facing',
      IpAddressType: 'ipv4',
      SecurityGroups: [],
      AvailabilityZones: [{ SubnetId: 'subnet-1' }, { SubnetId: 'subnet-2' }],
      ...more,
    },
  });
  const group = 'arn:aws:elasticloadbalancing:eu-1:1:targetgroup/k8s-shop-web-0123456789/f2';
  elbv2.targetGroups.set(group, {
    visibleAt: 0,
    thing: {
      TargetGroupArn: group,
      TargetGroupName: 'k8s-shop-web-0123456789',
      Protocol: 'TCP',
      Port: 30_080,
      HealthCheckProtocol: 'TCP',
      HealthCheckPort: 'traffic-port',
      HealthCheckIntervalSeconds: 30,
      HealthyThresholdCount: 3,
      UnhealthyThresholdCount: 3,
      IpAddressType: 'ipv4',
    },
  });
  const listener = `${arn.replace('loadbalancer', 'listener')}/f3`;
  const action = { Type: 'forward', TargetGroupArn: group } as const;
  elbv2.listeners.set(listener, {
    visibleAt: 0,
    thing: { ListenerArn: listener, LoadBalancerArn: arn, Port: 80, Protocol: 'TCP', DefaultActions: [action] },
  });
  for (const one of [arn, group, listener]) elbv2.tags.set(one, { ...tags });
  elbv2.targets.set(
    group,
    new Map([
      ['i-0000000a', 'healthy'],
      ['i-0000000b', 'healthy'],
    ]),
  );
  return arn;
}

/** Of its port, for all clients. */
const OLD_RULES = { 'tcp 30080-30080 0.0.0.0/0': 'client' } as const;

test('what cloud-provider-aws made is taken over as it is: two tags, nothing made, nothing moved', async () => {
  const rig = new NlbRig();
  predecessor(rig);
  for (const id of ['i-0000000a', 'i-0000000b']) rig.opened.add(id);
  rig.nodeRules.set(loadBalancerName(UID), OLD_RULES);
  const desired = desiredOf(serviceOf());
  const named = serviceOf({ 'security-groups': 'sg-0000000a' });
  const done = await rig.bring({ ...desired, service: named });
  assert.deepEqual(done, ['claim target-group', 'claim load-balancer', 'update target-group', 'update load-balancer']);
  assert.deepEqual(rig.elbv2.counts()['AddTags'], 4, 'two owners, and two hashes of attributes');
  assert.deepEqual(
    rig.elbv2.writes().filter((one) => !one.endsWith('Attributes') && one !== 'AddTags'),
    [],
  );
  assert.deepEqual((await rig.plan({ ...desired, service: named })).ingress, [
    { hostname: 'old.elb.eu-1.amazonaws.com' },
  ]);
  for (const tags of rig.elbv2.tags.values()) assert.equal(tags['kubernetes.io/service-name'], 'shop/web');
});

test('one of a Service that goes is claimed, and goes', async () => {
  const rig = new NlbRig();
  predecessor(rig);
  await rig.bring(desiredOf(serviceOf(), [], false));
  assert.deepEqual([rig.elbv2.loadBalancers.size, rig.elbv2.targetGroups.size], [0, 0]);
});

test('one of a cluster of the same name in another VPC is not touched, though its Service has the same name', async () => {
  const rig = new NlbRig();
  const arn = predecessor(rig, UPSTREAM, { VpcId: 'vpc-2' });
  for (const { thing } of rig.elbv2.targetGroups.values()) Object.assign(thing, { VpcId: 'vpc-2' });
  await rig.bring(desiredOf(serviceOf(), [], false));
  assert.deepEqual([rig.elbv2.loadBalancers.has(arn), rig.elbv2.writes()], [true, []]);
});

for (const [what, tags] of Object.entries({
  'has no tags': {},
  'is another cluster’s': {
    ...UPSTREAM,
    'kubernetes.io/cluster/test': undefined,
    'kubernetes.io/cluster/other': 'owned',
  },
  'is another Service’s': { ...UPSTREAM, 'kubernetes.io/service-name': 'shop/other' },
  'is another owner’s': { ...UPSTREAM, 'outrigger.dev/cluster': 'other', 'outrigger.dev/owner': UID },
  'has half an owner': { ...UPSTREAM, 'outrigger.dev/owner': UID },
  'is the AWS Load Balancer Controller’s': {
    ...UPSTREAM,
    'elbv2.k8s.aws/cluster': 'test',
    'service.k8s.aws/stack': 'shop/web',
  },
  'is of EKS Auto Mode': { ...UPSTREAM, 'service.eks.amazonaws.com/stack': 'shop/web' },
})) {
  test(`a load balancer with the very name that ${what} is not touched`, async () => {
    const rig = new NlbRig();
    const given = Object.entries(tags).filter((tag): tag is [string, string] => tag[1] !== undefined);
    predecessor(rig, Object.fromEntries(given));
    const service = serviceOf();
    assert.deepEqual(
      (await rig.parts(service)).filter(({ owner }) => owner === undefined || owner.clusterId === 'cluster-uid'),
      [],
    );
    assert.deepEqual(await rig.bring(desiredOf(service, [], false)), []);
    assert.deepEqual(rig.elbv2.writes(), []);
    assert.deepEqual(await rig.balancers.listOwned(rig.call), []);
  });
}

test('a target group that another load balancer uses is another cluster’s of the same name, with a Service of the same name', async () => {
  const rig = new NlbRig();
  predecessor(rig, UPSTREAM, { LoadBalancerName: loadBalancerName('ffffffff-0000-4000-8000-000000000000') });
  const [group = ''] = rig.elbv2.targetGroups.keys();
  const before = structuredClone([rig.elbv2.tags.get(group), rig.elbv2.targets.get(group)]);
  await rig.bring(desiredOf(serviceOf(), ['i-0000000c']));
  await rig.bring(desiredOf(serviceOf(), [], false));
  assert.deepEqual([rig.elbv2.tags.get(group), rig.elbv2.targets.get(group)], before);
  assert.deepEqual([...rig.elbv2.targetGroups.keys()], [group]);
});

test('a Service of the AWS Load Balancer Controller is left to it; one that was served here keeps what it has', async () => {
  for (const type of ['external', 'nlb-ip']) {
    const rig = new NlbRig();
    await assert.rejects(rig.plan(desiredOf(serviceOf({ type }))), { code: 'implemented-elsewhere' });
    await rig.bring(desiredOf(serviceOf()));
    const { actions, refused } = await rig.plan(desiredOf(serviceOf({ type })));
    assert.deepEqual([actions, (refused as { readonly code?: string } | undefined)?.code], [[], 'unsupported']);
    await rig.bring(desiredOf(serviceOf({ type }), [], false));
    assert.equal(rig.elbv2.loadBalancers.size, 0);
  }
  assert.deepEqual(new NlbRig().balancers.classes, ['outrigger.dev/aws']);
});

test('rules of cloud-provider-aws go once the nodes let the shared group in', async () => {
  const rig = new NlbRig();
  predecessor(rig, UPSTREAM, { SecurityGroups: ['sg-0000000f'] });
  rig.nodeRules.set(loadBalancerName(UID), OLD_RULES);
  await rig.bring(desiredOf(serviceOf()));
  const [[, stored] = []] = rig.elbv2.loadBalancers;
  assert.deepEqual(stored?.thing.SecurityGroups, ['sg-0f1e2d3c', 'sg-5a4ed']);
  assert.deepEqual([[...rig.opened], rig.nodeRules.get(loadBalancerName(UID))], [['i-0000000a', 'i-0000000b'], {}]);
  rig.opened.delete('i-0000000b');
  assert.deepEqual(await rig.bring(desiredOf(serviceOf())), ['update target-group'], 'someone took the rule away');
  assert.ok(rig.opened.has('i-0000000b'));
});

test('a load balancer that was made without security groups gets none: AWS would refuse it', async () => {
  const rig = new NlbRig();
  predecessor(rig);
  await rig.bring(desiredOf(serviceOf()));
  assert.equal(rig.elbv2.counts()['SetSecurityGroups'], undefined);
});
