/** What Octavia leaves in ERROR below a load balancer, which serves on as before: it is changed again before it is made anew. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { LatenessTracker } from './observe/lateness.ts';
import { portOf } from './desired/tree-inputs.suite.ts';
import { changesOf, failing, goOn, MINUTE_MS, toldIn } from './failed-children.suite.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

for (const serial of [false, true]) {
  for (const isRefused of [false, true]) {
    test(`a change of members that fails takes no member away; serial: ${serial}, of a refused wish: ${isRefused}`, async () => {
      const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: serial } });
      const web = serviceNamed('web');
      const first = served(web, await rig.bring(web));
      const was = isRefused ? { ...first, requestedIP: 'no address' } : first;
      const names = (): readonly string[] => [...rig.cloud.octavia.store.members.values()].map(({ name }) => name);
      const before = names();
      // With one that serves no more: it goes with the change that succeeds.
      rig.backEnds = [...rig.backEnds.slice(1), rig.addNode('node-3')];
      failing(rig, /\/members/u, { methods: ['POST', 'PUT', 'DELETE'], times: 1 });
      rig.cloud.calls.reset();
      const told = new Set<string>();
      const stays = before.filter((name) => name !== 'node-1');
      for (let pass = 0; pass < 60; pass++) {
        for (const one of toldIn([await rig.pass(rig.desired(was))])) told.add(one);
        for (const name of stays) assert.ok(names().includes(name), `${name} in pass ${pass}`);
        await rig.clock.sleep(1_000);
      }
      assert.deepEqual(names().toSorted(), ['node-2', 'node-3']);
      for (const { provisioning_status: status } of rig.cloud.octavia.store.members.values())
        assert.equal(status, 'ACTIVE');
      assert.ok(told.has('LoadBalancerChildInError'));
    });
  }
}

test('a change of a serving listener that fails is sent again: listener and pool stay', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  failing(rig, /\/listeners/u, { times: 1 });
  rig.cloud.calls.reset();
  const plan = await rig.bring({ ...was, sourceRanges: ['10.0.0.0/8'] });
  assert.deepEqual([plan.complete, plan.warnings], [true, []]);
  assert.deepEqual(
    changesOf(rig).filter((one) => /DELETE|POST/u.test(one)),
    [],
  );
  const [listener] = rig.cloud.octavia.store.listeners.values();
  assert.deepEqual([listener?.provisioning_status, listener?.allowed_cidrs], ['ACTIVE', ['10.0.0.0/8']]);
});

for (const what of ['listeners', 'pools', 'healthmonitors'] as const) {
  test(`${what} whose changes go on to fail are made anew in the end, and it is told meanwhile`, async () => {
    const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
    const web = serviceNamed('web');
    const was = served(web, await rig.bring(web));
    const { store } = rig.cloud.octavia;
    const idsOf = (): readonly string[] => [
      ...(what === 'listeners' ? store.listeners : what === 'pools' ? store.pools : store.monitors).keys(),
    ];
    const [broken = ''] = idsOf();
    failing(rig, new RegExp(broken, 'u'), { methods: ['PUT'] });
    rig.cloud.octavia.setProvisioningStatus(broken, 'ERROR');
    const early = await goOn(rig, was, 25_000);
    assert.deepEqual(idsOf(), [broken], 'not at once');
    assert.ok(toldIn(early).has('LoadBalancerChildInError'));
    const late = await goOn(rig, was, MINUTE_MS);
    assert.ok(!idsOf().includes(broken) && idsOf().length === 1);
    const last = late.at(-1);
    assert.deepEqual([last?.complete, last?.warnings], [true, []]);
  });
}

test('what fails each time is tried ever more seldom, and holds nothing else up', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const { listeners, members } = rig.cloud.octavia.store;
  const before = new Set(listeners.keys());
  failing(rig, /\/listeners|\/pools(\/[^/]+)?$/u);
  const more = { ...was, ports: [...was.ports, portOf(81)] };
  rig.cloud.calls.reset();
  const plans = await goOn(rig, more, 10 * MINUTE_MS, 5_000);
  assert.deepEqual(toldIn(plans), new Set(['LoadBalancerChildInError']));
  const tries = changesOf(rig).length;
  assert.ok(tries >= 5 && tries <= 15, `${tries} changes in ten minutes`);
  rig.cloud.calls.reset();
  await goOn(rig, more, 30 * MINUTE_MS, 20_000);
  const later = changesOf(rig).filter((one) => one.includes('POST')).length;
  assert.ok(later >= 4 && later <= 7, `${later} in the half hour after`);
  for (const id of before) assert.ok(listeners.has(id), 'the one that serves stays');

  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  await goOn(rig, more, 10_000);
  assert.ok(
    [...members.values()].some(({ name }) => name === 'node-3'),
    'members follow the nodes meanwhile',
  );

  failing(rig, /\/listeners|\/pools(\/[^/]+)?$/u, { times: 0 });
  const healed = await goOn(rig, more, 6 * MINUTE_MS, 5_000);
  assert.ok(healed.at(-1)?.complete);
});

test('OVN says ACTIVE to a change of a listener that it has never made: it is made anew', async () => {
  const rig = await Rig.open({ loadBalancer: { lbProvider: 'ovn' } });
  rig.cloud.octavia.settings.providers = ['ovn'];
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  failing(rig, /\/listeners$/u, { methods: ['POST'], times: 1 });
  rig.cloud.calls.reset();
  const plans = await goOn(rig, { ...was, ports: [...was.ports, portOf(81)] }, MINUTE_MS);
  assert.equal(plans.at(-1)?.complete, true);
  const ofListeners = changesOf(rig).filter((one) => one.includes('/listeners'));
  assert.deepEqual(ofListeners, ['POST /listeners', 'DELETE /listeners/{id}', 'POST /listeners']);
});

test('OVN adds a member that it has never made by the batch alone, also where requests are to be serial', async () => {
  const rig = await Rig.open({ loadBalancer: { lbProvider: 'ovn', providerRequiresSerialApiCalls: true } });
  rig.cloud.octavia.settings.providers = ['ovn'];
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  failing(rig, /\/members$/u, { methods: ['POST'], times: 1 });
  rig.cloud.calls.reset();
  const plans = await goOn(rig, was, MINUTE_MS);
  assert.equal(plans.at(-1)?.complete, true);
  const ofMembers = changesOf(rig).filter((one) => one.includes('/members'));
  assert.deepEqual(ofMembers, ['POST /pools/{pool}/members', 'PUT /pools/{pool}/members']);
});

test('another process changes once more what is in ERROR before it makes it anew', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const [id = ''] = rig.cloud.octavia.store.listeners.keys();
  failing(rig, /\/listeners/u);
  rig.cloud.octavia.setProvisioningStatus(id, 'ERROR');
  await goOn(rig, was, 30_000);
  const other = await rig.restarted();
  const plan = other.provider.plan(other.desired(was), await other.look(was));
  assert.deepEqual(
    plan.actions.map(({ summary }) => summary),
    ['update the listener TCP 80'],
  );
});

test('patience with an ERROR grows up to five minutes, and is begun anew by another wish and by ACTIVE', () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const lateness = new LatenessTracker(clock);
  const seen = (): string => lateness.ofChild(`id ${now}`, 'place', 'ERROR').late;
  const waits: number[] = [];
  const whats: string[] = [];
  for (let round = 0; round < 8; round++) {
    const since = now;
    while (seen() === 'no') now += 1_000;
    waits.push(now - since);
    whats.push(seen());
    lateness.noteTried('lb', { place: 'place', wish: 'one' }, true);
  }
  assert.deepEqual(waits, [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  assert.deepEqual(whats, ['finish', 'finish', 'finish', 'rebuild', 'rebuild', 'rebuild', 'rebuild', 'rebuild']);
  assert.equal(seen(), 'no');
  assert.equal(lateness.ofChild('id', 'place', 'ERROR').tried, 'one');
  lateness.noteTried('lb', { place: 'place', wish: 'another' }, true);
  now += 10_000;
  assert.equal(seen(), 'finish', 'another wish is tried from the beginning');
  lateness.noteTried('lb', { place: 'place', wish: 'another' }, true);
  assert.deepEqual(lateness.ofChild('id', 'place', 'ACTIVE'), { late: 'no' });
  assert.equal(seen(), 'finish');
});
