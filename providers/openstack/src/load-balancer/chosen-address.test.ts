/** A Service that is served asks for another floating IP: it is served at the old one until it has the new one. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { markedDescription } from './ownership.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

const CHOSEN = '203.0.113.99';

async function openServed(more: Partial<LoadBalancerService> = {}): Promise<{ rig: Rig; was: LoadBalancerService }> {
  const rig = await Rig.open();
  const web = serviceNamed('web', more);
  return { rig, was: served(web, await rig.bring(web)) };
}

/** Each with whether it is on a port. */
const addressesOf = ({ cloud }: Rig): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    cloud.networking.floatingIps.floatingIps.all().map((one) => [one.floating_ip_address, one.port_id !== null]),
  );

const addChosen = ({ clusterId, cloud, seeded }: Rig, { uid }: LoadBalancerService): string =>
  cloud.networking.floatingIps.add({
    floating_network_id: seeded.publicNetwork.id,
    floating_ip_address: CHOSEN,
    project_id: seeded.project.id,
    description: markedDescription('', { owner: { clusterId, uid }, keep: false }),
  }).id;

test('one that Neutron does not give keeps the Service at the address that it has', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const asking = { ...was, requestedIP: CHOSEN };
  for (let pass = 0; pass < 3; pass++) await assert.rejects(rig.bring(asking), { code: 'forbidden' });
  assert.deepEqual(addressesOf(rig), { [ip]: true });
  const plan = rig.provider.plan(rig.desired(asking), await rig.look(asking));
  assert.deepEqual(plan.ingress, was.ingress);
});

test('the new one is made first, then attached, and the old one deleted where the new one is seen on the port', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const asking = { ...was, requestedIP: CHOSEN };
  const { actions } = rig.provider.plan(rig.desired(asking), await rig.look(asking));
  assert.deepEqual(
    actions.map(({ summary }) => summary),
    [`create the floating IP ${CHOSEN}`],
  );
  assert.ok(!JSON.stringify(actions[0]?.input).includes('port_id'));
  addChosen(rig, was);
  const operation = 'PUT /floatingips';
  // The first takes the old one off the port.
  const when = ({ body }: { readonly body?: unknown }): boolean => !JSON.stringify(body).includes('null');
  rig.cloud.faults.set({ service: 'network', operation, effect: 'status', status: 503, when });
  await assert.rejects(rig.bring(asking), { code: 'unavailable' });
  assert.deepEqual(addressesOf(rig), { [ip]: false, [CHOSEN]: false });
  rig.cloud.faults.set();
  assert.deepEqual((await rig.bring(asking)).ingress, [{ ip: CHOSEN, ipMode: 'VIP' }]);
  assert.deepEqual(addressesOf(rig), { [CHOSEN]: true });
});

test('a wish that is taken back before the new one is attached leaves the old one, and no other', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  addChosen(rig, was);
  assert.deepEqual((await rig.bring(was)).ingress, was.ingress);
  assert.deepEqual(addressesOf(rig), { [ip]: true });
});

for (const sortsFirst of [true, false]) {
  test(`a wish that is taken back when the old one is off the port puts it back, whichever ID is first: ${sortsFirst}`, async () => {
    const { rig, was } = await openServed();
    const [{ ip = '' } = {}] = was.ingress;
    const { floatingIps } = rig.cloud.networking;
    const [{ id: old } = assert.fail()] = floatingIps.floatingIps.all();
    for (let id = addChosen(rig, was); id < old !== sortsFirst; id = addChosen(rig, was)) floatingIps.remove(id);
    floatingIps.floatingIps.change(old, { port_id: null, fixed_ip_address: null });
    assert.deepEqual((await rig.bring(was)).ingress, was.ingress);
    assert.deepEqual(addressesOf(rig), { [ip]: true });
  });
}

test('the old one that is to be kept is taken off the port, and stays', async () => {
  const { rig, was } = await openServed({ annotations: annotated({ keepFloatingIP: 'true' }) });
  const [{ ip = '' } = {}] = was.ingress;
  addChosen(rig, was);
  await rig.bring({ ...was, requestedIP: CHOSEN });
  assert.deepEqual(addressesOf(rig), { [ip]: false, [CHOSEN]: true });
});

/** Another external network, to which no router of the project leads. */
function addOtherNetwork({ cloud, seeded }: Rig): string {
  const { networks } = cloud.networking;
  const project_id = seeded.publicNetwork.project_id;
  const network = networks.addNetwork({ name: 'public-2', project_id, 'router:external': true });
  networks.addSubnet(network, { name: 'public-2-v4', cidr: '198.51.100.0/24', enable_dhcp: false });
  return network.id;
}

