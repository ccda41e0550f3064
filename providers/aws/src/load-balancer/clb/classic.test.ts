// Over 400 lines: one rig, and one test for each part of a Classic Load Balancer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aService } from '../annotations/a-service.suite.ts';
import { CLUSTER, ClassicRig, type Given } from './classic-rig.suite.ts';

const NAME = 'a0a1b2c3d000040008000000000000000'.slice(0, 32);
const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/c-1';

function rig() {
  const site = new ClassicRig();
  const bring = (given: Given = {}, nodes?: readonly number[]): Promise<readonly string[]> =>
    site.bring(site.desired(aService(given), nodes));
  return { site, bring };
}

/** Security groups that the administrator has set aside for the Service's namespace. */
function setAside(site: ClassicRig): readonly [string, string, string, ...string[]] {
  const tags = { 'outrigger.dev/namespaces': 'shop' };
  const add = (name: string): string => site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name, tags });
  return [add('one'), add('two'), add('three'), add('four'), add('five'), add('six')];
}

test('a Service gets a load balancer as upstream makes it, and nothing more is to be done', async () => {
  const { bring, site } = rig();
  assert.deepEqual(await bring(), ['create security-group', 'create classic-load-balancer']);
  const { classic, cluster } = site;
  const [group] = site.aws.account.groups.all().filter(({ name }) => name === `k8s-elb-${NAME}`);
  assert.deepEqual([classic.id, classic.scheme, classic.groupIds], [NAME, 'internet-facing', [group?.id]]);
  assert.deepEqual(classic.subnets.map(({ id }) => id).toSorted(), cluster.publicSubnets.toSorted());
  assert.deepEqual(classic.instanceIds.toSorted(), cluster.instances.map(({ id }) => id).toSorted());
  assert.deepEqual(classic.health, {
    Target: 'TCP:30080',
    Interval: 10,
    Timeout: 5,
    UnhealthyThreshold: 6,
    HealthyThreshold: 2,
  });
  assert.deepEqual(site.letIn(), [group?.id]);
  const { 'outrigger.dev/attributes': _hash, ...tags } = classic.tags;
  assert.deepEqual(tags, {
    [`kubernetes.io/cluster/${cluster.clusterId}`]: 'owned',
    'kubernetes.io/service-name': 'shop/web',
    'outrigger.dev/cluster': CLUSTER.id,
    'outrigger.dev/owner': aService().uid,
  });
  const { complete, ingress } = await site.plan(site.desired(aService()));
  assert.deepEqual([complete, ingress], [true, [{ hostname: classic.dnsName }]]);
  site.restart();
  assert.deepEqual(await bring(), []);
  assert.deepEqual(site.aws.takeProblems(), []);
});

test('each setting comes, and goes again with its annotation', async () => {
  const { bring, site } = rig();
  const ports = [
    { name: 'https', port: 443, protocol: 'TCP', nodePort: 30_443 },
    { name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 },
  ] as const;
  const set = {
    certificate: CERTIFICATE,
    tlsPorts: 'https',
    tlsPolicy: 'ELBSecurityPolicy-TLS-1-2-2017-01',
    backendProtocol: 'http',
    proxyProtocol: '*',
    crossZone: 'true',
    idleTimeout: '120',
    draining: 'true',
    drainingTimeout: '30',
    accessLog: 'true',
    accessLogBucket: 'logs',
    accessLogPrefix: 'web',
    accessLogInterval: '5',
    healthProtocol: 'http',
    healthPath: '/up',
    healthInterval: '20',
    tags: 'team=shop',
  };
  await bring({ ports, set });
  const attributes = {
    CrossZoneLoadBalancing: { Enabled: true },
    ConnectionSettings: { IdleTimeout: 120 },
    ConnectionDraining: { Enabled: true, Timeout: 30 },
    AccessLog: { Enabled: true, EmitInterval: 5, S3BucketName: 'logs', S3BucketPrefix: 'web' },
  };
  const { AdditionalAttributes: _more, ...shown } = site.classic.attributes;
  assert.deepEqual(shown, attributes);
  const listeners = (): readonly string[] =>
    site.classic.listeners
      .map(({ certificate, instanceProtocol, port, protocol }) =>
        `${port} ${protocol} ${instanceProtocol} ${certificate ?? ''}`.trim(),
      )
      .toSorted();
  assert.deepEqual(listeners(), [`443 HTTPS HTTP ${CERTIFICATE}`, '80 HTTP HTTP']);
  assert.deepEqual(site.classic.listeners.find(({ port }) => port === 443)?.policies, [
    'k8s-SSLNegotiationPolicy-ELBSecurityPolicy-TLS-1-2-2017-01',
  ]);
  assert.deepEqual(site.classic.backEndPolicies, {
    30080: ['k8s-proxyprotocol-enabled'],
    30443: ['k8s-proxyprotocol-enabled'],
  });
  assert.equal(site.classic.health.Target, 'HTTP:30443/up');
  assert.equal(site.classic.tags['team'], 'shop');
  assert.deepEqual(await bring({ ports, set }), []);
  await bring({ ports });
  assert.deepEqual(listeners(), ['443 TCP TCP', '80 TCP TCP']);
  assert.equal(site.classic.health.Target, 'TCP:30443');
  assert.equal(site.classic.tags['team'], undefined);
  assert.deepEqual(Object.values(site.classic.backEndPolicies).flat(), []);
  // Its time stays, and means nothing.
  assert.partialDeepStrictEqual(site.classic.attributes.ConnectionDraining, { Enabled: false });
  assert.deepEqual(await bring({ ports }), []);
  assert.deepEqual(site.aws.takeProblems(), []);
});

