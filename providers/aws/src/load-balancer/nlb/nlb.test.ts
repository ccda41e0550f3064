import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { desiredOf, NlbRig, serviceOf, UID } from './nlb-rig.suite.ts';

test('a load balancer is made in two rounds, its status comes when AWS has provisioned it, and nothing of it stays', async () => {
  const rig = new NlbRig();
  rig.elbv2.provisionMs = 120_000;
  const desired = desiredOf(serviceOf());
  assert.deepEqual(await rig.bring(desired), [
    'create security-group',
    'create target-group',
    'update target-group',
    'create load-balancer',
    'create listener',
  ]);
  const pending = await rig.plan(desired);
  assert.deepEqual([pending.complete, pending.ingress], [false, []]);
  await rig.clock.advance(120_000);
  const { complete, ingress } = await rig.plan(desired);
  const name = `a${UID.replaceAll('-', '').slice(0, 31)}`;
  assert.deepEqual([complete, ingress], [true, [{ hostname: `${name}.elb.eu-1.amazonaws.com` }]]);
  const [[arn] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(
    [rig.elbv2.targetsOf(arn!), [...rig.opened]],
    [
      ['i-0000000a', 'i-0000000b'],
      ['i-0000000a', 'i-0000000b'],
    ],
  );
  const tags = {
    'kubernetes.io/cluster/test': 'owned',
    'kubernetes.io/service-name': 'shop/web',
    'outrigger.dev/cluster': 'cluster-uid',
    'outrigger.dev/owner': UID,
  };
  for (const found of rig.elbv2.tags.values()) {
    const { 'outrigger.dev/attributes': _hash, ...rest } = found;
    assert.deepEqual(rest, tags);
  }
  assert.deepEqual(await rig.bring(desiredOf(serviceOf(), [], false)), [
    'delete load-balancer',
    'delete target-group',
    'delete security-group',
  ]);
  const { listeners, loadBalancers, targetGroups } = rig.elbv2;
  assert.deepEqual([loadBalancers.size, targetGroups.size, listeners.size, rig.groups.size], [0, 0, 0, 0]);
});

/** As the stub has it, by ports. */
function listenersOf({ elbv2 }: NlbRig): readonly unknown[] {
  return [...elbv2.listeners.values()]
    .map(({ thing }) => {
      const group = elbv2.targetGroups.get(thing.DefaultActions?.[0]?.TargetGroupArn ?? '')?.thing;
      return [thing.Port, thing.Protocol, group?.Protocol, group?.Port, group?.IpAddressType];
    })
    .toSorted(([a = 0], [b = 0]) => Number(a) - Number(b));
}

const port = (
  number: number,
  protocol: 'TCP' | 'UDP',
  nodePort: number,
): ReturnType<typeof serviceOf>['ports'][number] => ({
  name: `${protocol}${number}`,
  port: number,
  protocol,
  nodePort,
});

test('a port that changes its node port leads to the new target group before the old one goes', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf({}, {}, [80, 443])));
  const moved = serviceOf({}, { ports: [port(80, 'TCP', 31_000), port(443, 'TCP', 30_443)] });
  assert.deepEqual(await rig.bring(desiredOf(moved)), [
    'create target-group',
    'update target-group',
    'update listener',
    'delete target-group',
  ]);
  assert.deepEqual(listenersOf(rig), [
    [80, 'TCP', 'TCP', 31_000, 'ipv4'],
    [443, 'TCP', 'TCP', 30_443, 'ipv4'],
  ]);
  assert.deepEqual(await rig.bring(desiredOf(serviceOf({}, { ports: [port(443, 'TCP', 30_443)] }))), [
    'delete listener',
    'delete target-group',
  ]);
  assert.deepEqual(listenersOf(rig), [[443, 'TCP', 'TCP', 30_443, 'ipv4']]);
});

