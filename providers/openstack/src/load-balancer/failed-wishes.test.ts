/** What is in ERROR below a load balancer holds up no other wish than the one that failed, and nothing beside it. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { changesOf, failing, goOn, goOnFailing, MINUTE_MS, toldIn } from './failed-children.suite.ts';
import { isCloudError, type LoadBalancerService } from '@outrigger/cloud-provider';
import { Rig, served, serviceNamed } from './rig.suite.ts';

const LISTENER_OR_POOL = /\/listeners|\/pools(\/[^/]+)?$/u;
const memberNames = (rig: Rig): readonly string[] =>
  [...rig.cloud.octavia.store.members.values()].map(({ name }) => name).toSorted();

/** A Service with a security group. */
async function openGrouped(): Promise<{
  readonly rig: Rig;
  readonly was: LoadBalancerService;
  /** The ports that have the group. */
  readonly having: () => readonly string[];
}> {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const group = (await rig.look(was)).find(({ kind }) => kind === 'security-group')?.id ?? '';
  const { ports } = rig.cloud.networking.ports;
  const having = (): readonly string[] =>
    ports.all().flatMap((port) => (port.security_groups.includes(group) ? [port.id] : []));
  return { rig, was, having };
}

for (const what of ['listeners', 'pools'] as const) {
  test(`members follow the nodes of a refused wish although ${what} were in ERROR`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    const refused = { ...served(web, await rig.bring(web)), requestedIP: 'no address' };
    const { octavia } = rig.cloud;
    const [id = ''] = octavia.store[what].keys();
    octavia.setProvisioningStatus(id, 'ERROR');
    failing(rig, LISTENER_OR_POOL, { times: 2 });
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    const [first, ...others] = await goOn(rig, refused, MINUTE_MS);
    assert.deepEqual([first?.complete, toldIn([first!])], [false, new Set(['LoadBalancerChildInError'])]);
    const last = others.at(-1);
    assert.deepEqual([last?.complete, last?.warnings], [true, undefined]);
    assert.deepEqual(memberNames(rig), ['node-1', 'node-2', 'node-3']);
    assert.deepEqual([...octavia.store[what].keys()], [id], 'nothing is made anew for a wish that is refused');
  });
}

for (const serial of [false, true]) {
  test(`a node that comes while members are in ERROR is added at once; serial: ${serial}`, async () => {
    const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: serial } });
    const web = serviceNamed('web');
    const was = served(web, await rig.bring(web));
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    failing(rig, /\/members/u);
    await goOn(rig, was, 6 * MINUTE_MS, 5_000);
    failing(rig, /\/members/u, { times: 0 });
    rig.cloud.calls.reset();
    await goOn(rig, was, 10_000);
    assert.deepEqual(changesOf(rig), [], 'the same is not tried again yet');
    rig.backEnds = [...rig.backEnds, rig.addNode('node-4')];
    const plans = await goOn(rig, was, 20_000);
    assert.equal(plans.at(-1)?.complete, true);
    assert.deepEqual(memberNames(rig), ['node-1', 'node-2', 'node-3', 'node-4']);
  });
}

test('a listener in ERROR is changed at once when its Service asks for something else, and is not made anew for it', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const [id = ''] = rig.cloud.octavia.store.listeners.keys();
  const inTheWay = { ...was, sourceRanges: ['10.0.0.0/8'] };
  failing(rig, /\/listeners/u, { methods: ['PUT'], times: 2 });
  await goOn(rig, inTheWay, 5_000);
  assert.equal(rig.cloud.octavia.store.listeners.get(id)?.provisioning_status, 'ERROR');
  rig.cloud.calls.reset();
  const plans = await goOn(rig, { ...was, sourceRanges: ['10.1.0.0/16'] }, 3_000);
  assert.deepEqual(changesOf(rig), ['PUT /listeners/{id}']);
  assert.equal(plans.at(-1)?.complete, true);
});

