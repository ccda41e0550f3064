// Over 400 lines: one rig, and one test for each thing that one namespace could take from another.
/** What a Service of one namespace cannot do to another's by what it names. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerPlan, type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import type { WireFloatingIP, WirePort } from './neutron-wire.ts';
import { loadBalancerIn, type ObservedMember } from './observed-tree.ts';
import type { WireListener, WireLoadBalancer } from './octavia-wire.ts';
import { isLeft, markOf, ownersIn } from './ownership.ts';
import { callContext, goneService, Rig, served, serviceNamed } from './rig.suite.ts';

async function request<T>(
  rig: Rig,
  method: 'POST' | 'PUT',
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<T> {
  const service = path.startsWith('/v2.0/lbaas') ? 'load-balancer' : 'network';
  return rig.client.request<T>(callContext(), { service, operation: 'x', method, path, body });
}

async function all<T>(rig: Rig, kind: string): Promise<readonly T[]> {
  return Object.entries(await rig.everything()).flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one as T] : []));
}

const NOWHERE = '00000000-0000-4000-8000-00000000dead';

const inNamespace = (namespace: string, name: string, more: Partial<LoadBalancerService> = {}): LoadBalancerService =>
  serviceNamed(name, { namespace, ...more });

/** The API server's own address: a port that no server has, and a floating IP on it, which nobody of this cluster's has made. */
async function openVictim(): Promise<{ rig: Rig; port: WirePort; floatingIP: WireFloatingIP }> {
  const rig = await Rig.open();
  const { port } = await request<{ port: WirePort }>(rig, 'POST', '/v2.0/ports', {
    port: { network_id: rig.seeded.network.id },
  });
  const { floatingip } = await request<{ floatingip: WireFloatingIP }>(rig, 'POST', '/v2.0/floatingips', {
    floatingip: { floating_network_id: rig.seeded.publicNetwork.id, port_id: port.id },
  });
  return { rig, port, floatingIP: floatingip };
}

function assertSilent({ refused, warnings = [] }: LoadBalancerPlan, ...secrets: readonly string[]): void {
  assert.ok(isCloudError(refused, 'not-owned'), refused?.message ?? 'it is not refused');
  for (const text of [refused.message, ...warnings.map(({ message }) => message)])
    for (const secret of secrets) assert.equal(text.includes(secret), false, text);
}

test('a floating IP that others use cannot be asked for, cut off or taken, and its port is not named', async () => {
  const { rig, port, floatingIP } = await openVictim();
  const probe = inNamespace('attacker', 'probe', { requestedIP: floatingIP.floating_ip_address });
  assertSilent(await rig.bring(probe), port.id, floatingIP.id);
  assert.deepEqual(await all<WireLoadBalancer>(rig, 'loadbalancers'), [], 'nor does it cost a load balancer');
  const cuts = [
    annotated({ portId: port.id, internal: 'true' }),
    annotated({ portId: port.id }),
    annotated({ portId: port.id.toUpperCase() }),
  ];
  for (const [i, annotations] of cuts.entries()) {
    const cut = await rig.bring(inNamespace('attacker', `cut-${i}`, { annotations }));
    assertSilent(cut, floatingIP.id, floatingIP.floating_ip_address);
    assert.deepEqual(cut.ingress, [], 'no node sends what is for the API server to it');
  }
  const [still] = await all<WireFloatingIP>(rig, 'floatingips');
  assert.equal(still?.port_id, port.id);
  // What another has lost is not for who waits for it either.
  await request(rig, 'PUT', `/v2.0/floatingips/${floatingIP.id}`, { floatingip: { port_id: null } });
  const free = await rig.bring(probe);
  assertSilent(free, floatingIP.id);
  assert.equal((await all<WireFloatingIP>(rig, 'floatingips')).find(({ id }) => id === floatingIP.id)?.port_id, null);
});

test('a free floating IP is for the namespace that the administrator has tagged it for', async () => {
  const { rig, floatingIP } = await openVictim();
  const path = `/v2.0/floatingips/${floatingIP.id}`;
  await request(rig, 'PUT', path, { floatingip: { port_id: null } });
  await request(rig, 'PUT', `${path}/tags`, { tags: ['outrigger-namespace=team-a'] });
  assertSilent(
    await rig.bring(inNamespace('team-b', 'web', { requestedIP: floatingIP.floating_ip_address })),
    floatingIP.id,
  );
  const served = await rig.bring(inNamespace('team-a', 'web', { requestedIP: floatingIP.floating_ip_address }));
  assert.equal(served.ingress[0]?.ip, floatingIP.floating_ip_address);
});

