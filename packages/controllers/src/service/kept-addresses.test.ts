/** Nothing that a tenant writes, nor a cloud that hangs, keeps an address in a status that the cloud no longer shows as the Service's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type LoadBalancerPart, type PartAnswer } from '@outrigger/cloud-provider';
import { FLOATING, ips, refusedSpec, servedAtFloating, VIP } from './floating-address.suite.ts';
import { webSpec } from './rig.suite.ts';
import { actionOn, IDLE, partOf, type Told } from './told-cloud.suite.ts';
import { partsAnnotation } from './well-known-names.ts';

const LONG_MS = 3_600_000;

const balancer = (...addresses: readonly string[]): LoadBalancerPart => ({ ...partOf('load-balancer a'), addresses });
const pending = (...addresses: readonly string[]): LoadBalancerPart => ({
  ...balancer(...addresses),
  state: 'pending',
});

/** `plan` is what comes of another wish. */
async function changed(told: Told, plan: Told['serve'], port = 82): Promise<void> {
  told.serve = plan;
  told.rig.api.apply('web', { ...webSpec, ports: [{ port, nodePort: 30_000 + port }] });
  await told.rig.clock.advance(10_000);
}

async function droppedSoon(told: Told, what: string): Promise<void> {
  assert.deepEqual(ips(told), [FLOATING], what);
  told.parts = told.parts.map((part) => (part.addresses ? { ...part, addresses: [VIP] } : part));
  await told.rig.clock.advance(60_000);
  assert.deepEqual(ips(told), [FLOATING], `${what}: two looks are 90 s apart`);
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [], what);
}

test('a part that only the record on the Service names, which tenants may write, does not keep it', async () => {
  const answers: Readonly<Record<string, PartAnswer>> = {
    'the cloud has no such kind': { kind: 'failed', error: new CloudError('unsupported', 'no such kind') },
    'the cloud fails to answer': { kind: 'failed', error: new CloudError('unavailable', 'no such ID') },
  };
  for (const [what, answer] of Object.entries(answers)) {
    for (const spec of [webSpec, refusedSpec]) {
      const told = await servedAtFloating(({ rig }) => {
        rig.provider.read = (parts) =>
          Promise.resolve(parts.map(({ kind }) => (kind === 'x' ? answer : { kind: 'there' })));
      });
      const { api, clock } = told.rig;
      const annotations = { ...api.get('web')?.metadata?.annotations, [partsAnnotation]: 'load-balancer/a x/1' };
      api.apply('web', spec, { annotations });
      await clock.advance(10_000);
      await told.rig.stop();
      await told.rig.start();
      await clock.advance(10_000);
      await droppedSoon(told, what);
      await told.rig.stop();
    }
  }
});

test('nor does one that is being deleted, and whose cloud hangs, refuses or does not end', async () => {
  const conflict = new CloudError('conflict', 'immutable');
  const ways: Readonly<Record<string, (told: Told) => void>> = {
    'a deletion that the cloud refuses': (told) => (told.apply = () => ({ kind: 'failed', error: conflict })),
    'a deletion that the provider refuses': (told) => (told.remove = () => ({ ...IDLE, refused: conflict })),
    'a deletion that never ends': (told) => (told.remove = () => IDLE),
    'a deletion that is done again and again': (told) => (told.apply = () => ({ kind: 'done' })),
    'a part that is on its way out for ever': (told) => {
      told.parts = [...told.parts, partOf('listener b', { state: 'deleting' })];
      told.remove = () => IDLE;
    },
    'a load balancer that no list shows, and that is there when the cloud is asked': (told) => {
      told.apply = () => {
        told.parts = [];
        return { kind: 'pending', handle: 'task', pollAfterMs: 1_000 };
      };
    },
  };
  for (const [what, change] of Object.entries(ways)) {
    for (const isNew of [false, true]) {
      const told = await servedAtFloating(({ rig }) => {
        rig.provider.read = (parts) => Promise.resolve(parts.map(() => ({ kind: 'there' })));
      });
      change(told);
      told.rig.api.delete('web');
      await told.rig.clock.advance(10_000);
      if (isNew) {
        await told.rig.stop();
        told.parts = told.parts.map((part) => (part.addresses ? balancer(VIP) : part));
        await told.rig.start();
      }
      await droppedSoon(told, what);
      assert.ok(told.rig.api.get('web'), what);
      await told.rig.stop();
    }
  }
});

test('… and of one that is gone itself nothing is written', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  told.remove = () => IDLE;
  api.delete('web');
  await clock.advance(10_000);
  api.services.remove('default/web');
  const { length } = api.patches;
  told.parts = [balancer(VIP)];
  await clock.advance(LONG_MS);
  assert.equal(api.patches.length, length);
  await told.rig.stop();
});

test('nor does one that asks for no load balancer any more, for a new process either', async () => {
  const told = await servedAtFloating();
  told.remove = () => IDLE;
  told.rig.api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await told.rig.clock.advance(10_000);
  await told.rig.stop();
  told.parts = [balancer(VIP)];
  await told.rig.start();
  await droppedSoon(told, 'ClusterIP');
  await told.rig.stop();
});

