/** Where the second VIP of a Service may lie that has named the place of the first. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerPlan, type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated } from './desired/tree-inputs.suite.ts';
import { callContext, Rig, serviceNamed, type RigOptions } from './rig.suite.ts';

const both = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' } as const;

/** A network with a subnet of each family, and a port of each; the tag for the namespace of the Service is on what is said. */
interface World {
  readonly rig: Rig;
  readonly networkId: string;
  readonly subnetId: string;
  readonly siblingId: string;
  readonly portId: string;
}

async function open(options: RigOptions = {}): Promise<World> {
  const rig = await Rig.open(options);
  const { networks, ports } = rig.cloud.networking;
  const { id: project_id } = rig.seeded.project;
  const network = networks.addNetwork({ name: 'vips', project_id });
  const subnet = networks.addSubnet(network, { name: 'vips-v4', cidr: '10.77.0.0/24' });
  const port = ports.add({ network_id: network.id, project_id });
  const sibling = networks.addSubnet(network, { name: 'vips-v6', cidr: 'fd77::/64' });
  return { rig, networkId: network.id, subnetId: subnet.id, siblingId: sibling.id, portId: port.id };
}

async function allow({ rig }: World, path: string, tags: readonly string[] = ['outrigger-namespace=default']) {
  await rig.client.request(callContext(), {
    service: 'network',
    operation: 'x',
    method: 'PUT',
    path: `/v2.0/${path}/tags`,
    body: { tags },
  });
}

/** To have one address is no service to these. */
const required = { ipFamilyPolicy: 'RequireDualStack' } as const;

const internal = (name: string, values: Parameters<typeof annotated>[0]): LoadBalancerService =>
  serviceNamed(name, { ...both, annotations: annotated({ internal: 'true', ...values }) });

/** The subnets of second VIPs that Octavia was asked for. */
function secondsOf({ cloud }: Rig): readonly string[] {
  type Body = { readonly loadbalancer: { readonly additional_vips?: readonly { readonly subnet_id: string }[] } };
  const posts = cloud.calls.all().filter(({ operation }) => operation === 'POST /loadbalancers');
  return posts.flatMap(({ body }) =>
    ((body as Body).loadbalancer.additional_vips ?? []).map(({ subnet_id: id }) => id),
  );
}

function assertRefused({ refused }: LoadBalancerPlan, { siblingId, networkId }: World): void {
  assert.ok(isCloudError(refused, 'not-owned'), refused?.message ?? 'it is not refused');
  assert.match(refused.message, /^the IPv6 subnet in the network of the (?:port|subnet) that an annotation names/u);
  for (const secret of [siblingId, networkId]) assert.ok(!refused.message.includes(secret), refused.message);
}

for (const first of ['subnet', 'port'] as const) {
  for (const second of ['subnet', 'network'] as const) {
    test(`leave for a ${first} is none for the subnet beside it; with a tag on that ${second} the Service has two VIPs`, async () => {
      const world = await open();
      const { networkId, portId, rig, siblingId, subnetId } = world;
      const place = first === 'subnet' ? { subnetId } : { portId };
      const web = { ...internal('web', place), ...required };
      await allow(world, first === 'subnet' ? `subnets/${subnetId}` : `ports/${portId}`);
      const before = await rig.everything();
      assertRefused(await rig.bring(web), world);
      await allow(world, `networks/${networkId}`, ['outrigger-namespace=other']);
      assertRefused(await rig.bring(web), world);
      assert.deepEqual(await rig.everything(), before);
      await allow(world, second === 'subnet' ? `subnets/${siblingId}` : `networks/${networkId}`);
      assert.equal((await rig.bring(web)).refused, undefined);
      assert.deepEqual(secondsOf(rig), [siblingId]);
      // What it has it keeps.
      await allow(world, second === 'subnet' ? `subnets/${siblingId}` : `networks/${networkId}`, []);
      assert.equal((await rig.bring(web)).refused, undefined);
    });
  }
}