test('a floating IP that a Service has kept is for its namespace, and for no other', async () => {
  const rig = await Rig.open();
  const keeping = inNamespace('team-a', 'web', { annotations: annotated({ keepFloatingIP: 'true' }) });
  const first = await rig.bring(keeping);
  await rig.bring(served(keeping, first), false);
  const requestedIP = first.ingress[0]?.ip ?? '';
  assertSilent(await rig.bring(inNamespace('team-b', 'other', { requestedIP })));
  const again = await rig.bring(inNamespace('team-a', 'again', { requestedIP }));
  assert.deepEqual(again.ingress, first.ingress);
});

test('a port, a network and a subnet are used where the cloud config or a tag says so', async () => {
  const rig = await Rig.open();
  const { network, project, subnet } = rig.seeded;
  const { networks, ports } = rig.cloud.networking;
  const vips = networks.addNetwork({ name: 'vips', project_id: project.id });
  networks.addSubnet(vips, { name: 'vips', cidr: '10.77.0.0/24' });
  const port = ports.add({ network_id: vips.id, project_id: project.id });
  const asked = [
    ['port', `/v2.0/ports/${port.id}`, annotated({ portId: port.id, internal: 'true' })],
    ['network', `/v2.0/networks/${network.id}`, annotated({ networkId: network.id })],
    ['subnet', `/v2.0/subnets/${subnet.id}`, annotated({ subnetId: subnet.id })],
    ['subnet', '', annotated({ memberSubnetId: rig.seeded.subnet6.id })],
    // Nor is it said of which family it is.
    ['subnet', '', annotated({ subnetId: rig.seeded.subnet6.id })],
    ['network', '', annotated({ networkId: NOWHERE })],
  ] as const;
  for (const [i, [what, path, annotations]] of asked.entries()) {
    const service = inNamespace('team-a', `web-${i}`, { annotations });
    const plan = await rig.bring(service);
    assertSilent(plan);
    assert.match(plan.refused?.message ?? '', new RegExp(`^the ${what} that an annotation names`, 'u'));
    if (path === '') continue;
    await request(rig, 'PUT', `${path}/tags`, { tags: ['outrigger-namespace=team-a'] });
    assert.equal((await rig.bring(service)).ingress.length, 1, what);
  }
  const configured = await Rig.open();
  configured.config = { networkId: configured.seeded.network.id };
  const annotations = annotated({ networkId: configured.seeded.network.id });
  assert.equal((await configured.bring(inNamespace('team-b', 'web', { annotations }))).ingress.length, 1);
});

/** Of another tenant of the same project, for nobody of this cluster. */
function victimOf(rig: Rig): { network: string; subnet: string; port: string } {
  const { networks, ports } = rig.cloud.networking;
  const { id: project_id } = rig.seeded.project;
  const network = networks.addNetwork({ name: 'victim', project_id });
  const subnet = networks.addSubnet(network, { name: 'victim', cidr: '10.66.0.0/24' });
  const port = ports.add({ network_id: network.id, project_id });
  return { network: network.id, subnet: subnet.id, port: port.id };
}

test('who leaves a load balancer that it shares gets none where an annotation may not place it', async () => {
  const rig = await Rig.open();
  const plan = await rig.bring(inNamespace('team-a', 'web'));
  const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const { network, port, subnet } = victimOf(rig);
  const places = [{ portId: port }, { portId: port, internal: 'true' }, { networkId: network }, { subnetId: subnet }];
  for (const [i, place] of places.entries()) {
    const sharing = inNamespace('team-a', `sharer-${i}`, {
      ports: [portOf(81)],
      annotations: annotated({ loadBalancerId }),
    });
    const shared = served(sharing, await rig.bring(sharing));
    const before = await all<WireLoadBalancer>(rig, 'loadbalancers');
    const moved = await rig.bring({ ...shared, annotations: annotated(place) });
    assertSilent(moved);
    assert.deepEqual(moved.ingress, []);
    assert.deepEqual(await all<WireLoadBalancer>(rig, 'loadbalancers'), before);
    await rig.bring(shared, false);
  }
});