test('one of another external network is refused before the one that serves makes room', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const requestedIP = '198.51.100.9';
  const { floatingIps } = rig.cloud.networking;
  const { id } = floatingIps.add({
    floating_network_id: addOtherNetwork(rig),
    floating_ip_address: requestedIP,
    project_id: rig.seeded.project.id,
  });
  floatingIps.floatingIps.change(id, { tags: [`outrigger-namespace=${was.namespace}`] });
  const { refused } = await rig.bring({ ...was, requestedIP });
  assert.ok(isCloudError(refused, 'invalid'));
  assert.match(refused.message, /loadBalancerIP .* another external network/u);
  assert.deepEqual(addressesOf(rig), { [ip]: true, [requestedIP]: false });
});

test('none is made in another external network, where it could not be attached', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const floatingNetworkId = addOtherNetwork(rig);
  const annotations = { ...was.annotations, ...annotated({ floatingNetworkId }) };
  rig.config = { allowAllNamedResources: true };
  const { refused } = await rig.bring({ ...was, annotations, requestedIP: '198.51.100.9' });
  assert.ok(isCloudError(refused, 'invalid'));
  assert.deepEqual(addressesOf(rig), { [ip]: true });
});

test('of wishes that change before one is attached, no floating IP is left but the last', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  // An administrator, who may choose addresses.
  const { floatingIps } = rig.cloud.networking;
  const { clusterId, seeded } = rig;
  const description = markedDescription('', { owner: { clusterId, uid: was.uid }, keep: false });
  const make = (floating_ip_address: string): unknown =>
    floatingIps.add({
      floating_network_id: seeded.publicNetwork.id,
      floating_ip_address,
      project_id: seeded.project.id,
      description,
    });
  for (const requestedIP of ['203.0.113.91', '203.0.113.92', '203.0.113.93', '203.0.113.94']) {
    const desired = rig.desired({ ...was, requestedIP });
    const { others, parts } = await rig.lookAround({ ...was, requestedIP });
    for (const action of rig.provider.plan({ ...desired, others }, parts).actions) {
      if (action.kind === 'create') make(requestedIP);
      else await rig.provider.apply(action, desired, callContext());
    }
  }
  assert.deepEqual(addressesOf(rig), { [ip]: true, '203.0.113.94': false });
});

for (const provisioning_status of ['PENDING_UPDATE', 'ERROR'] as const) {
  test(`the status of a Service whose wish is refused keeps the floating IP that serves; ${provisioning_status}`, async () => {
    const { rig, was } = await openServed();
    const [{ ip = '' } = {}] = was.ingress;
    // Of another, and not set aside for its namespace.
    const { floatingIps } = rig.cloud.networking;
    const floating_network_id = rig.seeded.publicNetwork.id;
    floatingIps.add({ floating_network_id, floating_ip_address: CHOSEN, project_id: rig.seeded.project.id });
    for (const one of rig.cloud.octavia.store.loadBalancers.values()) one.provisioning_status = provisioning_status;
    const asking = { ...was, requestedIP: CHOSEN };
    const { others, parts } = await rig.lookAround(asking);
    const { ingress } = rig.provider.plan({ ...rig.desired(asking), others }, parts);
    assert.deepEqual(ingress, [{ ip, ipMode: 'VIP' }]);
  });
}

test('where the new one has gone when the old one is off the port, the old one is put back', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const asking = { ...was, requestedIP: CHOSEN };
  const { floatingIps } = rig.cloud.networking.floatingIps;
  for (const { id } of floatingIps.all()) floatingIps.change(id, { port_id: null, fixed_ip_address: null });
  for (let pass = 0; pass < 3; pass++) await assert.rejects(rig.bring(asking), { code: 'forbidden' });
  assert.deepEqual(addressesOf(rig), { [ip]: true });
  const plan = rig.provider.plan(rig.desired(asking), await rig.look(asking));
  assert.deepEqual(plan.ingress, was.ingress);
});

test('where no network for another is seen, the status says the floating IP that serves', async () => {
  const { rig, was } = await openServed();
  rig.cloud.faults.set({ service: 'network', operation: 'GET /networks', effect: 'empty' });
  const next = await rig.restarted();
  const plan = await next.pass(next.desired({ ...was, requestedIP: CHOSEN }));
  assert.deepEqual(
    plan.warnings?.map(({ reason }) => reason),
    ['NoFloatingNetwork'],
  );
  assert.deepEqual(plan.ingress, was.ingress);
});

/** As a Service is between the two requests by which one makes room for another. */
function detachAll({ cloud }: Rig): void {
  const { floatingIps } = cloud.networking.floatingIps;
  for (const { id } of floatingIps.all()) floatingIps.change(id, { port_id: null, fixed_ip_address: null });
}