test('a prefix of access logs may have spaces, and is not written again', async () => {
  const { bring, site } = rig();
  const set = { accessLog: 'true', accessLogBucket: 'logs', accessLogPrefix: 'team a/web  shop' };
  await bring({ set });
  assert.deepEqual(site.classic.attributes.AccessLog, {
    Enabled: true,
    EmitInterval: 60,
    S3BucketName: 'logs',
    S3BucketPrefix: 'team a/web  shop',
  });
  await site.clock.advance(3_600_000);
  assert.deepEqual(await bring({ set }), []);
});

test('a changed certificate and policy are set in place; of TLS that loses its policy the default comes back', async () => {
  const { bring, site } = rig();
  await bring({ set: { certificate: CERTIFICATE, tlsPolicy: 'ELBSecurityPolicy-TLS-1-2-2017-01' } });
  const before = site.aws.calls.counts()['elb:DeleteLoadBalancerListeners'] ?? 0;
  await bring({ set: { certificate: `${CERTIFICATE}2` } });
  const [listener] = site.classic.listeners;
  assert.deepEqual(
    [listener?.certificate, listener?.policies],
    [`${CERTIFICATE}2`, ['k8s-SSLNegotiationPolicy-ELBSecurityPolicy-2016-08']],
  );
  assert.equal(site.aws.calls.counts()['elb:DeleteLoadBalancerListeners'] ?? 0, before);
});

test('a certificate that AWS does not know takes no listener away, however often it is tried; one that it knows is no gap either', async () => {
  const { bring, site } = rig();
  const ports = [80, 443].map(
    (port) => ({ name: `p${port}`, port, protocol: 'TCP', nodePort: 30_000 + port }) as const,
  );
  await bring({ ports });
  const deletions = (): number => site.aws.calls.counts()['elb:DeleteLoadBalancerListeners'] ?? 0;
  const shown = (): readonly string[] =>
    site.classic.listeners.map(({ port, protocol }) => `${port} ${protocol}`).toSorted();
  const set = { certificate: CERTIFICATE, tlsPorts: '443', backendProtocol: 'ssl' };
  const refused = { operation: 'CreateLoadBalancerListeners', status: 400, code: 'CertificateNotFound' };
  site.aws.faults.set({ ...refused, times: 1_000 });
  for (let pass = 0; pass < 3; pass++) {
    await assert.rejects(bring({ ports, set }), { apiCode: 'CertificateNotFound' });
    assert.deepEqual([shown(), deletions()], [['443 TCP', '80 TCP'], 0]);
  }
  site.aws.faults.set();
  // Killed when the old one has gone: the next process makes the one that AWS has taken.
  site.loseWrite(2, true);
  await assert.rejects(bring({ ports, set }));
  assert.deepEqual(shown(), ['80 TCP']);
  site.restart();
  await bring({ ports, set });
  assert.deepEqual(shown(), ['443 SSL', '80 TCP']);
  assert.deepEqual(site.aws.takeProblems(), []);
});

