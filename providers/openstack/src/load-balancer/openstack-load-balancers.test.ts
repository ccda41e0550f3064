import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { cpoWouldChange } from './cpo-calls.suite.ts';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { callContext, goneService, Rig, served, serviceNamed } from './rig.suite.ts';
import type { WireFloatingIP, WireSecurityGroup } from './neutron-wire.ts';
import type { WireListener, WireLoadBalancer, WireMonitor, WirePool } from './octavia-wire.ts';

const idsOf = (everything: Readonly<Record<string, unknown>>): readonly string[] => Object.keys(everything).toSorted();
const ofKind = <T>(everything: Readonly<Record<string, unknown>>, kind: string): readonly T[] =>
  Object.entries(everything).flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one as T] : []));

test('one populated POST, a floating IP, and nothing more; then nothing is left', async () => {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
  const before = await rig.everything();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(53, 'UDP')] });
  rig.cloud.calls.reset();
  const plan = await rig.bring(web);
  const [ingress] = plan.ingress;
  assert.match(ingress?.ip ?? '', /^203\.0\.113\./);
  assert.equal(ingress?.ipMode, 'VIP');
  const writes = Object.keys(rig.cloud.calls.counts()).filter(
    (name) => /POST|PUT|DELETE/.test(name) && !name.includes('auth'),
  );
  assert.deepEqual(writes, [
    'load-balancer POST /loadbalancers',
    'network POST /floatingips',
    'network PUT /floatingips/{id}/tags',
  ]);
  const [loadBalancer] = ofKind<WireLoadBalancer>(await rig.everything(), 'loadbalancers');
  assert.equal(loadBalancer?.name, 'kube_service_kubernetes_default_web');
  assert.deepEqual(loadBalancer.tags?.toSorted(), [loadBalancer.name, `outrigger.dev/owner=cluster-1/${web.uid}`]);
  assert.deepEqual(plan.annotations, {
    'loadbalancer.openstack.org/load-balancer-id': loadBalancer.id,
    'loadbalancer.openstack.org/load-balancer-address': ingress?.ip,
  });
  const again = await rig.pass(rig.desired(served(web, plan)));
  assert.deepEqual([again.complete, again.ingress], [true, plan.ingress]);

  await rig.bring(served(web, plan), false);
  assert.deepEqual(idsOf(await rig.everything()), idsOf(before));
  assert.deepEqual(await rig.provider.listOwned(callContext()), []);
});

test('a member, a port, a method and a time-out change live; the load balancer and the rest stay what they are', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const plan = await rig.bring(web);
  const before = await rig.everything();
  const [node] = rig.backEnds;
  assert.ok(node);
  rig.backEnds = [node, rig.addNode('node-3')];
  const changed = {
    ...served(web, plan),
    ports: [portOf(80), portOf(8443)],
    annotations: {
      ...served(web, plan).annotations,
      ...annotated({ lbMethod: 'LEAST_CONNECTIONS', timeoutClientData: '9000', connectionLimit: '7' }),
    },
  };
  await rig.bring(changed);
  const after = await rig.everything();
  const listeners = ofKind<WireListener>(after, 'listeners');
  assert.deepEqual(
    listeners.map((one) => one.protocol_port).toSorted((a, b) => a - b),
    [80, 8443],
  );
  for (const one of listeners) assert.deepEqual([one.timeout_client_data, one.connection_limit], [9000, 7]);
  for (const pool of ofKind<WirePool>(after, 'pools')) {
    assert.deepEqual([pool.lb_algorithm, pool.members.length], ['LEAST_CONNECTIONS', 2]);
  }
  const kept = ofKind<WireListener>(before, 'listeners').find((one) => one.protocol_port === 80);
  assert.ok(
    listeners.some(({ id }) => id === kept?.id),
    'the listener that has only changed is the same',
  );
  assert.deepEqual(
    ofKind<WireLoadBalancer>(after, 'loadbalancers').map(({ id }) => id),
    ofKind<WireLoadBalancer>(before, 'loadbalancers').map(({ id }) => id),
  );
});

test('another protocol on the same port: the old listener makes room', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const http = { ...served(web, plan), annotations: annotated({ xForwardedFor: 'true' }) };
  await rig.bring(http);
  const [listener, ...others] = ofKind<WireListener>(await rig.everything(), 'listeners');
  assert.deepEqual(
    [listener?.protocol, listener?.insert_headers, others.length],
    ['HTTP', { 'X-Forwarded-For': 'true' }, 0],
  );
});