for (const [what, isTaken] of [
  ['listeners', true],
  ['pools', true],
  ['listeners', false],
  ['pools', false],
] as const) {
  test(`a removal of ${what} that fails is tried ever more seldom${isTaken ? ', of one port of several' : ', where the Service goes'}`, async () => {
    const rig = await Rig.open({ loadBalancer: { cascadeDelete: false } });
    const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
    const was = served(web, await rig.bring(web));
    failing(rig, new RegExp(`/${what}/[^/]+$`, 'u'), { methods: ['DELETE'] });
    const wanted = isTaken ? { ...was, ports: [portOf(80)] } : was;
    rig.cloud.calls.reset();
    const plans = await goOn(rig, wanted, 10 * MINUTE_MS, 5_000, isTaken);
    const tries = changesOf(rig).filter((one) => one === `DELETE /${what}/{id}`).length;
    assert.ok(tries >= 5 && tries <= 20, `${tries} in ten minutes`);
    assert.ok(toldIn(plans).has('LoadBalancerChildInError'));
    assert.equal(plans.at(-1)?.complete, false);
    failing(rig, /never/u, { times: 0 });
    const healed = await goOn(rig, wanted, 6 * MINUTE_MS, 5_000, isTaken);
    assert.equal(healed.at(-1)?.complete, true);
    assert.equal(rig.cloud.octavia.store.listeners.size, isTaken ? 1 : 0);
  });
}

test('an API that answers with 503 has tried nothing: the listener is not made anew for it', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const { faults, octavia } = rig.cloud;
  const [id = ''] = octavia.store.listeners.keys();
  octavia.setProvisioningStatus(id, 'ERROR');
  faults.set({ service: 'load-balancer', operation: 'PUT', effect: 'status', status: 503, times: 5 });
  rig.cloud.calls.reset();
  await goOn(rig, was, 20 * MINUTE_MS, 30_000);
  assert.deepEqual([...octavia.store.listeners.keys()], [id]);
  assert.equal(octavia.store.listeners.get(id)?.provisioning_status, 'ACTIVE');
});

test('nodes are opened to what serves while another port is in ERROR, and none is closed', async () => {
  const { having, rig, was } = await openGrouped();
  assert.equal(having().length, 2);
  failing(rig, LISTENER_OR_POOL);
  const more = { ...was, ports: [...was.ports, portOf(81)] };
  await goOn(rig, more, 5 * MINUTE_MS, 5_000);
  rig.backEnds = [...rig.backEnds.slice(1), rig.addNode('node-3')];
  const plans = await goOn(rig, more, 20_000);
  assert.equal(plans.at(-1)?.complete, false);
  assert.equal(having().length, 3);
});

for (const what of ['listeners', 'pools'] as const) {
  test(`a change of ${what} that fails is spaced, and they are made anew in the end, where members are planned first`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    const was = served(web, await rig.bring(web));
    const { octavia } = rig.cloud;
    const [id = ''] = octavia.store[what].keys();
    octavia.setProvisioningStatus(id, 'ERROR');
    failing(rig, new RegExp(`/${what}/[^/]+$`, 'u'), { methods: ['PUT'] });
    rig.cloud.calls.reset();
    await goOnFailing(rig, was, 5 * MINUTE_MS);
    const tries = changesOf(rig).length;
    assert.ok(tries >= 4 && tries <= 12, `${tries} in five minutes`);
    assert.ok(!octavia.store[what].has(id));
  });
}

test('a removal of a port that fails is spaced where members are planned first', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
  const was = served(web, await rig.bring(web));
  failing(rig, /\/(listeners|pools)\/[^/]+$/u, { methods: ['DELETE'] });
  rig.cloud.calls.reset();
  await goOnFailing(rig, { ...was, ports: [portOf(80)] }, 10 * MINUTE_MS);
  const tries = changesOf(rig).length;
  assert.ok(tries >= 5 && tries <= 40, `${tries} in ten minutes`);
});

for (const how of ['refused', 'failing'] as const) {
  test(`the group stays on the ports of nodes that serve on because the change of members failed; ${how}`, async () => {
    const { having, rig, was: first } = await openGrouped();
    const was = how === 'refused' ? { ...first, requestedIP: 'no address' } : first;
    const before = having();
    failing(rig, /\/members/u);
    rig.backEnds = [rig.addNode('node-3'), rig.addNode('node-4')];
    if (how === 'refused') await goOn(rig, was, 5 * MINUTE_MS, 5_000);
    else await goOnFailing(rig, was, 5 * MINUTE_MS, 5_000);
    const after = having();
    assert.deepEqual([before.length, before.filter((id) => !after.includes(id))], [2, []]);
  });
}

