/** A look that comes when nothing needs it any more is not what a later pass goes by. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLOATING, ips, servedAtFloating, VIP } from './floating-address.suite.ts';
import { nodeOf, webSpec } from './rig.suite.ts';
import { actionOn, IDLE, OTHER, partOf, READY, type Told } from './told-cloud.suite.ts';
import { readyCondition } from './well-known-names.ts';

const HOUR_MS = 3_600_000;
/** Longer than changes of nodes are waited for. */
const LATENCY_MS = 5_000;

const otherSpec = (port: number): typeof webSpec => ({ ...webSpec, ports: [{ port, nodePort: 30_000 + port }] });

interface Counted {
  readonly told: Told;
  readonly looks: () => number;
}

async function servedSlowly(prepare: (told: Told) => void = () => {}): Promise<Counted> {
  let looks = 0;
  const told = await servedAtFloating((early) => {
    const { clock, provider } = early.rig;
    const observe = provider.observe.bind(provider);
    provider.observe = async (...asked) => {
      looks += 1;
      const shown = await observe(...asked);
      await clock.sleep(LATENCY_MS);
      return shown;
    };
    prepare(early);
  });
  return { told, looks: () => looks };
}

/** It is as it was settled, before the look for what was between is there. */
const ways: Readonly<Record<string, (told: Told) => Promise<void>>> = {
  'another spec for a moment': async ({ rig: { api, clock } }) => {
    api.apply('web', otherSpec(82));
    await clock.advance(LATENCY_MS / 5);
    api.apply('web', webSpec);
    await clock.advance(10_000);
  },
  'a node for a moment': async ({ rig: { api, clock } }) => {
    api.nodes.put(nodeOf('n2'));
    await clock.advance(LATENCY_MS / 2);
    api.nodes.remove('n2');
    await clock.advance(10_000);
  },
};

for (const [what, way] of Object.entries(ways)) {
  test(`a new spec hours after a look that came late asks the cloud anew: ${what}`, async () => {
    const { looks, told } = await servedSlowly();
    const { api, clock, provider } = told.rig;
    told.serve = (parts) =>
      parts.length > 0
        ? { ...READY, ingress: [{ ip: FLOATING }] }
        : { ...IDLE, actions: [actionOn('create', 'load-balancer')] };
    told.apply = () => {
      told.parts = [{ ...partOf('load-balancer b'), addresses: [VIP, FLOATING] }];
      return { kind: 'done' };
    };
    await way(told);
    const before = looks();
    told.parts = [];
    await clock.advance(HOUR_MS);
    assert.equal(looks(), before);
    api.apply('web', otherSpec(83));
    await clock.advance(10 * 60_000);
    assert.ok(looks() > before);
    assert.deepEqual(provider.applied, ['create load-balancer undefined']);
    await told.rig.stop();
  });

  test(`… and so does one that shares an address which another has lost: ${what}`, async () => {
    const { told } = await servedSlowly();
    const { api, clock } = told.rig;
    told.serve = (parts) => ({
      ...READY,
      ingress: [
        { ip: parts.some(({ addresses, owner }) => owner !== OTHER && addresses?.includes(FLOATING)) ? FLOATING : VIP },
      ],
    });
    const sharer = { status: { loadBalancer: { ingress: [{ ip: FLOATING }] } } };
    const spec = { ...webSpec, loadBalancerClass: 'example.com/other' };
    api.services.put({ ...api.apply('sharer', spec), ...sharer });
    await way(told);
    told.parts = [
      { ...partOf('load-balancer a'), addresses: [VIP] },
      { ...partOf('address b'), owner: OTHER, addresses: [FLOATING] },
    ];
    await clock.advance(HOUR_MS);
    assert.deepEqual(ips(told), [FLOATING]);
    api.services.remove('default/sharer');
    await clock.advance(10_000);
    assert.deepEqual(ips(told), [VIP]);
    await told.rig.stop();
  });

  test(`what a look that came late shows is not passed over: ${what}`, async () => {
    const { looks, told } = await servedSlowly();
    const { api, clock, provider } = told.rig;
    told.serve = (parts) =>
      parts.some(({ state }) => state === 'ready')
        ? { ...READY, ingress: [{ ip: FLOATING }] }
        : { ...IDLE, actions: [actionOn('update', 'load-balancer a')] };
    told.apply = () => {
      told.parts = [{ ...partOf('load-balancer a'), addresses: [VIP, FLOATING] }];
      return { kind: 'done' };
    };
    told.parts = [{ ...partOf('load-balancer a', { state: 'failed' }), addresses: [VIP, FLOATING] }];
    const before = looks();
    await way(told);
    await clock.advance(60_000);
    assert.deepEqual(provider.applied, ['update load-balancer a']);
    assert.ok(looks() - before <= 3, `${looks() - before} looks`);
    const ready = api.get('web')?.status?.conditions?.find(({ type }) => type === readyCondition)?.status;
    assert.equal(ready, 'True');
    await told.rig.stop();
  });
}

test('what could not be let go is looked at before it is tried again', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  // Not of this provider any more: its status may be another's, and is written as it was judged by alone.
  api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/other' });
  let isChanged = false;
  api.before = () => {
    const { annotations } = api.get('web')?.metadata ?? {};
    if (isChanged || told.parts.length > 0) return;
    isChanged = true;
    api.services.holdWatch = true;
    api.apply('web', api.get('web')?.spec ?? {}, { annotations: { ...annotations, edit: '1' } });
  };
  await clock.advance(HOUR_MS);
  assert.ok(isChanged);
  told.parts = [partOf('load-balancer late')];
  api.services.holdWatch = false;
  api.services.publish();
  await clock.advance(HOUR_MS);
  assert.deepEqual(told.parts, []);
  assert.deepEqual(api.get('web')?.metadata?.finalizers, []);
  await told.rig.stop();
});