for (const serial of [false, true]) {
  test(`session affinity, monitors and source ranges come, change and go${serial ? ', one call each' : ''}`, async () => {
    const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: serial } });
    const web = serviceNamed('web');
    const now = served(web, await rig.bring(web));
    const look = async (): Promise<readonly unknown[]> => {
      const all = await rig.everything();
      const [pool] = ofKind<WirePool>(all, 'pools');
      const [listener] = ofKind<WireListener>(all, 'listeners');
      const monitors = ofKind<WireMonitor>(all, 'healthmonitors').map(({ delay, type }) => `${type} ${delay}`);
      const members = [...rig.cloud.octavia.store.members.values()];
      return [
        pool?.session_persistence?.type,
        monitors,
        listener?.allowed_cidrs,
        members.map((one) => one.monitor_port),
      ];
    };
    const monitored = (delay: string): Pick<LoadBalancerService, 'annotations'> => ({
      annotations: { ...now.annotations, ...annotated({ enableHealthMonitor: 'true', healthMonitorDelay: delay }) },
    });
    const open = ['0.0.0.0/0'];
    await rig.bring({
      ...now,
      ...monitored('7'),
      clientIPAffinitySeconds: 100,
      sourceRanges: ['192.0.2.0/24', '198.51.100.0/24'],
    });
    assert.deepEqual(await look(), ['SOURCE_IP', ['TCP 7'], ['192.0.2.0/24', '198.51.100.0/24'], [null, null]]);
    await rig.bring({ ...now, ...monitored('9'), externalTrafficPolicy: 'Local', healthCheckNodePort: 32_100 });
    assert.deepEqual(await look(), [undefined, ['HTTP 9'], open, [32_100, 32_100]]);
    await rig.bring({ ...now, ...monitored('9') });
    assert.deepEqual(await look(), [undefined, ['TCP 9'], open, [null, null]]);
    await rig.bring({ ...now, ...monitored('9'), externalTrafficPolicy: 'Local', healthCheckNodePort: 32_100 });
    await rig.bring(now);
    assert.deepEqual(await look(), [undefined, [], open, [null, null]]);
    assert.deepEqual(await cpoWouldChange(rig, now), []);
  });
}

test('what a lost answer has made twice is there once in the end: the older one', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const before = await rig.everything();
  const [first] = ofKind<WireLoadBalancer>(before, 'loadbalancers');
  const [address] = ofKind<WireFloatingIP>(before, 'floatingips');
  const group = ofKind<WireSecurityGroup>(before, 'security-groups').find(({ name }) => name.startsWith('lb-sg'));
  assert.ok(first?.tags && address?.description && group?.description);
  await rig.clock.sleep(2_000);
  const post = async (service: 'load-balancer' | 'network', path: string, body: object): Promise<void> => {
    await rig.client.request(callContext(), { service, operation: 'x', method: 'POST', path, body });
  };
  const twin = { name: first.name, tags: first.tags, vip_subnet_id: rig.seeded.subnet.id };
  await post('load-balancer', '/v2.0/lbaas/loadbalancers', { loadbalancer: twin });
  const floatingip = { floating_network_id: rig.seeded.publicNetwork.id, description: address.description };
  await post('network', '/v2.0/floatingips', { floatingip });
  await post('network', '/v2.0/security-groups', {
    security_group: { name: group.name, description: group.description },
  });
  const again = await rig.bring({ ...served(web, plan), annotations: {} });
  assert.deepEqual(again.ingress, plan.ingress);
  const left = await rig.everything();
  for (const kind of ['loadbalancers', 'floatingips']) {
    assert.deepEqual(
      ofKind<WirePool>(left, kind).map(({ id }) => id),
      ofKind<WirePool>(before, kind).map(({ id }) => id),
    );
  }
  assert.equal(ofKind<WireSecurityGroup>(left, 'security-groups').filter(({ name }) => name === group.name).length, 1);
});

test('it is gone when Octavia says so, and not before', async () => {
  const rig = await Rig.open();
  rig.cloud.octavia.settings.deleteMs = 20_000;
  const web = serviceNamed('web');
  const plan = served(web, await rig.bring(web));
  let passes = 0;
  while (!(await rig.pass(rig.desired(plan, false))).complete) {
    passes++;
    await rig.clock.sleep(1_000);
  }
  assert.ok(passes > 15);
  assert.deepEqual(ofKind(await rig.everything(), 'loadbalancers'), []);
});

test('one call for each thing where the provider needs it', async () => {
  const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: true, createMonitor: true } });
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  await rig.bring(web);
  const bodies = rig.cloud.calls.all().filter(({ operation }) => operation === 'POST /loadbalancers');
  assert.ok(!JSON.stringify(bodies).includes('listeners'));
  const counts = rig.cloud.calls.counts();
  assert.equal(counts['load-balancer POST /pools/{pool}/members'], 4);
  assert.equal(counts['load-balancer PUT /pools/{pool}/members'], undefined);
  rig.backEnds = rig.backEnds.slice(0, 1);
  await rig.bring(web);
  for (const pool of ofKind<WirePool>(await rig.everything(), 'pools')) assert.equal(pool.members.length, 1);
});