test('a refused wish leaves a listener in ERROR to the accepted one where OVN would only say ACTIVE', async () => {
  const first = await Rig.open({ loadBalancer: { lbProvider: 'ovn' } });
  first.cloud.octavia.settings.providers = ['ovn'];
  const web = serviceNamed('web');
  const was = served(web, await first.bring(web));
  // This one does not know that it has served.
  const rig = await first.restarted();
  const [id = ''] = rig.cloud.octavia.store.listeners.keys();
  rig.cloud.octavia.setProvisioningStatus(id, 'ERROR');
  rig.cloud.calls.reset();
  const refused = await goOn(rig, { ...was, requestedIP: 'no address' }, MINUTE_MS);
  const changes = changesOf(rig).filter((one) => one !== 'POST /auth/tokens');
  assert.deepEqual([changes, refused.at(-1)?.complete], [[], false]);
  const plans = await goOn(rig, was, MINUTE_MS);
  assert.equal(plans.at(-1)?.complete, true);
  assert.ok(!rig.cloud.octavia.store.listeners.has(id), 'it is made anew');
});

for (const status of [403, 500, 504]) {
  test(`one child in ERROR whose change is answered with ${status} keeps no other from following the nodes`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
    const was = served(web, await rig.bring(web));
    const { faults, octavia } = rig.cloud;
    const [id = ''] = octavia.store.listeners.keys();
    octavia.setProvisioningStatus(id, 'ERROR');
    const when = ({ path }: { readonly path: string }): boolean => path.includes(id);
    faults.set({ service: 'load-balancer', operation: 'PUT', effect: 'status', status, when });
    rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
    await goOnFailing(rig, was, 3 * MINUTE_MS, 15_000);
    assert.deepEqual(memberNames(rig).filter((name) => name === 'node-3').length, 2);
    assert.ok(octavia.store.listeners.has(id));
  });
}

test('a wish that was never tried is not made anew because another was tried often', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const [id = ''] = rig.cloud.octavia.store.listeners.keys();
  rig.cloud.octavia.setProvisioningStatus(id, 'ERROR');
  failing(rig, /\/listeners/u, { methods: ['PUT'] });
  await goOn(rig, { ...was, requestedIP: 'no address' }, 4 * MINUTE_MS, 30_000);
  await rig.clock.sleep(5 * MINUTE_MS);
  await rig.look(was);
  failing(rig, /never/u, { times: 0 });
  rig.cloud.calls.reset();
  await goOn(rig, was, 5_000);
  assert.deepEqual(changesOf(rig), ['PUT /listeners/{id}']);
});

test('a share of another load balancer that cannot be removed yet is told', async () => {
  const rig = await Rig.open();
  const { annotations } = await rig.bring(serviceNamed('first'));
  const loadBalancerId = annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const second = serviceNamed('second', { ports: [portOf(90)], annotations: annotated({ loadBalancerId }) });
  const shared = served(second, await rig.bring(second));
  failing(rig, /\/listeners\/[^/]+$/u, { methods: ['DELETE'] });
  const plans = await goOn(rig, { ...shared, annotations: {} }, 5 * MINUTE_MS, 5_000);
  assert.ok(toldIn(plans.slice(-1)).has('LoadBalancerChildInError'));
  assert.equal(plans.at(-1)?.complete, false);
});

test('a pool or monitor that has to make room for one of another kind is removed ever more seldom where that fails', async () => {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  failing(rig, /\/(pools|healthmonitors)\/[^/]+$/u, { methods: ['DELETE'] });
  for (const wish of [
    { ...was, annotations: { ...was.annotations, ...annotated({ proxyProtocol: 'true' }) } },
    { ...was, externalTrafficPolicy: 'Local', healthCheckNodePort: 31_000 },
  ] as const) {
    rig.cloud.calls.reset();
    await goOn(rig, wish, 10 * MINUTE_MS, 5_000);
    const tries = changesOf(rig).filter((one) => one.startsWith('DELETE')).length;
    assert.ok(tries >= 4 && tries <= 12, `${tries} in ten minutes`);
  }
});

test('a port whose old listener cannot be removed yet waits for that, and holds up no other', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80)] });
  const was = served(web, await rig.bring(web));
  failing(rig, /\/listeners\/[^/]+$/u, { methods: ['DELETE'] });
  const annotations = { ...was.annotations, ...annotated({ xForwardedFor: 'true' }) };
  await goOn(rig, { ...was, annotations, ports: [portOf(80), portOf(81)] }, 10 * MINUTE_MS, 5_000);
  const { listeners } = rig.cloud.octavia.store;
  const shown = [...listeners.values()].map(({ protocol, protocol_port: port }) => `${protocol} ${port}`);
  assert.deepEqual(shown.toSorted(), ['HTTP 81', 'TCP 80']);
});

