/** Beside the AWS Load Balancer Controller (LBC) in one cluster: what is its own is neither written nor deleted, and what it holds gets no second load balancer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';
import { classicGroupName, nlbGroupName } from './security-groups/group-names.ts';

const SHARED_RULE = 'elbv2.k8s.aws/targetGroupBinding=shared';
const FINALIZERS = ['service.k8s.aws/resources', 'service.eks.amazonaws.com/resources'];
const UPSTREAM_TAGS = { 'kubernetes.io/cluster/kubernetes': 'owned', 'kubernetes.io/service-name': 'shop/web' };
/** An administrator has all of its things tagged like those of cloud-provider-aws (`--default-tags`). */
const THEIR_TAGS = { ...UPSTREAM_TAGS, 'elbv2.k8s.aws/cluster': 'kubernetes', 'service.k8s.aws/stack': 'shop/web' };

interface Theirs {
  /** Of all that it has made. */
  readonly ids: readonly string[];
  /** All that it has made, as it stands. */
  readonly look: () => readonly unknown[];
}

/** As LBC makes them: a load balancer with its security group, the group of all its back ends, and rules for these in the group of nodes. */
async function madeByLbc({ aws, call, client, instances, vpcId }: FakeRig): Promise<Theirs> {
  const { account } = aws;
  const Tags = Object.entries(THEIR_TAGS).map(([Key, Value]) => ({ Key, Value }));
  const front = aws.addSecurityGroup({ vpcId, name: 'k8s-shop-web-0011223344', tags: THEIR_TAGS });
  const backTags = { ...THEIR_TAGS, 'elbv2.k8s.aws/resource': 'backend-sg' };
  const back = aws.addSecurityGroup({ vpcId, name: 'k8s-traffic-kubernetes-0011223344', tags: backTags });
  const own = account.interfaces.all().find(({ attachment }) => attachment?.instanceId === instances[0]);
  const [nodes = ''] = own?.groupIds ?? [];
  const allow = (GroupId: string, port: number, source: object): Promise<unknown> =>
    client.ec2(call, 'AuthorizeSecurityGroupIngress', {
      GroupId,
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: port, ToPort: port, ...source }],
    });
  await allow(front, 80, { IpRanges: [{ CidrIp: '0.0.0.0/0' }] });
  await allow(nodes, 30_080, { UserIdGroupPairs: [{ GroupId: back, Description: SHARED_RULE }] });
  await allow(nodes, 30_080, { IpRanges: [{ CidrIp: '10.0.0.0/16', Description: SHARED_RULE }] });
  const subnet = account.subnets.all().find(({ tags }) => 'kubernetes.io/role/elb' in tags);
  const { LoadBalancers = [] } = await client.elbv2(call, 'CreateLoadBalancer', {
    Name: 'k8s-shop-web-5566778899',
    Type: 'network',
    SubnetMappings: [{ SubnetId: subnet?.id ?? '' }],
    SecurityGroups: [front, back],
    Tags,
  });
  const targetGroup = async (Name: string): Promise<string> => {
    const input = { Name, Protocol: 'TCP', Port: 30_080, VpcId: vpcId, TargetType: 'instance', Tags } as const;
    const { TargetGroups = [] } = await client.elbv2(call, 'CreateTargetGroup', input);
    return TargetGroups[0]?.TargetGroupArn ?? '';
  };
  const group = await targetGroup('k8s-shop-web-99aabbccdd');
  // Which no load balancer uses yet.
  const young = await targetGroup('k8s-shop-web-0000030080');
  const balancer = LoadBalancers[0]?.LoadBalancerArn ?? '';
  await client.elbv2(call, 'RegisterTargets', { TargetGroupArn: group, Targets: instances.map((Id) => ({ Id })) });
  const { Listeners = [] } = await client.elbv2(call, 'CreateListener', {
    LoadBalancerArn: balancer,
    Port: 80,
    Protocol: 'TCP',
    DefaultActions: [{ Type: 'forward', TargetGroupArn: group }],
    Tags,
  });
  const listener = Listeners[0]?.ListenerArn ?? '';
  const groupIds = [front, back];
  aws.calls.clear();
  return {
    ids: [front, back, balancer, group, young, listener],
    look: () =>
      structuredClone([
        groupIds.map((id) => account.groups.get(id)),
        account.rules
          .all()
          .filter((rule) => groupIds.includes(rule.groupId) || rule.description === SHARED_RULE)
          .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        account.balancers.get(balancer),
        account.listeners.get(listener),
        [group, young].map((id) => account.targetGroups.get(id)),
        account.targets.of(group),
        account.interfaces.all().filter((one) => groupIds.some((id) => one.groupIds.includes(id))),
      ]),
  };
}

/** Of those that change something, what was asked of any of these. */
function writesTo({ aws }: FakeRig, ids: readonly string[]): readonly string[] {
  return aws.calls
    .all()
    .filter(({ body, operation }) => {
      const text = JSON.stringify(body);
      return !operation.includes(':Describe') && ids.some((id) => text.includes(id));
    })
    .map(({ operation }) => operation);
}