test('instances follow the nodes, also while the wish is refused', async () => {
  const { bring, site } = rig();
  await bring({}, [0, 1]);
  assert.equal(site.classic.instanceIds.length, 2);
  await bring({}, [1, 2]);
  const [, second, third] = site.cluster.instances;
  assert.deepEqual(site.classic.instanceIds.toSorted(), [`${second?.id}`, `${third?.id}`].toSorted());
  const refused = site.desired(aService({ set: { healthTimeout: '70' } }), [0]);
  const parts = await site.parts(refused.service);
  assert.match(`${site.balancers.plan(refused, parts).refused?.message}`, /healthcheck-timeout/);
  const { actions } = site.balancers.planMembers(refused, parts);
  for (const action of actions) await site.balancers.apply(action, refused, site.call);
  assert.deepEqual(site.classic.instanceIds, [site.cluster.instances[0]?.id]);
});

test('subnets are swapped in a zone, and none is left without', async () => {
  const { bring, site } = rig();
  const { privateSubnets, publicSubnets } = site.cluster;
  await bring({ set: { internal: 'true' } });
  const subnets = (): readonly string[] => site.classic.subnets.map(({ id }) => id).toSorted();
  assert.deepEqual(subnets(), privateSubnets.toSorted());
  await bring({ set: { internal: 'true', subnets: publicSubnets.join() } });
  assert.deepEqual(subnets(), publicSubnets.toSorted());
});

test('internal becomes public by another load balancer of the same name', async () => {
  const { bring, site } = rig();
  await bring({ set: { internal: 'true' } });
  const lines = await bring();
  assert.ok(lines.includes('delete classic-load-balancer'), lines.join());
  assert.equal(site.classic.scheme, 'internet-facing');
});

test('all of it goes, with what lets it in, and the group when AWS lets go of it', async () => {
  const { bring, site } = rig();
  await bring();
  const lines = await site.bring({ ...site.desired(aService()), wanted: false });
  assert.equal(lines[0], 'delete classic-load-balancer');
  assert.deepEqual([site.aws.account.classics.all(), site.letIn()], [[], []]);
  assert.deepEqual(
    site.aws.account.groups.all().filter(({ name }) => name.startsWith('k8s-')),
    [],
  );
  const { complete } = await site.plan({ ...site.desired(aService()), wanted: false });
  assert.equal(complete, true);
});

test('one kind takes the place of the other, and the old one serves until the new one can', async () => {
  const { bring, site } = rig();
  await bring();
  const toNlb = await bring({ set: { type: 'nlb' } });
  assert.ok(toNlb.indexOf('create listener') < toNlb.indexOf('delete classic-load-balancer'), toNlb.join());
  assert.deepEqual([site.aws.account.classics.all().length, site.aws.account.balancers.all().length], [0, 1]);
  const back = await bring();
  assert.ok(back.indexOf('create classic-load-balancer') < back.indexOf('delete load-balancer'), back.join());
  assert.deepEqual([site.aws.account.classics.all().length, site.aws.account.balancers.all().length], [1, 0]);
});

test('groups that are named replace its own, nodes let in the first, and do so no more when the last one has gone', async () => {
  const { bring, site } = rig();
  const shared = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'shared' });
  const tags = { 'outrigger.dev/namespaces': 'shop' };
  const byHand = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'by-hand', tags });
  site.elbSecurityGroup = shared;
  await bring({ set: { extraSecurityGroups: byHand } });
  assert.deepEqual([site.classic.groupIds.toSorted(), site.letIn()], [[shared, byHand].toSorted(), [shared]]);
  const second = { uid: 'ffffffff-0000-4000-8000-000000000000', name: 'second' };
  await bring(second);
  await site.bring({ ...site.desired(aService()), wanted: false });
  assert.deepEqual(site.letIn(), [shared]);
  await site.bring({ ...site.desired(aService(second)), wanted: false });
  assert.deepEqual(site.letIn(), []);
  assert.ok(site.aws.account.groups.all().some(({ id }) => id === shared));
});

test('a rule that another has removed meanwhile keeps no load balancer from being deleted', async () => {
  const { bring, site } = rig();
  site.elbSecurityGroup = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'shared' });
  await bring();
  const gone = { ...site.desired(aService()), wanted: false };
  const { actions } = await site.plan(gone);
  // Shown still, for a moment.
  site.aws.knobs.ec2LagMs = 1_000;
  const rules = site.aws.account.rules.all();
  site.aws.account.rules.remove(`${rules.find(({ referencedGroupId: id }) => id === site.elbSecurityGroup)?.id}`);
  for (const action of actions) await site.balancers.apply(action, gone, site.call);
  assert.deepEqual(site.aws.account.classics.all(), []);
  assert.equal(site.aws.calls.counts()['ec2:RevokeSecurityGroupIngress'], 1);
});