/** It has come to be used elsewhere since. */
function addChosenElsewhere({ cloud, seeded }: Rig, { namespace }: LoadBalancerService): void {
  const { floatingIps } = cloud.networking;
  const { port } = seeded.addNode({ name: 'a-person-s' });
  const place = { floating_network_id: seeded.publicNetwork.id, project_id: seeded.project.id };
  const { id } = floatingIps.add({ ...place, floating_ip_address: CHOSEN, port_id: port.id });
  floatingIps.floatingIps.change(id, { tags: [`outrigger-namespace=${namespace}`] });
}

test('where the new one is in use elsewhere when the old one is off the port, the old one is put back', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  detachAll(rig);
  addChosenElsewhere(rig, was);
  const { refused } = await rig.bring({ ...was, requestedIP: CHOSEN });
  assert.match(refused?.message ?? '', /is attached elsewhere/);
  assert.deepEqual(addressesOf(rig), { [ip]: true, [CHOSEN]: true });
});

test('the old one is put back before anything that is refused with the new one, and whatever Octavia says', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  detachAll(rig);
  addChosenElsewhere(rig, was);
  rig.cloud.faults.set({ service: 'load-balancer', operation: 'POST /listeners', effect: 'status', status: 400 });
  const { refused } = await rig.bring({ ...was, requestedIP: CHOSEN, ports: [...was.ports, portOf(81)] });
  assert.match(refused?.message ?? '', /is attached elsewhere/);
  assert.deepEqual(addressesOf(rig), { [ip]: true, [CHOSEN]: true });
});

test('the refusal is told although Neutron does not put the old one back', async () => {
  const { rig, was } = await openServed();
  detachAll(rig);
  addChosenElsewhere(rig, was);
  rig.cloud.faults.set({ service: 'network', operation: 'PUT /floatingips', effect: 'status', status: 403 });
  const asking = { ...was, requestedIP: CHOSEN };
  const { others, parts } = await rig.lookAround(asking);
  const { actions, ingress, warnings = [] } = rig.provider.plan({ ...rig.desired(asking), others }, parts);
  assert.deepEqual([actions.length, ingress], [1, []]);
  assert.deepEqual(
    warnings.map(({ reason }) => reason),
    ['FloatingIPRefused'],
  );
  assert.match(warnings[0]?.message ?? '', / is attached elsewhere/u);
  await assert.rejects(rig.bring(asking), { code: 'forbidden' });
});

test('where no network for another is seen when the old one is off the port, the old one is put back', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  // Of an earlier wish: by its network it may not fit.
  const description = markedDescription('', { owner: { clusterId: rig.clusterId, uid: was.uid }, keep: true });
  const place = { floating_network_id: addOtherNetwork(rig), project_id: rig.seeded.project.id };
  const { floating_ip_address: other } = rig.cloud.networking.floatingIps.add({ ...place, description });
  detachAll(rig);
  rig.cloud.faults.set({ service: 'network', operation: 'GET /networks', effect: 'empty' });
  const next = await rig.restarted();
  const plan = await next.bring({ ...was, requestedIP: CHOSEN });
  assert.deepEqual(addressesOf(rig), { [ip]: true, [other]: false });
  assert.deepEqual(plan.ingress, was.ingress);
});

for (const isThere of [true, false]) {
  test(`a wish for another external network when the old one is off the port puts it back; the new one is there: ${isThere}`, async () => {
    const { rig, was } = await openServed();
    const [{ ip = '' } = {}] = was.ingress;
    const requestedIP = '198.51.100.9';
    const floatingNetworkId = addOtherNetwork(rig);
    if (isThere) {
      const { floatingIps } = rig.cloud.networking;
      const place = { floating_network_id: floatingNetworkId, project_id: rig.seeded.project.id };
      const { id } = floatingIps.add({ ...place, floating_ip_address: requestedIP });
      floatingIps.floatingIps.change(id, { tags: [`outrigger-namespace=${was.namespace}`] });
    }
    detachAll(rig);
    rig.config = { allowAllNamedResources: true };
    const annotations = { ...was.annotations, ...annotated({ floatingNetworkId }) };
    const { refused } = await rig.bring({ ...was, annotations, requestedIP });
    assert.ok(isCloudError(refused, 'invalid'));
    assert.deepEqual(addressesOf(rig), { [ip]: true, ...(isThere && { [requestedIP]: false }) });
  });
}

const forwarding = { protocol: 'tcp', internal_ip_address: '10.0.0.19', internal_port: 25, external_port: 2_225 };

test('one whose ports are forwarded is in use elsewhere: the one that serves makes no room for it', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  rig.cloud.networking.floatingIps.floatingIps.change(addChosen(rig, was), { port_forwardings: [forwarding] });
  const { refused } = await rig.bring({ ...was, requestedIP: CHOSEN });
  assert.ok(isCloudError(refused, 'conflict'));
  assert.match(refused.message, /has port forwardings/u);
  assert.deepEqual(addressesOf(rig), { [ip]: true, [CHOSEN]: false });
});