const CLASSIC: LoadBalancerService = { ...serviceOf(), annotations: {} };
const SERVICES = { Network: serviceOf(), Classic: CLASSIC } as const;

for (const [kind, service] of Object.entries(SERVICES)) {
  test(`a ${kind} Load Balancer of a Service with the same name comes, changes, and goes; what is LBC's stays as it is`, async () => {
    const rig = new FakeRig({ knobs: { elbLagMs: 3_000, ec2LagMs: 2_000, interfaceReleaseMs: 30_000 } });
    const { ids, look } = await madeByLbc(rig);
    const before = look();
    const [, ...some] = rig.instances;
    const more = { ...serviceOf({}, {}, [80, 443]), annotations: service.annotations };
    const after = async (desired: Parameters<FakeRig['bring']>[0]): Promise<readonly string[]> => {
      const done = await rig.bring(desired);
      assert.deepEqual(look(), before);
      return done;
    };
    assert.notDeepEqual(await after(rig.desired(service, some)), []);
    assert.notDeepEqual(await after(rig.desired(service)), [], 'a node joins');
    assert.notDeepEqual(await after(rig.desired(more, some)), [], 'a port, and a node leaves');
    await rig.clock.advance(10_000);
    rig.started();
    assert.deepEqual(await after(rig.desired(more, some)), [], 'another process finds nothing to do');
    const owned = await rig.balancers.listOwned(rig.call);
    assert.ok(owned.length > 0);
    assert.deepEqual(
      owned.filter(({ id }) => ids.includes(id)),
      [],
    );
    await after(rig.desired(more, [], false));
    await rig.clock.advance(600_000);
    rig.started();
    assert.deepEqual(await rig.balancers.listOwned(rig.call), [], 'no orphan');
    assert.deepEqual([look(), writesTo(rig, ids), rig.aws.takeProblems()], [before, [], []]);
  });

  test(`a ${kind} Load Balancer is not made while LBC holds the Service by its finalizer, and at once when that is gone`, async () => {
    for (const finalizer of FINALIZERS) {
      const rig = new FakeRig();
      const { ids, look } = await madeByLbc(rig);
      const before = look();
      // Left over by cloud-provider-aws: nobody serves by it.
      const name = service === CLASSIC ? classicGroupName(service) : nlbGroupName(service, 'test');
      rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name, tags: UPSTREAM_TAGS });
      const held = { ...service, finalizers: ['example.com/other', finalizer] };
      const { writes } = rig;
      await assert.rejects(rig.bring(rig.desired(held)), { code: 'implemented-elsewhere', message: /\/resources/u });
      assert.deepEqual([rig.writes - writes, look()], [0, before]);
      await rig.bring(rig.desired({ ...service, finalizers: ['example.com/other'] }));
      assert.equal(rig.aws.account.balancers.all().length + rig.aws.account.classics.all().length, 2);
      assert.deepEqual([look(), writesTo(rig, ids)], [before, []]);
    }
  });

  test(`a ${kind} Load Balancer of ours goes on to serve a Service that has LBC's finalizer too, and goes with it`, async () => {
    const rig = new FakeRig();
    const { ids, look } = await madeByLbc(rig);
    const before = look();
    await rig.bring(rig.desired(service, rig.instances.slice(1)));
    const held = { ...serviceOf({}, {}, [80, 443]), annotations: service.annotations, finalizers: FINALIZERS };
    assert.notDeepEqual(await rig.bring(rig.desired(held)), []);
    const { complete, ingress } = rig.balancers.plan(rig.desired(held), await rig.parts(held));
    assert.deepEqual([complete, ingress.length], [true, 1]);
    await rig.bring(rig.desired(held, [], false));
    const { balancers, classics } = rig.aws.account;
    assert.deepEqual([balancers.all().length, classics.all().length], [1, 0]);
    await rig.clock.advance(600_000);
    rig.started();
    assert.deepEqual(await rig.balancers.listOwned(rig.call), []);
    assert.deepEqual([look(), writesTo(rig, ids)], [before, []]);
  });

  test(`a ${kind} Load Balancer is ours by the Service's address while there is none, whatever finalizer LBC has left there`, async () => {
    const rig = new FakeRig();
    await rig.bring(rig.desired(service));
    const { ingress } = rig.balancers.plan(rig.desired(service), await rig.parts(service));
    await rig.bring(rig.desired(service, [], false));
    await rig.clock.advance(600_000);
    const held = { ...service, finalizers: FINALIZERS };
    const others = [{ hostname: 'k8s-shop-web-0011223344-aabb.elb.eu-central-1.amazonaws.com' }, { ip: '192.0.2.1' }];
    for (const made of [[], others]) {
      await assert.rejects(rig.bring(rig.desired({ ...held, ingress: made })), { code: 'implemented-elsewhere' });
    }
    const { classics, balancers } = rig.aws.account;
    assert.deepEqual([...balancers.all(), ...classics.all()], []);
    await rig.bring(rig.desired({ ...held, ingress }));
    assert.equal(balancers.all().length + classics.all().length, 1);
  });

  test(`a ${kind} Load Balancer with LBC's finalizer is judged when it is known what is there, and not before`, async () => {
    const rig = new FakeRig();
    await madeByLbc(rig);
    const held = { ...service, finalizers: FINALIZERS };
    const parts = await rig.parts(held);
    assert.throws(() => rig.balancers.plan(rig.desired(held), parts), { code: 'implemented-elsewhere' });
    // Another process, that cannot find out which VPC and which tags are the cluster's.
    rig.started();
    rig.aws.faults.set({ operation: 'DescribeSubnets', status: 500, code: 'InternalError', times: 1_000 });
    const unread = await rig.parts(held);
    assert.throws(() => rig.balancers.plan(rig.desired(held), unread), { code: 'unavailable' });
  });

  test(`what cloud-provider-aws made for a ${kind} one is taken over, and goes, though the Service has LBC's finalizer`, async () => {
    const rig = new FakeRig();
    await rig.bring(rig.desired(service));
    const { balancers, classics, groups, targetGroups } = rig.aws.account;
    const withoutOwner = <T extends { readonly tags: Readonly<Record<string, string>> }>(thing: T): T => ({
      ...thing,
      tags: Object.fromEntries(Object.entries(thing.tags).filter(([key]) => !key.startsWith('outrigger.dev/'))),
    });
    for (const one of balancers.all()) balancers.put(withoutOwner(one));
    for (const one of classics.all()) classics.put(withoutOwner(one));
    for (const one of targetGroups.all()) targetGroups.put(withoutOwner(one));
    for (const one of groups.all()) if (!('outrigger.dev/shared-by' in one.tags)) groups.put(withoutOwner(one));
    rig.started();
    const held = { ...service, finalizers: FINALIZERS };
    const done = await rig.bring(rig.desired(held));
    assert.ok(
      done.some((line) => line.startsWith('claim ')),
      done.join(', '),
    );
    await rig.bring(rig.desired(held, [], false));
    assert.deepEqual([balancers.all().length, classics.all().length, targetGroups.all().length], [0, 0, 0]);
  });
}