test('a named group that the Service drops is let in no more, one that another load balancer has stays', async () => {
  const { bring, site } = rig();
  const [one, two] = setAside(site);
  const second = { uid: 'ffffffff-0000-4000-8000-000000000000', name: 'second' };
  await bring({ set: { securityGroups: one } });
  await bring({ ...second, set: { securityGroups: one } });
  await bring({ set: { securityGroups: two } });
  assert.deepEqual(site.letIn().toSorted(), [one, two].toSorted());
  await bring({ ...second, set: { securityGroups: two } });
  assert.deepEqual(site.letIn(), [two]);
});

test('a named group that the Service drops is gone though AWS refuses another change', async () => {
  const { bring, site } = rig();
  const [one, two] = setAside(site);
  await bring({ set: { securityGroups: one } });
  site.aws.faults.set({ operation: 'ConfigureHealthCheck', status: 400, code: 'ValidationError', times: 1_000 });
  const changed = site.desired(aService({ set: { securityGroups: two, healthyThreshold: '7' } }));
  const { actions } = await site.plan(changed);
  const applying = async (): Promise<void> => {
    for (const action of actions) await site.balancers.apply(action, changed, site.call);
  };
  await assert.rejects(applying(), { apiCode: 'ValidationError' });
  assert.deepEqual([site.classic.groupIds, site.letIn()], [[two], [two]]);
});

test('a group that others have beside their first one stays open for them', async () => {
  const { bring, site } = rig();
  const [one, two, three] = setAside(site);
  const second = { uid: 'ffffffff-0000-4000-8000-000000000000', name: 'second' };
  await bring({ set: { securityGroups: one } });
  await bring({ ...second, set: { securityGroups: `${one},${two}` } });
  // AWS shows the groups of the second in another order.
  const classics = site.aws.account.classics;
  const its = classics.all().find(({ groupIds }) => groupIds.includes(two))!;
  classics.seed({ ...its, groupIds: its.groupIds.toReversed() });
  await site.clock.advance(60_000);
  await bring({ set: { securityGroups: three } });
  assert.ok(site.letIn().includes(one));
});

test('in whatever order AWS shows the groups, nodes let in its own alone', async () => {
  const { bring, site } = rig();
  const tags = { 'outrigger.dev/namespaces': '*' };
  const extra = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'extra', tags });
  const set = { extraSecurityGroups: extra };
  await bring({ set });
  const before = site.letIn();
  site.aws.account.classics.seed({ ...site.classic, groupIds: site.classic.groupIds.toReversed() });
  await site.clock.advance(60_000);
  await site.bring(site.desired(aService({ set }), [0, 1]));
  assert.deepEqual(site.letIn(), before);
});

test('in whatever order AWS shows the groups that a Service names, nodes let in the first, and nothing is written', async () => {
  const { bring, site } = rig();
  const [one, two] = setAside(site);
  const set = { securityGroups: `${one},${two}` };
  await bring({ set });
  assert.deepEqual(site.letIn(), [one]);
  site.aws.account.classics.seed({ ...site.classic, groupIds: [two, one] });
  await site.clock.advance(60_000);
  assert.deepEqual(await bring({ set }), []);
  const rule = site.aws.account.rules.all().find(({ referencedGroupId: id }) => id === one);
  site.aws.account.rules.remove(`${rule?.id}`);
  await site.clock.advance(60_000);
  assert.deepEqual(await bring({ set }), ['update classic-load-balancer']);
  assert.deepEqual(site.letIn(), [one]);
});

test('a named group that nodes let in is withdrawn by the next process, though AWS shows it last and takes no more groups', async () => {
  const { bring, site } = rig();
  const [one, two, ...others] = setAside(site);
  await bring({ set: { securityGroups: `${one},${two}` } });
  site.aws.account.classics.seed({ ...site.classic, groupIds: [two, one] });
  await site.clock.advance(60_000);
  // What lets the new ones in, and the new ones themselves; then the process dies.
  site.loseWrite(2, false);
  const set = { securityGroups: others.join() };
  await assert.rejects(bring({ set }));
  assert.deepEqual(site.letIn(), [one, others[0]].toSorted());
  site.restart();
  await bring({ set });
  assert.deepEqual([site.letIn(), site.classic.groupIds.toSorted()], [[others[0]], others.toSorted()]);
});

