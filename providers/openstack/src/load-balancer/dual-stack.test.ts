import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

/** Nodes with an address of each family. */
function withBoth({ backEnds, cloud }: Rig): Rig['backEnds'] {
  return backEnds.map((one) => {
    const [port] = cloud.networking.ports.ports.where('device_id', one.node.providerID?.split('/').at(-1) ?? '');
    const addresses = port?.fixed_ips.map(({ ip_address: address }) => ({ type: 'InternalIP', address }) as const);
    return { ...one, addresses: addresses ?? [] };
  });
}

async function membersOf(rig: Rig, service: LoadBalancerService): Promise<readonly string[]> {
  const parts = (await rig.look(service)).filter(({ kind }) => kind === 'load-balancer');
  const listeners = parts.flatMap((part) => loadBalancerIn(part).children?.listeners ?? []);
  const members = listeners.flatMap(({ pool }) => pool?.members ?? []);
  return members.map(({ address }) => (address.includes(':') ? 'IPv6' : 'IPv4')).toSorted();
}

const both = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' } as const;

test('one load balancer with two VIPs: the floating IP stands for the first, the second is reached as it is', async () => {
  const rig = await Rig.open();
  const before = Object.keys(await rig.everything());
  const web = serviceNamed('web', both);
  const plan = await rig.bring(web);
  assert.deepEqual(
    plan.ingress.map(({ ip }) => ip?.replace(/[\d.]*$|(?<=^fd20::).*$/, '')),
    ['', 'fd20::'],
  );
  assert.match(plan.ingress[0]?.ip ?? '', /^203\.0\.113\./);
  assert.ok((await rig.pass(rig.desired(served(web, plan)))).complete);
  await rig.bring(served(web, plan), false);
  assert.deepEqual(Object.keys(await rig.everything()), before);
});

test('source ranges and two VIPs never meet: neither at the making nor later', async () => {
  const rig = await Rig.open();
  const sourceRanges = ['192.0.2.0/24'];
  const closed = serviceNamed('at-once', { ...both, sourceRanges });
  const atOnce = await rig.bring(closed);
  assert.deepEqual(
    [atOnce.refused, atOnce.complete, atOnce.ingress.length, atOnce.warnings?.map(({ reason }) => reason)],
    [undefined, true, 1, ['LoadBalancerSingleStack']],
  );
  await rig.bring(served(closed, atOnce), false);
  const web = serviceNamed('web', both);
  const plan = await rig.bring(web);
  const before = await rig.everything();
  const later = await rig.bring({ ...served(web, plan), ipFamilyPolicy: 'PreferDualStack', sourceRanges });
  assert.match(later.refused?.message ?? '', /source ranges/);
  assert.deepEqual(await rig.everything(), before);
});

test('a second family that comes later is told of, whether it is required or not: the first one is served on', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const one = served(web, await rig.bring(web));
  for (const ipFamilyPolicy of ['RequireDualStack', 'PreferDualStack'] as const) {
    const plan = await rig.bring({ ...one, ...both, ipFamilyPolicy });
    assert.deepEqual([plan.complete, plan.warnings?.map(({ reason }) => reason)], [true, ['NoSecondAddress']]);
  }
});

test('a Service with two VIPs that wants one family only is served on: its list of everywhere is not sent', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', both);
  const plan = await rig.bring(web);
  const before = await rig.everything();
  const single = { ...served(web, plan), ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } as const;
  const later = await rig.bring(single);
  assert.deepEqual([later.refused, later.complete], [undefined, true]);
  assert.deepEqual(await rig.everything(), before);
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  assert.ok((await rig.bring(single)).complete);
  assert.equal((await membersOf(rig, single)).length, 3);
  const closed = await rig.bring({ ...single, sourceRanges: ['0.0.0.0/0', '192.0.2.0/24'] });
  assert.match(closed.refused?.message ?? '', /source ranges/);
});

for (const protocol of ['UDP', 'SCTP'] as const) {
  test(`${protocol}: members of both families behind two VIPs, and behind one those of its own`, async () => {
    const prefer = { ...both, ipFamilyPolicy: 'PreferDualStack', ports: [portOf(53, protocol)] } as const;
    const two = await Rig.open();
    two.backEnds = withBoth(two);
    const first = serviceNamed('first', prefer);
    assert.ok((await two.bring(first)).complete);
    assert.deepEqual(await membersOf(two, first), ['IPv4', 'IPv4', 'IPv6', 'IPv6']);
    for (const providerRequiresSerialApiCalls of [false, true]) {
      const one = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls } });
      one.backEnds = withBoth(one);
      // Of two subnets none is the one for the second VIP.
      one.cloud.networking.networks.addSubnet(one.seeded.network, { cidr: 'fd21::/64' });
      const web = serviceNamed('web', prefer);
      const plan = await one.bring(web);
      assert.deepEqual(
        plan.warnings?.map(({ reason }) => reason),
        ['NoSecondAddress'],
      );
      assert.deepEqual(await membersOf(one, web), ['IPv4', 'IPv4']);
      one.backEnds = one.backEnds.slice(1);
      assert.ok((await one.bring(served(web, plan))).complete);
      assert.deepEqual(await membersOf(one, web), ['IPv4']);
    }
  });
}