async function membersOf(rig: Rig, service: LoadBalancerService): Promise<readonly ObservedMember[]> {
  const parts = (await rig.look(service)).filter(({ kind }) => kind === 'load-balancer');
  const listeners = parts.flatMap((part) => loadBalancerIn(part).children?.listeners ?? []);
  return listeners.flatMap(({ pool }) => pool?.members ?? []);
}

test('members are placed in a subnet that a Service names later, or on a load balancer that it joins, only where it may', async () => {
  for (const key of ['memberSubnetId', 'subnetId'] as const) {
    const rig = await Rig.open();
    const { subnet } = victimOf(rig);
    const web = inNamespace('team-a', 'web');
    const plan = await rig.bring(web);
    const was = served(web, plan);
    const before = await membersOf(rig, was);
    const named = { ...was, annotations: { ...was.annotations, ...annotated({ [key]: subnet }) } };
    const more = { ...named, ports: [...was.ports, portOf(81)] };
    assertSilent(await rig.bring(more), subnet);
    assert.deepEqual(await membersOf(rig, was), before);
    // Its members follow the nodes in the subnet that they have.
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    assertSilent(await rig.bring(more), subnet);
    const after = await membersOf(rig, was);
    assert.equal(after.length, before.length + 1);
    assert.ok(after.every(({ subnetId }) => subnetId === rig.seeded.subnet.id));
    const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
    const joining = inNamespace('team-a', 'join', {
      ports: [portOf(82)],
      annotations: annotated({ loadBalancerId, [key]: subnet }),
    });
    const everything = await rig.everything();
    assertSilent(await rig.bring(joining), subnet);
    assert.deepEqual(await rig.everything(), everything, 'nor does it join');
    await request(rig, 'PUT', `/v2.0/subnets/${subnet}/tags`, { tags: ['outrigger-namespace=team-a'] });
    assert.equal((await rig.bring(more)).refused, undefined);
    assert.ok((await membersOf(rig, was)).some(({ subnetId }) => subnetId === subnet));
    // What they have they keep: a tag that goes takes no traffic from anybody.
    await request(rig, 'PUT', `/v2.0/subnets/${subnet}/tags`, { tags: [] });
    rig.backEnds = rig.backEnds.slice(1);
    assert.equal((await rig.bring(more)).refused, undefined);
  }
});

test('a Service with an ID in its name does not use what has that ID', async () => {
  const rig = await Rig.open();
  rig.config = { memberSubnetId: rig.seeded.subnet.id };
  const web = inNamespace('team-a', `web-${NOWHERE}`);
  const was = served(web, await rig.bring(web));
  const annotations = { ...was.annotations, ...annotated({ subnetId: NOWHERE }) };
  const more = await rig.bring({ ...was, annotations, ports: [...was.ports, portOf(81)] });
  assert.deepEqual(more.ingress, was.ingress);
  assert.equal((await all(rig, 'listeners')).length, 2);
});

test('where members lie on the load balancer of another namespace, a Service gets no load balancer of its own', async () => {
  const rig = await Rig.open();
  const subnet = rig.seeded.subnet.id;
  await request(rig, 'PUT', `/v2.0/subnets/${subnet}/tags`, { tags: ['outrigger-namespace=team-a'] });
  const owner = inNamespace('team-a', 'web', { annotations: annotated({ subnetId: subnet }) });
  const plan = await rig.bring(owner);
  const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  rig.namespaces.set(owner.uid, 'team-b');
  const sharing = inNamespace('team-b', 'b', { ports: [portOf(81)], annotations: annotated({ loadBalancerId }) });
  const shared = served(sharing, await rig.bring(sharing));
  rig.namespaces.set(owner.uid, 'team-a');
  // There they stay, also where the subnet is named.
  rig.backEnds = rig.backEnds.slice(1);
  const named = { ...shared, annotations: annotated({ loadBalancerId, memberSubnetId: subnet }) };
  assert.equal((await rig.bring(named)).refused, undefined);
  const before = await all<WireLoadBalancer>(rig, 'loadbalancers');
  assertSilent(await rig.bring({ ...shared, annotations: annotated({ subnetId: subnet }) }));
  assert.deepEqual(await all<WireLoadBalancer>(rig, 'loadbalancers'), before);
});