test('TCP and UDP on one port are one listener; TLS, its policy and its certificate can be changed back', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf({}, { ports: [port(53, 'TCP', 30_053), port(53, 'UDP', 30_053)] })));
  assert.deepEqual(listenersOf(rig), [[53, 'TCP_UDP', 'TCP_UDP', 30_053, 'ipv4']]);
  const certificate = 'arn:aws:acm:eu-1:123456789012:certificate/one';
  const tls = { 'ssl-cert': certificate, 'ssl-negotiation-policy': 'ELBSecurityPolicy-TLS13-1-2-2021-06' };
  await rig.bring(desiredOf(serviceOf(tls)));
  assert.deepEqual(listenersOf(rig), [[80, 'TLS', 'TCP', 30_080, 'ipv4']]);
  const listener = (): unknown => {
    const [[, stored] = []] = rig.elbv2.listeners;
    return [stored?.thing.Certificates, stored?.thing.SslPolicy];
  };
  assert.deepEqual(listener(), [[{ CertificateArn: certificate }], 'ELBSecurityPolicy-TLS13-1-2-2021-06']);
  await rig.bring(desiredOf(serviceOf({ 'ssl-cert': certificate })));
  assert.deepEqual(listener(), [[{ CertificateArn: certificate }], 'ELBSecurityPolicy-2016-08']);
});

test('both families: the load balancer has both, TCP goes to IPv4 targets, UDP to those of IPv6', async () => {
  const rig = new NlbRig();
  const ports = [port(80, 'TCP', 30_080), port(53, 'UDP', 30_053)];
  await rig.bring(
    desiredOf(serviceOf({}, { ports, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' })),
  );
  const [[, stored] = []] = rig.elbv2.loadBalancers;
  assert.equal(stored?.thing.IpAddressType, 'dualstack');
  assert.deepEqual(listenersOf(rig), [
    [53, 'UDP', 'UDP', 30_053, 'ipv6'],
    [80, 'TCP', 'TCP', 30_080, 'ipv4'],
  ]);
});

test('the health check of externalTrafficPolicy Local, and one by annotation, is changed in place and back', async () => {
  const rig = new NlbRig();
  const local = serviceOf({}, { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 });
  await rig.bring(desiredOf(local));
  const check = (): unknown => {
    const [[, stored] = []] = rig.elbv2.targetGroups;
    const { HealthCheckIntervalSeconds, HealthCheckPath, HealthCheckPort, HealthCheckProtocol } = stored?.thing ?? {};
    return [HealthCheckProtocol, HealthCheckPort, HealthCheckPath, HealthCheckIntervalSeconds];
  };
  assert.deepEqual(check(), ['HTTP', '32000', '/healthz', 10]);
  const slower = serviceOf(
    { 'healthcheck-interval': '20' },
    { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 },
  );
  assert.deepEqual(await rig.bring(desiredOf(slower)), ['update target-group']);
  assert.deepEqual(check(), ['HTTP', '32000', '/healthz', 20]);
  await rig.bring(desiredOf(local));
  assert.deepEqual(check(), ['HTTP', '32000', '/healthz', 10]);
  await rig.bring(desiredOf(serviceOf()));
  assert.deepEqual(check(), ['TCP', 'traffic-port', undefined, 30]);
});

test('attributes and tags follow the annotations, and go back when these go; what others have tagged stays', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf()));
  const [[balancer] = []] = rig.elbv2.loadBalancers;
  const [[group] = []] = rig.elbv2.targetGroups;
  const [[listener] = []] = rig.elbv2.listeners;
  rig.elbv2.tags.set(balancer!, { ...rig.elbv2.tags.get(balancer!), 'cost-centre': '7' });
  const set = serviceOf({
    'cross-zone-load-balancing-enabled': 'true',
    'target-group-attributes': 'proxy_protocol_v2.enabled=true',
    'access-log-enabled': 'true',
    'access-log-s3-bucket-name': 'logs',
    'additional-resource-tags': 'team=shop,env=prod',
  });
  assert.deepEqual(await rig.bring(desiredOf(set)), ['update target-group', 'update load-balancer']);
  const { attributes, tags } = rig.elbv2;
  assert.deepEqual(attributes.get(balancer!), {
    'load_balancing.cross_zone.enabled': 'true',
    'access_logs.s3.enabled': 'true',
    'access_logs.s3.bucket': 'logs',
    'access_logs.s3.prefix': '',
  });
  assert.equal(attributes.get(group!)?.['proxy_protocol_v2.enabled'], 'true');
  for (const arn of [balancer!, group!, listener!])
    assert.deepEqual([tags.get(arn)?.['team'], tags.get(arn)?.['env']], ['shop', 'prod']);
  assert.deepEqual(await rig.bring(desiredOf(serviceOf({ 'additional-resource-tags': 'team=web' }))), [
    'update target-group',
    'update load-balancer',
  ]);
  assert.equal(attributes.get(balancer!)?.['load_balancing.cross_zone.enabled'], 'false');
  assert.equal(attributes.get(balancer!)?.['access_logs.s3.enabled'], 'false');
  assert.equal(attributes.get(group!)?.['proxy_protocol_v2.enabled'], 'false');
  for (const arn of [balancer!, group!, listener!])
    assert.deepEqual([tags.get(arn)?.['team'], tags.get(arn)?.['env']], ['web', undefined]);
  await rig.bring(desiredOf(serviceOf()));
  assert.deepEqual([tags.get(balancer!)?.['team'], tags.get(balancer!)?.['cost-centre']], [undefined, '7']);
  assert.equal(tags.get(listener!)?.['team'], undefined);
});