test("one of the Service's own whose ports are forwarded is neither attached nor deleted, and is released with the Service", async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const { floatingIps } = rig.cloud.networking.floatingIps;
  detachAll(rig);
  for (const { id } of floatingIps.all()) floatingIps.change(id, { port_forwardings: [forwarding] });
  const plan = await rig.bring(was);
  assert.equal(plan.ingress.length, 1);
  assert.notEqual(plan.ingress[0]?.ip, ip);
  assert.ok((await rig.bring(served(was, plan), false)).complete);
  assert.deepEqual(addressesOf(rig), { [ip]: false });
});

test('one that was kept earlier stays when the Service becomes internal', async () => {
  const keeping = annotated({ keepFloatingIP: 'true' });
  const { rig, was } = await openServed({ annotations: keeping });
  const [{ ip = '' } = {}] = was.ingress;
  const internal = { ...was, annotations: { ...was.annotations, ...annotated({ internal: 'true' }) } };
  await rig.bring(internal);
  assert.deepEqual(addressesOf(rig), { [ip]: false });
  await rig.bring({ ...internal, annotations: { ...internal.annotations, ...annotated({ keepFloatingIP: 'false' }) } });
  assert.deepEqual(addressesOf(rig), { [ip]: false });
});

for (const hostname of [undefined, 'web.example']) {
  test(`the old one is put back where the status does not say its address: ${hostname ?? 'none'}`, async () => {
    const { rig, was } = await openServed(hostname === undefined ? {} : { annotations: annotated({ hostname }) });
    const { floatingIps } = rig.cloud.networking.floatingIps;
    const [{ floating_ip_address: ip } = assert.fail()] = floatingIps.all();
    for (const { id } of floatingIps.all()) floatingIps.change(id, { port_id: null, fixed_ip_address: null });
    const { port } = rig.seeded.addNode({ name: 'a-person-s' });
    const { floating_ip_address: requestedIP, id } = rig.cloud.networking.floatingIps.add({
      floating_network_id: rig.seeded.publicNetwork.id,
      project_id: rig.seeded.project.id,
      port_id: port.id,
    });
    floatingIps.change(id, { tags: [`outrigger-namespace=${was.namespace}`] });
    const { refused } = await rig.bring({ ...was, ingress: hostname === undefined ? [] : [{ hostname }], requestedIP });
    assert.match(refused?.message ?? '', /is attached elsewhere/u);
    assert.deepEqual(addressesOf(rig), { [ip]: true, [requestedIP]: true });
  });
}

test('an annotation that names an address of another changes nothing of it', async () => {
  const { rig, was } = await openServed();
  const { ingress } = await rig.bring(serviceNamed('another', { namespace: 'another' }));
  const [{ ip: foreign = '' } = {}] = ingress;
  const [{ ip = '' } = {}] = was.ingress;
  const { floatingIps } = rig.cloud.networking.floatingIps;
  const before = floatingIps.all().find((one) => one.floating_ip_address === foreign);
  const [{ id } = assert.fail()] = floatingIps.all().filter((one) => one.floating_ip_address === ip);
  floatingIps.change(id, { port_id: null, fixed_ip_address: null });
  const name = 'loadbalancer.openstack.org/load-balancer-address';
  assert.ok(was.annotations[name] === ip);
  const plan = await rig.bring({ ...was, ingress: [], annotations: { ...was.annotations, [name]: foreign } });
  assert.deepEqual([plan.refused, addressesOf(rig)], [undefined, { [ip]: true, [foreign]: true }]);
  assert.deepEqual(floatingIps.get(before?.id ?? ''), before);
});

for (const formOf of [
  (ip: string) => `::ffff:${ip}`,
  (ip: string) => ip.replace(/\.(\d+)$/u, (_, last: string) => `.${last.padStart(3, '0')}`),
]) {
  test(`one that is asked for in another form is the same: ${formOf('203.0.113.3')}`, async () => {
    const { rig, was } = await openServed();
    const { floatingIps } = rig.cloud.networking;
    const { floating_ip_address: address, id } = floatingIps.add({
      floating_network_id: rig.seeded.publicNetwork.id,
      floating_ip_address: '203.0.113.9',
      project_id: rig.seeded.project.id,
    });
    floatingIps.floatingIps.change(id, { tags: [`outrigger-namespace=${was.namespace}`] });
    const plan = await rig.bring({ ...was, requestedIP: formOf(address) });
    assert.deepEqual([plan.refused, plan.ingress[0]?.ip, addressesOf(rig)], [undefined, address, { [address]: true }]);
  });
}
