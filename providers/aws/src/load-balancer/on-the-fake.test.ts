import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredLoadBalancer, LoadBalancerService } from '@outrigger/cloud-provider';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';

const SLOW = { provisioningMs: 120_000, interfaceReleaseMs: 60_000, elbLagMs: 15_000, ec2LagMs: 2_000 };

function left({ aws }: FakeRig): Readonly<Record<string, number>> {
  const { balancers, listeners, targetGroups } = aws.account;
  return {
    balancers: balancers.all().length,
    listeners: listeners.all().length,
    targetGroups: targetGroups.all().length,
  };
}

/** The stages in the life of a Service. */
function stagesOf(rig: FakeRig): readonly DesiredLoadBalancer[] {
  const [, ...others] = rig.instances;
  return [
    rig.desired(serviceOf({ 'additional-resource-tags': 'a=1' }, {}, [80, 443])),
    rig.desired(serviceOf({ internal: 'true', 'cross-zone-load-balancing-enabled': 'true' }, {}, [443, 8080]), others),
    rig.desired(serviceOf(), [], false),
  ];
}

test('on the fake AWS, whose lists are behind and which takes minutes: made, changed, and gone without a rest', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  const [made, changed, gone] = stagesOf(rig);
  assert.deepEqual(await rig.bring(made!), [
    'create security-group',
    'create target-group',
    'create target-group',
    'update target-group',
    'update target-group',
    'create load-balancer',
    'create listener',
    'create listener',
  ]);
  const { ingress } = rig.balancers.plan(made!, await rig.parts(made!.service));
  assert.match(ingress[0]?.hostname ?? '', /\.elb\.eu-central-1\.amazonaws\.com$/u);
  await rig.bring(changed!);
  assert.deepEqual(left(rig), { balancers: 1, listeners: 2, targetGroups: 2 });
  await rig.bring(gone!);
  assert.deepEqual(left(rig), { balancers: 0, listeners: 0, targetGroups: 0 });
  assert.deepEqual(rig.aws.takeProblems(), []);
});

/** Every third write, to keep it short. */
const STEP = 3;

for (const takesEffect of [false, true]) {
  test(`on the fake AWS, killed at each write, ${takesEffect ? 'after' : 'before'} it took effect: nothing is left over`, async () => {
    const clean = new FakeRig({}, 2);
    for (const stage of stagesOf(clean)) await clean.bring(stage);
    assert.ok(clean.writes > 20, `${clean.writes} writes`);
    for (let at = takesEffect ? 1 : 0; at < clean.writes; at += STEP) {
      const rig = new FakeRig({ knobs: { elbLagMs: 3_000, ec2LagMs: 2_000 } }, 2);
      rig.fault = { after: at, takesEffect };
      for (const stage of stagesOf(rig)) await rig.persist(stage);
      assert.deepEqual(left(rig), { balancers: 0, listeners: 0, targetGroups: 0 }, `write ${at}`);
      const isMade = (tag: string): boolean => tag.startsWith('outrigger.dev/');
      const owned = rig.aws.account.groups.all().filter(({ tags }) => Object.keys(tags).some(isMade));
      assert.deepEqual(owned, [], `write ${at}`);
    }
  });
}

test('from Classic to Network and back: the new one is there before the old one goes, and nothing is left over', async () => {
  const rig = new FakeRig({ knobs: { provisioningMs: 60_000, interfaceReleaseMs: 30_000 } });
  const service = serviceOf();
  const [classic, network] = [{ ...service, annotations: {} }, service].map((one) => rig.desired(one));
  const { balancers, classics } = rig.aws.account;
  const kinds = (): readonly number[] => [classics.all().length, balancers.all().length];
  await rig.bring(classic!);
  assert.deepEqual(kinds(), [1, 0]);
  const there = await rig.bring(network!);
  assert.ok(there.indexOf('create listener') < there.indexOf('delete classic-load-balancer'), there.join(', '));
  assert.deepEqual(kinds(), [0, 1]);
  const back = await rig.bring(classic!);
  assert.ok(back.indexOf('create classic-load-balancer') < back.indexOf('delete load-balancer'), back.join(', '));
  assert.deepEqual(kinds(), [1, 0]);
  await rig.bring({ ...classic!, wanted: false });
  assert.deepEqual([kinds(), left(rig)], [[0, 0], { balancers: 0, listeners: 0, targetGroups: 0 }]);
  assert.deepEqual(rig.aws.takeProblems(), []);
});