test('what is too much for one POST is made thing by thing, the members of a pool at once', async () => {
  const rig = await Rig.open();
  const sourceRanges = Array.from({ length: 4_096 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const web = serviceNamed('web', { ports: [1, 2, 3, 4, 5].map((port) => portOf(port)), sourceRanges });
  const was = served(web, await rig.bring(web));
  const counts = rig.cloud.calls.counts();
  assert.deepEqual(
    ['POST /listeners', 'PUT /pools/{pool}/members', 'POST /pools/{pool}/members'].map(
      (name) => counts[`load-balancer ${name}`],
    ),
    [5, 5, undefined],
  );
  const listeners = ofKind<WireListener>(await rig.everything(), 'listeners');
  assert.deepEqual(
    listeners.map((one) => one.allowed_cidrs?.length),
    [4_096, 4_096, 4_096, 4_096, 4_096],
  );
  assert.ok((await rig.pass(rig.desired(was))).complete);
});

test('children of a populated POST that stay PENDING_CREATE are finished by a change; no address is told before', async () => {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
  rig.cloud.octavia.settings.childrenLateMs = Number.POSITIVE_INFINITY;
  rig.cloud.octavia.settings.createMs = 5_000;
  rig.cloud.octavia.settings.updateMs = 800;
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const began = rig.clock.monotonic();
  const plan = await rig.bring(web);
  assert.ok(plan.ingress.length > 0);
  assert.ok(rig.clock.monotonic() - began < 60_000);
  const everything = await rig.everything();
  for (const kind of ['listeners', 'pools', 'healthmonitors']) {
    for (const one of ofKind<WirePool>(everything, kind)) assert.equal(one.provisioning_status, 'ACTIVE', kind);
  }
});

test('a listener that failed is changed and stays; a load balancer that failed at its making too, and one that serves is told of', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const plan = await rig.bring(web);
  const [listener] = ofKind<WireListener>(await rig.everything(), 'listeners');
  assert.ok(listener);
  rig.cloud.octavia.setProvisioningStatus(listener.id, 'ERROR');
  await rig.bring(served(web, plan));
  const listeners = ofKind<WireListener>(await rig.everything(), 'listeners');
  assert.ok(listeners.length === 2);
  assert.equal(listeners.find(({ id }) => id === listener.id)?.provisioning_status, 'ACTIVE');

  const [own] = ofKind<WireLoadBalancer>(await rig.everything(), 'loadbalancers');
  assert.ok(own);
  rig.cloud.octavia.setProvisioningStatus(own.id, 'ERROR');
  const told = await rig.pass(rig.desired(served(web, plan)));
  assert.deepEqual([told.actions.length, told.complete, told.ingress], [0, false, plan.ingress]);
  assert.match(told.warnings?.[0]?.message ?? '', /fails it over/);

  const fresh = serviceNamed('fresh');
  await rig.pass(rig.desired(fresh));
  const made = ofKind<WireLoadBalancer>(await rig.everything(), 'loadbalancers').find(({ name }) =>
    name.endsWith('fresh'),
  );
  assert.ok(made);
  rig.cloud.octavia.setProvisioningStatus(made.id, 'ERROR');
  const again = await rig.bring(fresh);
  assert.ok(again.ingress.length > 0 && again.annotations?.['loadbalancer.openstack.org/load-balancer-id'] !== made.id);
});

test('a floating IP of the user is attached and never deleted; one to be kept is let go of', async () => {
  const rig = await Rig.open({ loadBalancer: { allowAllNamedResources: true } });
  const request = { service: 'network', operation: 'x', method: 'POST', path: '/v2.0/floatingips' } as const;
  const body = { floatingip: { floating_network_id: rig.seeded.publicNetwork.id } };
  const { floatingip } = await rig.client.request<{ floatingip: { id: string; floating_ip_address: string } }>(
    callContext(),
    { ...request, body },
  );
  const asking = serviceNamed('asking', { requestedIP: floatingip.floating_ip_address });
  const plan = await rig.bring(asking);
  assert.equal(plan.ingress[0]?.ip, floatingip.floating_ip_address);
  const other = await rig.bring(serviceNamed('second', { requestedIP: floatingip.floating_ip_address }));
  assert.match(other.refused?.message ?? '', /is attached elsewhere/);
  await rig.bring(served(asking, plan), false);

  const keeping = serviceNamed('keeping', { annotations: annotated({ keepFloatingIP: 'true' }) });
  const kept = await rig.bring(keeping);
  // Its Service is gone by force: what is to be kept stands on the floating IP itself.
  await rig.bring(goneService(keeping), false);
  const left = ofKind<{ floating_ip_address: string; port_id: string | null; description: string }>(
    await rig.everything(),
    'floatingips',
  );
  assert.deepEqual(
    new Set(left.map((one) => one.floating_ip_address)),
    new Set([floatingip.floating_ip_address, kept.ingress[0]?.ip]),
  );
  for (const one of left) assert.ok(one.port_id === null && !one.description.includes('outrigger'));

  // Nor does it go with a Service that asks for it later, and has not made it. By its words it is for its namespace.
  rig.config = {};
  const again = serviceNamed('again', { requestedIP: kept.ingress[0]?.ip ?? '' });
  const found = await rig.bring(again);
  assert.deepEqual(found.ingress, kept.ingress);
  await rig.bring(served(again, found), false);
  const later = ofKind<(typeof left)[number]>(await rig.everything(), 'floatingips');
  const described = (all: typeof left): readonly string[] =>
    all.map((one) => `${one.floating_ip_address} ${one.port_id} ${one.description}`).toSorted();
  assert.deepEqual(described(later), described(left));
});

test('an internal Service gives its floating IP back, and has its VIP', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const internal = { ...served(web, plan), annotations: annotated({ internal: 'true' }) };
  const after = await rig.bring(internal);
  assert.match(after.ingress[0]?.ip ?? '', /^10\./);
  assert.deepEqual(ofKind(await rig.everything(), 'floatingips'), []);
});