test('a driver that has no second VIP (501) makes a load balancer with one', async () => {
  const rig = await Rig.open();
  rig.backEnds = withBoth(rig);
  rig.cloud.faults.set({
    effect: 'status',
    status: 501,
    operation: 'POST /loadbalancers',
    when: ({ body }) => JSON.stringify(body).includes('additional_vips'),
    body: { faultcode: 'Server', faultstring: "Provider 'f5' does not support additional_vips", debuginfo: null },
  });
  const web = serviceNamed('web', { ...both, ports: [portOf(80), portOf(53, 'UDP')] });
  const plan = await rig.bring(web);
  assert.deepEqual([plan.complete, plan.ingress.length], [true, 1]);
  assert.deepEqual(
    plan.warnings?.map(({ reason }) => reason),
    ['NoSecondAddress'],
  );
});

test('a subnet of the other family is refused before anything is made; it is asked about once', async () => {
  const rig = await Rig.open({ loadBalancer: { allowAllNamedResources: true } });
  rig.backEnds = withBoth(rig);
  const { subnet, subnet6 } = rig.seeded;
  const before = await rig.everything();
  const placed = (name: string, family: 'IPv4' | 'IPv6', id: string): LoadBalancerService =>
    serviceNamed(name, {
      ipFamilies: [family],
      ipFamilyPolicy: 'SingleStack',
      annotations: { 'loadbalancer.openstack.org/subnet-id': id },
    });
  for (const [family, wrong] of [
    ['IPv6', subnet],
    ['IPv4', subnet6],
  ] as const) {
    const web = placed('web', family, wrong.id);
    const { refused } = await rig.bring(web);
    const text = `the subnet that subnet-id names has ${family === 'IPv6' ? 'IPv4' : 'IPv6'} addresses, and the Service needs an ${family} address; set subnet-id to another, or ask for the other family`;
    assert.ok(isCloudError(refused, 'invalid'));
    assert.equal(refused.message, text);
    assert.deepEqual(await rig.everything(), before);
  }
  const right = await rig.bring(placed('right', 'IPv6', subnet6.id));
  assert.deepEqual([right.complete, right.ingress[0]?.ip?.startsWith('fd20::')], [true, true]);
  const reads = Object.entries(rig.cloud.calls.counts()).filter(([name]) => /GET .*subnets\/./u.test(name));
  assert.deepEqual(
    reads.map(([, count]) => count),
    [2],
    JSON.stringify(rig.cloud.calls.counts()),
  );
});

for (const why of ['the driver has no second VIP', 'it has no leave for the subnet of the second'] as const) {
  test(`IPv6 first, and ${why}: it is served at its VIP, and no floating IP is made`, async () => {
    const rig = await Rig.open();
    rig.backEnds = withBoth(rig);
    const { id } = rig.seeded.subnet6;
    const isOfDriver = why === 'the driver has no second VIP';
    if (isOfDriver) {
      rig.cloud.faults.set({
        effect: 'status',
        status: 501,
        operation: 'POST /loadbalancers',
        when: ({ body }) => JSON.stringify(body).includes('additional_vips'),
        body: { faultcode: 'Server', faultstring: "Provider 'f5' does not support additional_vips", debuginfo: null },
      });
    } else {
      const tags = ['outrigger-namespace=default'];
      const request = { service: 'network', operation: 'x', method: 'PUT', path: `/v2.0/subnets/${id}/tags` } as const;
      await rig.client.request(callContext(), { ...request, body: { tags } });
    }
    const families = { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' } as const;
    const annotations = annotated(isOfDriver ? {} : { subnetId: id });
    const web = serviceNamed('web', { ...families, annotations });
    const plan = await rig.bring(web);
    assert.deepEqual(
      [
        plan.complete,
        plan.ingress.map(({ ip }) => ip?.startsWith('fd20::')),
        plan.warnings?.map(({ reason }) => reason),
      ],
      [true, [true], ['NoSecondAddress']],
    );
    assert.ok(!rig.cloud.calls.all().some(({ operation }) => operation === 'POST /floatingips'));
    assert.ok((await rig.bring(served(web, plan))).complete);
  });
}