for (const [title, isToNetwork, deleted] of [
  ['a Classic one serves until its Network one has a healthy target', true, 'delete classic-load-balancer'],
  ['a Network one serves until its Classic one has an instance in service', false, 'delete load-balancer'],
] as const) {
  test(`${title}, and ten minutes at most`, async () => {
    const rig = new FakeRig({ knobs: { targetInitialMs: 90_000 } });
    const { balancers, classics, knobs } = rig.aws.account;
    const network = serviceOf();
    const classic = { ...network, annotations: {} };
    const [before, after, left] = isToNetwork ? [classic, network, classics] : [network, classic, balancers];
    await rig.bring(rig.desired(before));
    const started = rig.clock.monotonic();
    const lines = await rig.bring(rig.desired(after));
    assert.equal(lines.filter((line) => line === deleted).length, 1);
    assert.ok(rig.clock.monotonic() - started >= 90_000, 'it went before');
    await rig.bring(rig.desired(before));
    knobs.targetInitialMs = 3_600_000;
    await assert.rejects(rig.bring(rig.desired(after)), /it comes to no end/);
    assert.equal(left.all().length, 1);
    await rig.clock.advance(600_000);
    await rig.bring(rig.desired(after));
    assert.equal(left.all().length, 0);
  });
}

test('a Classic one serves as long as its Network one has no target at all', async () => {
  const rig = new FakeRig();
  const { classics } = rig.aws.account;
  const service = serviceOf();
  await rig.bring(rig.desired({ ...service, annotations: {} }));
  rig.aws.faults.set({ operation: 'RegisterTargets', status: 500, code: 'InternalFailure', times: 1_000 });
  const desired = rig.desired(service);
  for (let round = 0; round < 10; round++) {
    const { actions } = rig.balancers.plan(desired, await rig.parts(service));
    for (const action of actions) await rig.balancers.apply(action, desired, rig.call).catch(() => {});
    await rig.clock.advance(120_000);
  }
  assert.equal(classics.all().length, 1);
});

test('a Network one serves as long as its Classic one has no instance at all', async () => {
  const rig = new FakeRig();
  const { balancers } = rig.aws.account;
  await rig.bring(rig.desired(serviceOf()));
  rig.aws.faults.set({
    operation: 'RegisterInstancesWithLoadBalancer',
    status: 500,
    code: 'InternalFailure',
    times: 1_000,
  });
  const desired = rig.desired({ ...serviceOf(), annotations: {} });
  for (let round = 0; round < 10; round++) {
    const { actions } = rig.balancers.plan(desired, await rig.parts(desired.service));
    for (const action of actions) await rig.balancers.apply(action, desired, rig.call).catch(() => {});
    await rig.clock.advance(120_000);
  }
  assert.equal(balancers.all().length, 1);
});

test('without nodes, one kind takes the place of the other at once', async () => {
  const rig = new FakeRig();
  const { balancers, classics } = rig.aws.account;
  const [network, classic] = [serviceOf(), { ...serviceOf(), annotations: {} }].map((one) => rig.desired(one, []));
  for (const [desired, kinds] of [
    [network!, [0, 1]],
    [classic!, [1, 0]],
    [network!, [0, 1]],
  ] as const) {
    await rig.bring(desired);
    assert.deepEqual([classics.all().length, balancers.all().length], kinds);
  }
});

test('an adopted Classic one of another name serves until the Network one has healthy targets', async () => {
  const rig = new FakeRig({ knobs: { targetInitialMs: 90_000 } });
  const { classics } = rig.aws.account;
  const classic = { ...serviceOf(), annotations: {} };
  await rig.bring(rig.desired(classic));
  const [made] = classics.all();
  assert.ok(made);
  classics.remove(made.id);
  classics.seed({ ...made, id: 'by-hand', tags: {} });
  const adopt = [{ kind: 'classic-load-balancer', id: 'by-hand' }];
  await rig.bring(rig.desired({ ...classic, adopt }));
  assert.deepEqual(
    classics.all().map(({ id }) => id),
    ['by-hand'],
  );
  const started = rig.clock.monotonic();
  await rig.bring(rig.desired({ ...serviceOf(), adopt }));
  assert.ok(rig.clock.monotonic() - started >= 90_000, 'it went before');
  assert.equal(classics.all().length, 0);
});