test('an address that a Service has had, and that is for another namespace by now, is not its own by its status', async () => {
  const rig = await Rig.open();
  const keeping = inNamespace('team-a', 'web', { annotations: annotated({ keepFloatingIP: 'true' }) });
  const first = await rig.bring(keeping);
  await rig.bring(served(keeping, first), false);
  const [{ ip: requestedIP = '' } = {}] = first.ingress;
  const stale = inNamespace('team-b', 'stale', { requestedIP, ingress: first.ingress });
  assertSilent(await rig.bring(stale));
  const [kept] = await all<WireFloatingIP>(rig, 'floatingips');
  assert.equal(kept?.port_id, null);
  const path = `/v2.0/floatingips/${kept?.id}`;
  await request(rig, 'PUT', path, { floatingip: { description: '' } });
  await request(rig, 'PUT', `${path}/tags`, { tags: ['outrigger-namespace=team-a'] });
  assertSilent(await rig.bring(stale));
});

test('a load balancer of another namespace, or of nobody, is not joined, and nothing is said of it', async () => {
  const rig = await Rig.open();
  const plan = await rig.bring(inNamespace('team-a', 'web'));
  const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const before = await rig.everything();
  for (const port of [80, 81]) {
    const joining = inNamespace('team-b', `join-${port}`, {
      ports: [portOf(port)],
      annotations: annotated({ loadBalancerId }),
    });
    assertSilent(await rig.bring(joining), 'team-a', 'listener', 'max-shared-lb');
  }
  assert.deepEqual(await rig.everything(), before);
  const body = { loadbalancer: { name: 'by-hand', vip_subnet_id: rig.seeded.subnet.id } };
  const { loadbalancer } = await request<{ loadbalancer: WireLoadBalancer }>(
    rig,
    'POST',
    '/v2.0/lbaas/loadbalancers',
    body,
  );
  const annotations = annotated({ loadBalancerId: loadbalancer.id });
  assertSilent(await rig.bring(inNamespace('team-b', 'hand', { annotations })));
});

test('whether a load balancer that is named is there cannot be told from what is said of it', async () => {
  const rig = await Rig.open();
  const plan = await rig.bring(inNamespace('team-a', 'web'));
  const there = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const saidOf = async (loadBalancerId: string, more: Parameters<typeof annotated>[0]): Promise<string> => {
    const probe = inNamespace('team-b', 'probe', { annotations: annotated({ loadBalancerId, ...more }) });
    const { refused, warnings } = await rig.bring(probe);
    const verdict = await rig.provider.validate(probe, callContext());
    const said = [String(refused), isCloudError(refused) && refused.code, warnings, String(verdict.refused), verdict];
    return JSON.stringify(said).replaceAll(loadBalancerId, 'its ID');
  };
  // Nor by what a new one cannot be made with, or the driver that has made this one cannot do.
  for (const more of [{}, { internal: 'perhaps' }, { proxyProtocol: 'v1' }]) {
    if (more.proxyProtocol) rig.config = { lbProvider: 'ovn' };
    assert.equal(await saidOf(NOWHERE, more), await saidOf(there, more));
  }
});

/** As `--load-balancer-sharing=cluster` lets it come about, or as it was before. */
async function openStrangers(): Promise<Strangers & { rig: Rig }> {
  const rig = await Rig.open();
  return { rig, ...(await strangersOn(rig)) };
}

interface Strangers {
  readonly owner: LoadBalancerService;
  readonly stranger: LoadBalancerService;
}

async function strangersOn(rig: Rig): Promise<Strangers> {
  const first = inNamespace('team-a', 'web');
  const plan = await rig.bring(first);
  const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const second = inNamespace('team-b', 'web-b', { ports: [portOf(81)], annotations: annotated({ loadBalancerId }) });
  rig.namespaces.set(first.uid, 'team-b');
  const shared = await rig.bring(second);
  rig.namespaces.set(first.uid, 'team-a');
  return { owner: served(first, plan), stranger: served(second, shared) };
}

test('who shares a load balancer of another namespace already goes on to, and changes it', async () => {
  const { rig, owner, stranger } = await openStrangers();
  const more = { ...stranger, ports: [portOf(81), portOf(82)] };
  assert.deepEqual((await rig.bring(more)).ingress, owner.ingress);
});