test('a listener that serves is not removed because Octavia refuses what is wished', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const { faults, octavia } = rig.cloud;
  const [id = ''] = octavia.store.listeners.keys();
  octavia.setProvisioningStatus(id, 'ERROR');
  const when = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
    ['POST', 'PUT'].includes(method) && path.includes('/listeners');
  faults.set({ service: 'load-balancer', effect: 'status', status: 400, when });
  await goOnFailing(rig, { ...was, sourceRanges: ['10.0.0.0/8'] }, 10 * MINUTE_MS, 15_000);
  assert.ok(octavia.store.listeners.has(id));
});

for (const what of ['listeners', 'pools'] as const) {
  test(`the group stays on nodes that serve on while one of ${what} is never finished`, async () => {
    const { having, rig, was: first } = await openGrouped();
    const { octavia } = rig.cloud;
    const [id = ''] = octavia.store[what].keys();
    octavia.setProvisioningStatus(id, 'PENDING_UPDATE');
    await rig.look(first);
    await rig.clock.sleep(61_000);
    rig.backEnds = [rig.addNode('node-3'), rig.addNode('node-4')];
    const plans = await goOn(rig, { ...first, requestedIP: 'no address' }, 5 * MINUTE_MS, 5_000);
    assert.deepEqual([plans.at(-1)?.complete, having().length >= 2], [false, true]);
    const { others, parts } = await rig.lookAround(first);
    const { actions } = rig.provider.planMembers({ ...rig.desired(first), others }, parts);
    assert.deepEqual(
      actions.filter((one) => one.mayCutTraffic),
      [],
    );
  });
}

test('a listener whose removal Octavia never ends holds up nothing else, and is told', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
  const was = served(web, await rig.bring(web));
  const { octavia } = rig.cloud;
  const id = [...octavia.store.listeners.values()].find((one) => one.protocol_port === 81)?.id ?? '';
  octavia.setProvisioningStatus(id, 'PENDING_DELETE');
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  const plans = await goOn(rig, { ...was, ports: [portOf(80)] }, 5 * MINUTE_MS, 15_000);
  assert.ok(memberNames(rig).includes('node-3'));
  assert.ok(toldIn(plans).has('LoadBalancerStuck'));
});

for (const status of [403, 409]) {
  test(`a removal that is answered with ${status} is not first each time: another port comes`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
    const was = served(web, await rig.bring(web));
    const { faults, octavia } = rig.cloud;
    const when = ({ path }: { readonly path: string }): boolean => path.includes('/pools/');
    faults.set({ service: 'load-balancer', operation: 'DELETE', effect: 'status', status, when });
    const wish = { ...was, ports: [portOf(80), portOf(82)] };
    for (let pass = 0; pass < 10; pass++) {
      await rig.pass(rig.desired(wish)).catch((error: unknown) => {
        if (!isCloudError(error)) throw error;
      });
      await rig.clock.sleep(5_000);
    }
    const ports = [...octavia.store.listeners.values()].map((one) => one.protocol_port);
    assert.deepEqual(
      ports.toSorted((a, b) => a - b),
      [80, 81, 82],
    );
  });
}

test('a change that is always answered with 500 is asked for ever more seldom, and makes nothing anew', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const { faults, octavia } = rig.cloud;
  const [id = ''] = octavia.store.listeners.keys();
  octavia.setProvisioningStatus(id, 'ERROR');
  const when = ({ path }: { readonly path: string }): boolean => path.includes(id);
  faults.set({ service: 'load-balancer', operation: 'PUT', effect: 'status', status: 500, when });
  rig.cloud.calls.reset();
  await goOn(rig, was, 60 * MINUTE_MS, 5_000);
  const tries = changesOf(rig).length;
  assert.ok(tries >= 10 && tries <= 40, `${tries} in an hour`);
  assert.ok(octavia.store.listeners.has(id));
});

test('OVN: a listener that has served is changed again before it is made anew', async () => {
  const rig = await Rig.open({ loadBalancer: { lbProvider: 'ovn' } });
  rig.cloud.octavia.settings.providers = ['ovn'];
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  await rig.look(was);
  const [id = ''] = rig.cloud.octavia.store.listeners.keys();
  rig.cloud.octavia.setProvisioningStatus(id, 'ERROR');
  rig.cloud.calls.reset();
  const plans = await goOn(rig, was, MINUTE_MS);
  assert.equal(plans.at(-1)?.complete, true);
  assert.deepEqual(changesOf(rig), ['PUT /listeners/{id}']);
});