test('nodes that name instances of others freeze nobody: a new Service of two ports is served, and strangers’ groups stay as they are', async () => {
  const rig = new FakeRig();
  const { account } = rig.aws;
  const [first = ''] = rig.instances;
  const subnetId = account.instances.get(first)?.subnetId ?? '';
  const vpcId = rig.aws.addVpc({ cidr: '10.9.0.0/16' });
  const zone = account.zones[0]?.name ?? '';
  const tags = { 'kubernetes.io/cluster/kubernetes': 'owned' };
  const [db, web] = ['db', 'web'].map((name) => rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name }));
  const away = rig.aws.addSecurityGroup({ vpcId, name: 'away', tags });
  const inOther = rig.aws.addSubnet({ vpcId, zone, cidr: '10.9.0.0/24' });
  const bad = [
    rig.aws.addInstance({ subnetId, groupIds: [db!, web!] }),
    rig.aws.addInstance({ subnetId, groupIds: [db!] }),
    rig.aws.addInstance({ subnetId: inOther, groupIds: [away], tags }),
  ].map(({ id }) => id);
  const service = serviceOf({}, {}, [80, 443]);
  const left = [...bad, 'i-00000000', 'i-0123456789abcdef0'].toSorted();
  const desired = rig.desired(service, [...left, ...rig.instances]);
  await rig.bring(desired);
  const { complete, ingress, warnings } = rig.balancers.plan(desired, await rig.parts(service));
  assert.deepEqual([complete, ingress.length], [true, 1]);
  assert.ok(
    warnings?.some(({ message }) => message.includes(left.join(', '))),
    JSON.stringify(warnings),
  );
  const groups = account.targetGroups.all();
  assert.equal(groups.length, 2);
  for (const { id: arn } of groups) {
    const targets = account.targets.of(arn).map(({ id }) => id);
    assert.deepEqual(targets.toSorted(), rig.instances.toSorted());
  }
  assert.equal(account.listeners.all().length, 2);
  const opened = account.rules.all().filter(({ isEgress }) => !isEgress);
  assert.ok(!opened.some(({ groupId }) => [db, web, away].includes(groupId)));
  assert.deepEqual(rig.aws.takeProblems(), []);
});

test('UDP goes from both families to IPv4, and another port of it goes', async () => {
  const rig = new FakeRig();
  const udp = (...numbers: readonly number[]): LoadBalancerService['ports'] =>
    numbers.map((port) => ({ name: `u${port}`, port, protocol: 'UDP', nodePort: 30_000 + port }));
  const both = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' } as const;
  await rig.bring(rig.desired(serviceOf({}, { ...both, ports: udp(53, 54) })));
  const types = (): unknown => {
    const { balancers, targetGroups } = rig.aws.account;
    return [balancers, targetGroups].map((all) => all.all().map(({ ipAddressType }) => ipAddressType));
  };
  assert.deepEqual(types(), [['dualstack'], ['ipv6', 'ipv6']]);
  await rig.bring(rig.desired(serviceOf({}, { ports: udp(53) })));
  assert.deepEqual(types(), [['ipv4'], ['ipv4']]);
});

test('all ports of a Service ask once in a pass for a rule that a full group does not take, and again in the next', async () => {
  const rig = new FakeRig();
  const { faults } = rig.aws;
  const full = { operation: 'AuthorizeSecurityGroupIngress', status: 400, code: 'RulesPerSecurityGroupLimitExceeded' };
  let asked = 0;
  rig.before = async (body) => {
    if (body.includes('Action=AuthorizeSecurityGroupIngress') && body.includes('.Groups.')) asked++;
  };
  const service = serviceOf({}, {}, [80, 443, 8080, 8443]);
  const desired = rig.desired(service);
  const pass = async (): Promise<void> => {
    const { actions } = rig.balancers.plan(desired, await rig.parts(service));
    for (const one of actions) await rig.balancers.apply(one, desired, rig.call);
  };
  await rig.bring(rig.desired(service, []));
  faults.set({ ...full, times: 1_000 });
  for (const times of [1, 2, 3]) {
    await assert.rejects(pass(), /is full/u);
    assert.equal(asked, times);
  }
  faults.set();
  await rig.bring(desired);
  assert.equal(rig.aws.account.targets.of(`${rig.aws.account.targetGroups.all()[0]?.id}`).length, 3);
});