test('a group that is named stays open for whoever has it, however many load balancers the account has', async () => {
  const { bring, site } = rig();
  site.elbSecurityGroup = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'shared' });
  await bring({});
  const others = site.classic;
  for (let n = 0; n < 450; n++) {
    const id = `b${`${n}`.padStart(4, '0')}`;
    site.aws.account.classics.seed({ ...others, id, groupIds: n === 449 ? others.groupIds : [] });
  }
  await site.bring({ ...site.desired(aService()), wanted: false });
  assert.deepEqual(site.letIn(), [site.elbSecurityGroup]);
});

test('what upstream made is taken over without a write but the owner’s tags and the hash of its attributes', async () => {
  const { bring, site } = rig();
  await bring();
  const {
    'outrigger.dev/attributes': _hash,
    'outrigger.dev/cluster': _c,
    'outrigger.dev/owner': _o,
    ...tags
  } = site.classic.tags;
  site.aws.account.classics.seed({ ...site.classic, tags });
  for (const group of site.aws.account.groups.all().filter(({ name }) => name.startsWith('k8s-elb-'))) {
    const {
      'kubernetes.io/service-name': _n,
      'outrigger.dev/cluster': _gc,
      'outrigger.dev/owner': _go,
      ...left
    } = group.tags;
    site.aws.account.groups.seed({ ...group, tags: left });
  }
  site.restart();
  const writes = await bring();
  assert.deepEqual(writes, ['claim security-group', 'claim classic-load-balancer', 'update classic-load-balancer']);
  assert.equal(site.classic.tags['outrigger.dev/owner'], aService().uid);
});

test('a rule of the nodes that somebody takes away comes back', async () => {
  const { bring, site } = rig();
  await bring();
  const rule = site.aws.account.rules
    .all()
    .find(({ groupId, isEgress }) => groupId === site.cluster.nodeGroupId && !isEgress);
  site.aws.account.rules.remove(`${rule?.id}`);
  await site.clock.advance(60_000);
  assert.deepEqual(await bring(), ['update classic-load-balancer']);
  assert.equal(site.letIn().length, 1);
});

test('an instance that AWS does not know, or whose group is nobody’s, keeps no other in or out', async () => {
  const { site } = rig();
  const { cluster } = site;
  const [first = '', second = '', third = ''] = cluster.instances.map(({ id }) => id);
  const stranger = site.aws.addSecurityGroup({ vpcId: cluster.vpcId, name: 'stranger' });
  const foreign = site.aws.addInstance({ subnetId: `${cluster.privateSubnets[0]}`, groupIds: [stranger] });
  const service = aService();
  const desired = (...ids: readonly (string | undefined)[]): ReturnType<typeof site.desired> => {
    const [one] = site.desired(service).backEnds;
    const backEnds = ids.map((id) => ({ ...one!, node: { ...one!.node, providerID: `aws:///eu-central-1a/${id}` } }));
    return { ...site.desired(service), backEnds };
  };
  const bad = ['i-0123456789abcdef0', 'i-0fedcba9876543210', foreign.id];
  const assertTold = async (left: readonly string[], ...ids: readonly string[]): Promise<void> => {
    await site.bring(desired(...ids, ...bad));
    const { actions, complete, ingress, warnings } = await site.plan(desired(...ids, ...bad));
    assert.deepEqual([actions, complete, ingress.length, warnings?.length], [[], true, 1, 1]);
    assert.ok(warnings?.[0]?.message.includes(`: ${left.join(', ')}. `), warnings?.[0]?.message);
  };
  await assertTold(bad, first, second);
  assert.deepEqual(site.classic.instanceIds.toSorted(), [first, second].toSorted());
  await assertTold(bad, second, third);
  assert.deepEqual(site.classic.instanceIds.toSorted(), [second, third].toSorted());
  assert.ok(!site.aws.account.rules.all().some(({ groupId, isEgress }) => groupId === stranger && !isEgress));
  // One of them is known by now.
  site.aws.account.instances.seed({ ...site.aws.account.instances.get(first)!, id: 'i-0fedcba9876543210' });
  await site.clock.advance(120_000);
  await assertTold([bad[0]!, foreign.id], second, third);
  assert.deepEqual(site.classic.instanceIds.toSorted(), [second, third, 'i-0fedcba9876543210'].toSorted());
});