test('attributes that someone has changed by hand are set right within an hour', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf({ 'cross-zone-load-balancing-enabled': 'true' }));
  await rig.bring(desired);
  const [[balancer] = []] = rig.elbv2.loadBalancers;
  rig.elbv2.attributes.get(balancer!)!['load_balancing.cross_zone.enabled'] = 'false';
  assert.deepEqual(await rig.bring(desired), [], 'not read yet');
  await rig.clock.advance(3_600_000);
  assert.deepEqual(await rig.bring(desired), ['update load-balancer']);
  assert.equal(rig.elbv2.attributes.get(balancer!)?.['load_balancing.cross_zone.enabled'], 'true');
});

test('subnets are changed in place, a scheme by making the load balancer anew, and other addresses are refused', async () => {
  const rig = new NlbRig();
  const eips = { 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000b' };
  await rig.bring(desiredOf(serviceOf(eips)));
  rig.subnets = ['subnet-1', 'subnet-2', 'subnet-3'];
  await rig.bring(desiredOf(serviceOf()));
  const balancer = (): unknown => {
    assert.equal(rig.elbv2.loadBalancers.size, 1);
    const [[, stored] = []] = rig.elbv2.loadBalancers;
    return [stored?.thing.Scheme, stored?.thing.AvailabilityZones?.map(({ SubnetId }) => SubnetId)];
  };
  assert.deepEqual(balancer(), ['internet-facing', rig.subnets]);
  rig.subnets = ['subnet-1', 'subnet-2'];
  await rig.bring(desiredOf(serviceOf({ internal: 'true' })));
  assert.deepEqual(balancer(), ['internal', rig.subnets]);
  await rig.bring(desiredOf(serviceOf(eips)));
  const other = serviceOf({ 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000c' });
  await assert.rejects(rig.bring(desiredOf(other)), { code: 'unsupported' });
  await assert.rejects(rig.bring(desiredOf(serviceOf({ 'eip-allocations': 'eipalloc-0000000a' }))), {
    code: 'invalid',
  });
  assert.deepEqual(balancer(), ['internet-facing', rig.subnets]);
});

test('addresses that one is to get after it was made are refused, and its targets follow the nodes', async () => {
  const wishes = [
    [{}, { 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000b' }, /without Elastic IPs/u],
    [{ internal: 'true' }, { 'private-ipv4-addresses': '10.0.0.8,10.0.1.8' }, /without private addresses/u],
  ] as const;
  for (const [before, added, message] of wishes) {
    const rig = new NlbRig();
    await rig.bring(desiredOf(serviceOf(before)));
    const asked = desiredOf(serviceOf({ ...before, ...added }), ['i-0000000b', 'i-0000000c']);
    const { complete, refused } = await rig.plan(asked);
    assert.deepEqual([complete, isCloudError(refused, 'unsupported')], [false, true]);
    assert.match(`${refused?.message}`, message);
    const { actions } = rig.balancers.planMembers(asked, await rig.parts(asked.service));
    for (const action of actions) await rig.balancers.apply(action, asked, rig.call);
    const [[group] = []] = rig.elbv2.targetGroups;
    assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000b', 'i-0000000c']);
    assert.equal(rig.elbv2.counts()['SetSubnets'], undefined);
    rig.subnets = ['subnet-3', 'subnet-4'];
    assert.deepEqual(await rig.bring(asked), ['update load-balancer'], 'in other subnets it can have them');
  }
});

test('while one is being made, AWS may not show its addresses yet', async () => {
  const rig = new NlbRig();
  rig.elbv2.provisionMs = 120_000;
  const desired = desiredOf(serviceOf({ 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000b' }));
  await rig.bring(desired);
  const [[, stored] = []] = rig.elbv2.loadBalancers;
  const zones = stored!.thing.AvailabilityZones;
  stored!.thing = {
    ...stored!.thing,
    AvailabilityZones: zones?.map(({ SubnetId }) => ({ SubnetId: SubnetId! })) ?? [],
  };
  assert.equal((await rig.plan(desired)).refused, undefined);
});

test('a zone that AWS shows before its address has it: for whoever asked for it, and for another process when it is shown', async () => {
  const three = { 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000b,eipalloc-0000000c' };
  const befores = [{ 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000b' }, {}];
  for (const [i, before] of befores.entries()) {
    const rig = new NlbRig();
    await rig.bring(desiredOf(serviceOf(before)));
    await rig.clock.advance(600_000);
    rig.subnets = i === 0 ? ['subnet-1', 'subnet-2', 'subnet-3'] : ['subnet-3', 'subnet-4', 'subnet-5'];
    const desired = desiredOf(serviceOf(three));
    const { actions } = await rig.plan(desired);
    for (const action of actions) await rig.balancers.apply(action, desired, rig.call);
    const [[, stored] = []] = rig.elbv2.loadBalancers;
    const shown = stored!.thing;
    const AvailabilityZones = shown.AvailabilityZones!.map((zone, at) =>
      i === 0 && at < 2 ? zone : { SubnetId: zone.SubnetId! },
    );
    stored!.thing = { ...shown, AvailabilityZones };
    const now = async (): Promise<unknown> => {
      const { complete, refused } = await rig.plan(desired);
      return isCloudError(refused) ? refused.code : complete;
    };
    assert.equal(await now(), true);
    rig.started();
    assert.equal(await now(), 'retry-after');
    stored!.thing = shown;
    assert.equal(await now(), true);
    // What is never shown it does not have.
    stored!.thing = { ...shown, AvailabilityZones };
    await rig.clock.advance(120_000);
    assert.equal(await now(), 'unsupported');
  }
});

test('a subnet that it stays in keeps its address, also where the Service asks for none any more', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf({ 'eip-allocations': 'eipalloc-0000000a,eipalloc-0000000b' })));
  rig.subnets = ['subnet-1'];
  await rig.bring(desiredOf(serviceOf()));
  const [[, stored] = []] = rig.elbv2.loadBalancers;
  assert.deepEqual(stored?.thing.AvailabilityZones, [
    { SubnetId: 'subnet-1', LoadBalancerAddresses: [{ AllocationId: 'eipalloc-0000000a' }] },
  ]);
});

test('security groups by annotation stand in place of its own, beside the shared one', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf({ 'security-groups': 'sg-0000000a,sg-0000000b' })));
  const groups = (): unknown => [...rig.elbv2.loadBalancers.values()][0]?.thing.SecurityGroups;
  assert.deepEqual([groups(), rig.groups.size], [['sg-0000000a', 'sg-0000000b', 'sg-5a4ed'], 0]);
  await rig.bring(desiredOf(serviceOf({ 'extra-security-groups': 'sg-0000000c' })));
  assert.deepEqual(groups(), ['sg-0000000c', 'sg-0f1e2d3c', 'sg-5a4ed']);
});

test('a Service that is refused keeps what it has, and its targets follow the nodes', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf()));
  const refused = desiredOf(serviceOf({ 'target-group-attributes': 'colour=blue' }), ['i-0000000b', 'i-0000000c']);
  assert.equal((await rig.plan(refused)).refused?.message.includes('colour'), true);
  const { actions } = rig.balancers.planMembers(refused, await rig.parts(refused.service));
  for (const action of actions) await rig.balancers.apply(action, refused, rig.call);
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000b', 'i-0000000c']);
});