for (const byForce of [false, true]) {
  test(`the owner goes${byForce ? ' by force' : ''}: neither load balancer nor address pass on to another namespace`, async () => {
    const { rig, owner, stranger } = await openStrangers();
    await rig.bring(byForce ? goneService(owner) : owner, false);
    const [left] = await all<WireLoadBalancer>(rig, 'loadbalancers');
    assert.equal(ownersIn(left?.tags ?? []).owner, undefined);
    assert.ok(isLeft(left?.tags ?? []));
    assert.deepEqual(await all(rig, 'floatingips'), []);
    assert.deepEqual(
      (await all<WireListener>(rig, 'listeners')).map((one) => one.protocol_port),
      [81],
      'what others have there stays',
    );
    // It is told, and no node sends the traffic of that address to it any more.
    const after = await rig.bring(stranger);
    assert.deepEqual([after.ingress, after.warnings?.map(({ reason }) => reason)], [[], ['LoadBalancerLeft']]);
    // The owner's next Service has a load balancer of its own.
    const again = await rig.bring({
      ...owner,
      uid: '00000000-0000-4000-8000-00000000beef',
      annotations: {},
      ingress: [],
    });
    assert.equal(again.ingress.length, 1);
    // And so has the other one, once it does not name the old one any more: the last to leave that deletes it.
    const moved = await rig.bring({ ...stranger, annotations: {} });
    assert.equal(moved.ingress.length, 1);
    assert.equal(
      (await all<WireLoadBalancer>(rig, 'loadbalancers')).some(({ id }) => id === left?.id),
      false,
    );
  });
}

test('an address that is to be kept goes from the load balancer too, and is let go of', async () => {
  const { rig, owner, stranger } = await openStrangers();
  const keeps = { ...owner, annotations: { ...owner.annotations, ...annotated({ keepFloatingIP: 'true' }) } };
  await rig.bring(keeps);
  await rig.bring(keeps, false);
  const [kept] = await all<WireFloatingIP>(rig, 'floatingips');
  assert.deepEqual([kept?.port_id, kept && markOf(kept.description ?? '', kept.tags ?? [])], [null, undefined]);
  await rig.bring(stranger, false);
  assert.deepEqual(await all(rig, 'loadbalancers'), []);
});

for (const [whose, stays] of [
  ['team-a', false],
  [undefined, false],
  ['team-b', true],
] as const) {
  const what = whose === undefined ? 'that was attached by hand' : `that is set aside for ${whose}`;
  test(`the owner goes: its address ${what} ${stays ? 'stays on the load balancer' : 'is detached'}, and not deleted`, async () => {
    const rig = await Rig.open();
    const internal = inNamespace('team-a', 'web', { annotations: annotated({ internal: 'true' }) });
    await rig.bring(internal);
    const [loadBalancer] = await all<WireLoadBalancer>(rig, 'loadbalancers');
    const port_id = loadBalancer?.vip_port_id ?? '';
    const { floatingIps } = rig.cloud.networking;
    const floating_network_id = rig.seeded.publicNetwork.id;
    const { floating_ip_address: ip, id } = floatingIps.add({
      floating_network_id,
      port_id,
      project_id: rig.seeded.project.id,
    });
    const tags = whose === undefined ? [] : [`outrigger-namespace=${whose}`];
    floatingIps.floatingIps.change(id, { tags });
    const { owner, stranger } = await strangersOn(rig);
    assert.deepEqual(owner.ingress[0]?.ip, ip);
    await rig.bring(owner, false);
    const now = (await all<WireFloatingIP>(rig, 'floatingips')).map((one) => [one.id, one.port_id, one.tags]);
    assert.deepEqual(now, [[id, stays ? port_id : null, tags]]);
    assert.equal((await all(rig, 'loadbalancers')).length, 1);
    assert.deepEqual((await rig.bring(stranger)).ingress, []);
  });
}