test('where no instance can come that is an error, and not a Service that is as it can be', async () => {
  const { site } = rig();
  const { cluster } = site;
  const stranger = site.aws.addSecurityGroup({ vpcId: cluster.vpcId, name: 'stranger' });
  const foreign = site.aws.addInstance({ subnetId: `${cluster.privateSubnets[0]}`, groupIds: [stranger] });
  const all = site.desired(aService(), [0]);
  const [one] = all.backEnds;
  const node = { ...one!.node, providerID: `aws:///eu-central-1a/${foreign.id}` };
  const alone = { ...all, backEnds: [{ ...one!, node }] };
  for (let pass = 0; pass < 3; pass++) await assert.rejects(site.bring(alone), new RegExp(foreign.id, 'u'));
  assert.equal((await site.plan(alone)).complete, false);
  // As soon as another one is served it is left out, with a warning.
  await site.bring({ ...all, backEnds: [...all.backEnds, ...alone.backEnds] });
  assert.deepEqual(site.classic.instanceIds, [cluster.instances[0]?.id]);
});

test('nodes come and go while a node that is served has no room for another security group', async () => {
  const { bring, site } = rig();
  const [one, two, three] = setAside(site);
  await bring({ set: { securityGroups: `${one},${two}` } }, [0, 1]);
  site.aws.account.classics.seed({ ...site.classic, groupIds: [two, one] });
  await site.clock.advance(60_000);
  const full = { operation: 'AuthorizeSecurityGroupIngress', status: 400, code: 'RulesPerSecurityGroupLimitExceeded' };
  site.aws.faults.set({ ...full, times: 1_000 });
  const set = { securityGroups: three, idleTimeout: '120' };
  await assert.rejects(bring({ set }, [1, 2]), /is full/u);
  const [, second, third] = site.cluster.instances;
  assert.deepEqual(site.classic.instanceIds.toSorted(), [`${second?.id}`, `${third?.id}`].toSorted());
  assert.deepEqual([site.classic.groupIds, site.letIn()], [[two, one], [one]]);
  assert.deepEqual(site.classic.attributes.ConnectionSettings, { IdleTimeout: 120 });
  site.aws.faults.set();
  await bring({ set }, [1, 2]);
  assert.deepEqual([site.classic.groupIds, site.letIn()], [[three], [three]]);
});

test('where the group of no node is clear, those that are served stay, one that joins is left out, one that leaves is no error', async () => {
  const { bring, site } = rig();
  await bring({}, [0, 1]);
  const [first = '', second = '', third = ''] = site.cluster.instances.map(({ id }) => id);
  // Another group of all nodes has the cluster's tag.
  const { tags } = site.aws.account.groups.get(site.cluster.nodeGroupId)!;
  const other = site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name: 'other', tags });
  const { interfaces } = site.aws.account;
  for (const one of interfaces.all())
    if (one.groupIds.includes(site.cluster.nodeGroupId))
      interfaces.seed({ ...one, groupIds: [...one.groupIds, other] });
  await site.clock.advance(600_000);
  await bring({}, [0, 1, 2]);
  const all = site.desired(aService());
  const { complete, warnings } = await site.plan(all);
  assert.deepEqual([complete, warnings?.length], [true, 1]);
  assert.match(`${warnings?.[0]?.message}`, new RegExp(`: ${third}\\. instance ${third} has 2 security groups`, 'u'));
  assert.deepEqual(site.classic.instanceIds.toSorted(), [first, second].toSorted());
  await bring({}, [0]);
  assert.deepEqual(site.classic.instanceIds, [first]);
  const { warnings: none } = await site.plan(site.desired(aService(), [0]));
  assert.equal(none, undefined);
});

for (const isFull of [false, true]) {
  test(`a node of a Service that is refused joins by the named group that nodes let in, ${isFull ? 'also where theirs is full' : 'in whatever order AWS shows them'}`, async () => {
    const { bring, site } = rig();
    const [one, two] = setAside(site);
    await bring({ set: { securityGroups: `${one},${two}` } }, [0, 1]);
    site.aws.account.classics.seed({ ...site.classic, groupIds: [two, one] });
    await site.clock.advance(60_000);
    const full = { operation: 'AuthorizeSecurityGroupIngress', status: 400 };
    if (isFull) site.aws.faults.set({ ...full, code: 'RulesPerSecurityGroupLimitExceeded', times: 1_000 });
    const set = { securityGroups: `${one},${two}`, healthTimeout: '70' };
    const refused = site.desired(aService({ set }));
    const { actions } = site.balancers.planMembers(refused, await site.parts(refused.service));
    for (const action of actions) await site.balancers.apply(action, refused, site.call);
    assert.deepEqual([site.letIn(), site.classic.instanceIds.length], [[one], 3]);
  });
}