for (const kind of ['Network', 'Classic'] as const) {
  test(`a ${kind} Load Balancer of ours that somebody has given a tag of LBC is ours still, and goes with its Service`, async () => {
    const rig = new FakeRig();
    const { account } = rig.aws;
    const service = { ...serviceOf(), ...(kind === 'Classic' && { annotations: {} }) };
    await rig.bring(rig.desired(service));
    const before = await rig.parts(service);
    const Tags = [{ Key: 'service.eks.amazonaws.com/stack', Value: 'x' }];
    for (const { id } of account.classics.all())
      await rig.client.elb(rig.call, 'AddTags', { LoadBalancerNames: [id], Tags });
    for (const { id } of [...account.balancers.all(), ...account.targetGroups.all()])
      await rig.client.elbv2(rig.call, 'AddTags', { ResourceArns: [id], Tags });
    rig.started();
    const ids = (parts: typeof before): readonly string[] => parts.map(({ id }) => id).toSorted();
    assert.deepEqual(ids(await rig.parts(service)), ids(before));
    assert.deepEqual(ids(await rig.balancers.listOwned(rig.call)), ids(before));
    assert.deepEqual(await rig.bring(rig.desired(service)), []);
    await rig.bring(rig.desired(service, [], false));
    assert.deepEqual([account.classics.all(), account.balancers.all(), account.targetGroups.all()], [[], [], []]);
  });
}

test('a security group with the very name of a Service’s that has a tag of LBC is not touched', async () => {
  for (const [service, name] of [
    [CLASSIC, classicGroupName(CLASSIC)],
    [serviceOf(), nlbGroupName(serviceOf(), 'test')],
  ] as const) {
    const rig = new FakeRig();
    const id = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name, tags: THEIR_TAGS });
    const before = rig.aws.account.groups.get(id);
    assert.deepEqual(await rig.bring(rig.desired({ ...service }, [], false)), []);
    const adopt = [{ kind: 'security-group', id }];
    await assert.rejects(rig.bring(rig.desired({ ...service, adopt })), /already exists/u);
    assert.deepEqual([rig.aws.account.groups.get(id), writesTo(rig, [id])], [before, []]);
    assert.deepEqual(await rig.balancers.listOwned(rig.call), []);
  }
});

test('Services of the classes of LBC and of EKS Auto Mode are none of this provider', () => {
  const { classes } = new FakeRig().balancers;
  for (const one of ['service.k8s.aws/nlb', 'eks.amazonaws.com/nlb']) assert.ok(!classes.includes(one));
});