test('of one of its namespace and one of another, the one of its namespace has it then', async () => {
  const { rig, owner } = await openStrangers();
  rig.config = { maxSharedLb: 3 };
  const loadBalancerId = owner.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  // By its UID it comes after the other.
  const heir = { ...inNamespace('team-a', 'z', { ports: [portOf(82)] }), uid: 'ffffffff-0000-4000-8000-000000000000' };
  const plan = await rig.bring({ ...heir, annotations: annotated({ loadBalancerId }) });
  await rig.bring(owner, false);
  const [left] = await all<WireLoadBalancer>(rig, 'loadbalancers');
  assert.equal(ownersIn(left?.tags ?? []).owner?.uid, heir.uid);
  assert.deepEqual(
    (await rig.bring(served({ ...heir, annotations: annotated({ loadBalancerId }) }, plan))).ingress,
    owner.ingress,
  );
});

test('max-shared-lb=1: nobody joins', async () => {
  const rig = await Rig.open({ loadBalancer: { maxSharedLb: 1 } });
  const plan = await rig.bring(inNamespace('team-a', 'web'));
  const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const joining = inNamespace('team-a', 'join', { ports: [portOf(81)], annotations: annotated({ loadBalancerId }) });
  assert.match((await rig.bring(joining)).refused?.message ?? '', /max-shared-lb 1/);
});

test('a floating IP on the VIP that is not proved to be the Service’s stays there, and who wants none of it is told', async () => {
  const rig = await Rig.open();
  const internal = inNamespace('team-a', 'web', { annotations: annotated({ internal: 'true' }) });
  const plan = await rig.bring(internal);
  const [loadBalancer] = await all<WireLoadBalancer>(rig, 'loadbalancers');
  const { floatingip } = await request<{ floatingip: WireFloatingIP }>(rig, 'POST', '/v2.0/floatingips', {
    floatingip: { floating_network_id: rig.seeded.publicNetwork.id, port_id: loadBalancer?.vip_port_id },
  });
  const after = await rig.bring(served(internal, plan));
  assert.deepEqual(
    after.warnings?.map(({ reason }) => reason),
    ['FloatingIPNotOwn'],
  );
  assert.equal(JSON.stringify(after.warnings).includes(floatingip.id), false);
  assert.deepEqual(after.ingress, plan.ingress);
  assert.equal((await all<WireFloatingIP>(rig, 'floatingips'))[0]?.port_id, loadBalancer?.vip_port_id);
});

test('a load balancer of another project is one that is not there: in what is told, and for whom it goes', async () => {
  const rig = await Rig.open();
  const own = inNamespace('team-a', 'own');
  const was = served(own, await rig.bring(own));
  const elsewhere = '00000000-0000-4000-8000-0000000e15e0';
  rig.cloud.faults.set({
    effect: 'status',
    status: 403,
    operation: 'GET /loadbalancers/',
    when: ({ path }) => path.endsWith(elsewhere),
    body: { faultcode: 'Client', faultstring: 'Policy does not allow this request to be performed.', debuginfo: null },
  });
  const before = await rig.everything();
  const refusals: (string | undefined)[] = [];
  for (const loadBalancerId of [elsewhere, NOWHERE]) {
    // As its own annotation would have it, and after it: nothing is made in the place of what may be there.
    const probe = inNamespace('team-a', 'probe', { annotations: annotated({ loadBalancerId }) });
    const plan = await rig.bring(probe);
    assertSilent(plan, 'project', '403');
    refusals.push(plan.refused?.message.replace(loadBalancerId, ''));
    await rig.bring(probe, false);
  }
  assert.equal(refusals[0], refusals[1]);
  const address = annotated({ loadBalancerId: elsewhere, loadBalancerAddress: '203.0.113.3' });
  assertSilent(await rig.bring(inNamespace('team-a', 'probe', { annotations: address })));
  assert.deepEqual(await rig.everything(), before);
  await rig.bring({ ...was, annotations: { ...was.annotations, ...annotated({ loadBalancerId: elsewhere }) } }, false);
  assert.deepEqual(await all<WireLoadBalancer>(rig, 'loadbalancers'), []);
});

test('where it is not known that this is the place of the cluster, another project is no answer', async () => {
  const rig = await Rig.open({ hasServers: false });
  const body = { faultcode: 'Client', faultstring: 'Policy does not allow this request.', debuginfo: null };
  rig.cloud.faults.set({ effect: 'status', status: 403, operation: 'GET /loadbalancers/', body });
  const probe = inNamespace('team-a', 'probe', { annotations: annotated({ loadBalancerId: NOWHERE }) });
  for (const wanted of [true, false]) await assert.rejects(rig.bring(probe, wanted), { code: 'forbidden' });
});