test('… but one that asks for a load balancer of another class by now keeps what that one may have written', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  told.remove = () => IDLE;
  told.parts = [balancer(VIP)];
  const service = api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/other' });
  api.services.put({ ...service, status: { loadBalancer: { ingress: [{ ip: '198.51.100.1' }] } } });
  await clock.advance(LONG_MS);
  assert.deepEqual(ips(told), ['198.51.100.1']);
  await told.rig.stop();
});

test('nor does one that has not failed, and is never as it should be', async () => {
  const ways: Readonly<Record<string, (told: Told) => Promise<void>>> = {
    'the cloud is at work': async (told) => {
      told.parts = [pending(VIP, FLOATING)];
      await changed(told, () => IDLE);
    },
    'actions that succeed and never end': async (told) => {
      let i = 0;
      told.apply = () => ({ kind: 'pending', handle: 'task', pollAfterMs: 20_000 });
      await changed(told, () => ({
        ...IDLE,
        actions: [{ ...actionOn('update', 'load-balancer a'), input: { i: ++i } }],
      }));
    },
  };
  for (const [what, change] of Object.entries(ways)) {
    const told = await servedAtFloating();
    await change(told);
    await droppedSoon(told, what);
    told.parts = [pending(VIP, FLOATING)];
    await told.rig.clock.advance(LONG_MS);
    assert.deepEqual(ips(told), [FLOATING], `${what}: it comes back`);
    await told.rig.stop();
  }
});

test('… while one that is at work keeps what its parts show, and what is promised, without a write', async () => {
  const told = await servedAtFloating();
  told.parts = [pending(VIP, FLOATING)];
  await changed(told, () => ({ ...IDLE, ingress: [{ ip: FLOATING }] }));
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual(ips(told), [FLOATING]);
  const { length } = told.rig.api.patches;
  await told.rig.clock.advance(LONG_MS);
  assert.deepEqual([ips(told), told.rig.api.patches.length], [[FLOATING], length]);
  await told.rig.stop();
});

test('nor do writes of its tenant in between, however many', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  api.apply('web', refusedSpec);
  await clock.advance(10_000);
  let i = 0;
  api.before = () => {
    const { metadata } = api.get('web') ?? {};
    api.apply('web', refusedSpec, { annotations: { ...metadata?.annotations, 'tenant.example/i': String(++i) } });
  };
  await droppedSoon(told, 'each write comes after one of the tenant');
  assert.equal(api.get('web')?.metadata?.annotations?.['tenant.example/i'], String(i));
  await told.rig.stop();
});

test('nor does one that is refused, and selects no node but for a moment each four minutes', async () => {
  let selects = true;
  const told = await servedAtFloating(({ rig: { clock, provider } }) => {
    provider.selectBackEnds = (_service, all) => (selects ? all : []);
    const observe = provider.observe.bind(provider);
    provider.observe = async (services, call) => {
      await clock.sleep(500);
      return observe(services, call);
    };
  });
  const { api, clock } = told.rig;
  told.parts = [balancer(VIP)];
  for (let i = 0; i < 15; i++) {
    for (const has of [false, true]) {
      selects = has;
      const annotations = { ...api.get('web')?.metadata?.annotations, 'tenant.example/pool': `${i} ${has}` };
      api.apply('web', refusedSpec, { annotations });
      await clock.advance(has ? 100 : 4 * 60_000);
    }
  }
  assert.deepEqual(ips(told), []);
  await told.rig.stop();
});

test('… and one that asks for no load balancer here any more gets none back', async () => {
  const ways: Readonly<Record<string, (told: Told) => void>> = {
    'another type': ({ rig }) => void rig.api.apply('web', { ...webSpec, type: 'ClusterIP' }),
    'another class': ({ rig }) => void rig.api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/other' }),
    deletion: ({ rig }) => rig.api.delete('web'),
  };
  for (const [what, end] of Object.entries(ways)) {
    const told = await servedAtFloating();
    told.rig.api.apply('web', refusedSpec);
    await droppedSoon(told, what);
    told.parts = [balancer(VIP, FLOATING)];
    const { length } = told.rig.api.patches;
    end(told);
    await told.rig.clock.advance(LONG_MS);
    const patches = told.rig.api.patches.slice(length).map(({ patch }) => patch.type);
    assert.deepEqual([ips(told), told.parts, patches.includes('json')], [[], [], false], what);
    assert.deepEqual(told.rig.api.get('web')?.metadata?.finalizers ?? [], [], what);
    assert.ok(!told.rig.reasons('web').slice(-3).includes('LoadBalancerAddressGone'), what);
    await told.rig.stop();
  }
});

test('… and one whose deletion takes long loses it without a Warning, as nothing is wrong', async () => {
  const told = await servedAtFloating();
  told.remove = () => IDLE;
  told.rig.api.delete('web');
  await told.rig.clock.advance(10_000);
  await droppedSoon(told, 'a slow deletion');
  assert.ok(!told.rig.reasons('web').includes('LoadBalancerAddressGone'));
  await told.rig.stop();
});