test('where there is no second VIP to be had, nothing is refused', async () => {
  const world = await open();
  const { rig, networkId, subnetId } = world;
  const { networks } = rig.cloud.networking;
  const network = networks.networks.get(networkId);
  assert.ok(network);
  networks.addSubnet(network, { name: 'another', cidr: 'fd78::/64' });
  await allow(world, `subnets/${subnetId}`);
  const web = internal('web', { subnetId });
  const plan = await rig.bring(web);
  assert.deepEqual(
    [plan.complete, plan.refused, plan.warnings?.map(({ reason }) => reason)],
    [true, undefined, ['NoSecondAddress']],
  );
  assert.deepEqual(secondsOf(rig), []);
});

for (const first of ['subnet', 'port'] as const) {
  test(`a Service that prefers two families has one where it has leave for the ${first} of the first alone, and is told`, async () => {
    const world = await open();
    const { portId, rig, subnetId } = world;
    const web = internal('web', first === 'subnet' ? { subnetId } : { portId });
    await allow(world, first === 'subnet' ? `subnets/${subnetId}` : `ports/${portId}`);
    const plan = await rig.bring(web);
    assert.deepEqual(
      [plan.complete, plan.refused, plan.ingress.length, plan.warnings?.map(({ reason }) => reason)],
      [true, undefined, 1, ['NoSecondAddress']],
    );
    assert.deepEqual(secondsOf(rig), []);
  });
}

test('leave for a port is for the subnets in which it has addresses', async () => {
  const world = await open();
  const { networkId, rig, siblingId } = world;
  const port = rig.cloud.networking.ports.add({ network_id: networkId, project_id: rig.seeded.project.id });
  await allow(world, `ports/${port.id}`);
  // Of several addresses it says which is the first.
  const requestedIP = port.fixed_ips.map((one) => one.ip_address).find((ip) => !ip.includes(':'));
  const web = { ...internal('web', { portId: port.id }), ...(requestedIP !== undefined && { requestedIP }) };
  assert.equal((await rig.bring(web)).refused, undefined);
  assert.deepEqual(secondsOf(rig), [siblingId]);
});

test('what the cloud config names, and with allow-all-named-resources any subnet, has the second VIP too', async () => {
  const named = await open();
  await allow(named, `subnets/${named.subnetId}`);
  await allow(named, `ports/${named.portId}`);
  const all = await open({ loadBalancer: { allowAllNamedResources: true } });
  const places: readonly (readonly [World, Rig['config'], Parameters<typeof annotated>[0]])[] = [
    [all, all.rig.config, { subnetId: all.subnetId }],
    [named, { networkId: named.networkId }, { subnetId: named.subnetId }],
    [named, { networkId: named.networkId }, { portId: named.portId }],
    [named, { memberSubnetId: named.siblingId }, { subnetId: named.subnetId }],
    [named, { subnetId: named.subnetId }, {}],
    [named, { subnetId: named.subnetId }, { subnetId: named.subnetId }],
    [named, { networkId: named.networkId }, {}],
  ];
  for (const [i, [{ rig, siblingId }, config, values]] of places.entries()) {
    rig.config = config;
    rig.cloud.calls.reset();
    const web = internal(`web-${i}`, values);
    assert.equal((await rig.bring(web)).refused, undefined, `${i}`);
    assert.deepEqual(secondsOf(rig), [siblingId], `${i}`);
  }
});

test('a Service of one family, and one that has its load balancer, costs no request for the subnet beside', async () => {
  const world = await open();
  const { rig, siblingId, subnetId } = world;
  await allow(world, `subnets/${subnetId}`);
  await allow(world, `subnets/${siblingId}`);
  const web = internal('web', { subnetId });
  await rig.bring(web);
  rig.cloud.calls.reset();
  await rig.look(web);
  await rig.look({ ...internal('one', { subnetId }), ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
  const asked = Object.keys(rig.cloud.calls.counts());
  assert.deepEqual(
    asked.filter((name) => /GET \/(?:networks|subnets$)/u.test(name)),
    [],
  );
});