test('what the annotation names and is gone: made anew where the program wrote it, else a mistake', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  await rig.bring(served(web, plan), false);
  const back = { ...served(web, plan), ingress: [] };
  assert.ok((await rig.bring(back)).ingress.length > 0, 'a Service that was of another type for a while');
  const id = '11111111-2222-4333-8444-555555555555';
  const wrong = await rig.bring(serviceNamed('wrong', { annotations: annotated({ loadBalancerId: id }) }));
  assert.match(wrong.refused?.message ?? '', new RegExp(`${id}.*does not exist`));
});

test('an annotation that names no ID is refused, and holds up no deletion', async () => {
  const rig = await Rig.open();
  for (const loadBalancerId of ['..', '.', 'a/b', 'web', '%']) {
    const wrong = serviceNamed('wrong', { annotations: annotated({ loadBalancerId }) });
    assert.match((await rig.bring(wrong)).refused?.message ?? '', /is not an ID/);
    rig.cloud.calls.reset();
    assert.ok((await rig.bring(wrong, false)).complete);
    assert.equal(rig.cloud.calls.counts()['load-balancer GET /v2.0/lbaas/loadbalancers/{id}'], undefined);
  }
});

test('nobody else’s load balancer of the same name is taken, and none is made beside it', async () => {
  const rig = await Rig.open();
  const other = await rig.restarted({ clusterId: 'cluster-2' });
  const web = serviceNamed('web');
  const theirs = await other.bring(web);
  const ours = await rig.bring(web);
  assert.notEqual(ours.ingress[0]?.ip, theirs.ingress[0]?.ip, 'another cluster of the same name');
  const body = { loadbalancer: { name: 'kube_service_kubernetes_default_api', vip_subnet_id: rig.seeded.subnet.id } };
  const path = '/v2.0/lbaas/loadbalancers';
  await rig.client.request(callContext(), { service: 'load-balancer', operation: 'x', method: 'POST', path, body });
  const refused = await rig.bring(serviceNamed('api'));
  assert.match(refused.refused?.message ?? '', /but no owner/);
});

test('what is sent to make a load balancer is planned whole; only IDs that Neutron knows are looked up', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(53, 'UDP')] });
  const desired = rig.desired(web);
  const [action] = rig.provider.plan(desired, await rig.look(web)).actions;
  assert.ok(action);
  const planned = JSON.stringify(action.input);
  rig.cloud.calls.reset();
  await rig.provider.apply(action, desired, callContext());
  const sent = rig.cloud.calls.all().find(({ operation }) => operation === 'POST /loadbalancers')?.body;
  const reference = { lookUp: { subnetOf: 'nodes' } };
  const filled = planned.replaceAll(JSON.stringify(reference), JSON.stringify(rig.seeded.subnet.id));
  assert.notEqual(filled, planned);
  const { nodes, request } = JSON.parse(filled) as { readonly nodes: unknown; readonly request: { body: unknown } };
  assert.deepEqual(request.body, sent);
  const known = rig.backEnds.map(({ addresses, node }) => ({
    nodeName: node.name,
    providerID: node.providerID,
    address: addresses[0]?.address,
  }));
  assert.deepEqual(nodes, known);
});
