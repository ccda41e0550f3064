/** What is in ERROR below a load balancer holds up no other wish than the one that failed, and nothing beside it. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { portOf } from './desired/tree-inputs.suite.ts';
import { changesOf, failing, goOn, MINUTE_MS, toldIn } from './failed-children.suite.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

const LISTENER_OR_POOL = /\/listeners|\/pools(\/[^/]+)?$/u;
const memberNames = (rig: Rig): readonly string[] =>
  [...rig.cloud.octavia.store.members.values()].map(({ name }) => name).toSorted();

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
  faults.set({ service: 'load-balancer', operation: 'PUT', effect: 'status', status: 503, times: 20 });
  rig.cloud.calls.reset();
  await goOn(rig, was, 20 * MINUTE_MS, 30_000);
  assert.deepEqual([...octavia.store.listeners.keys()], [id]);
  assert.equal(octavia.store.listeners.get(id)?.provisioning_status, 'ACTIVE');
});

test('nodes are opened to what serves while another port is in ERROR, and none is closed', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const group = (await rig.look(was)).find(({ kind }) => kind === 'security-group')?.id ?? '';
  const having = (): number =>
    rig.cloud.networking.ports.ports.all().filter((port) => port.security_groups.includes(group)).length;
  assert.equal(having(), 2);
  failing(rig, LISTENER_OR_POOL);
  const more = { ...was, ports: [...was.ports, portOf(81)] };
  await goOn(rig, more, 5 * MINUTE_MS, 5_000);
  rig.backEnds = [...rig.backEnds.slice(1), rig.addNode('node-3')];
  const plans = await goOn(rig, more, 20_000);
  assert.equal(plans.at(-1)?.complete, false);
  assert.equal(having(), 3);
});
