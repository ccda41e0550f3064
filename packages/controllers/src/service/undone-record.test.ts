/** Who takes the finalizer and the owner off a Service again and again neither keeps an address that it has lost, nor costs a write each time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { FLOATING, ips, servedAtFloating, VIP } from './floating-address.suite.ts';
import { webSpec } from './rig.suite.ts';
import { partOf, type Told } from './told-cloud.suite.ts';
import { cleanupFinalizer } from './well-known-names.ts';

const MINUTE_MS = 60_000;

type Taken = 'finalizer' | 'owner' | 'both';

function takeOff({ rig: { api } }: Told, what: Taken): void {
  const { annotations = {}, finalizers = [] } = api.get('web')?.metadata ?? {};
  const { [loadBalancerOwnerAnnotation]: owner, ...others } = annotations;
  const isOver = what === 'owner' ? owner === undefined : finalizers.length === 0;
  if (isOver) return;
  api.apply('web', webSpec, {
    annotations: what === 'finalizer' ? annotations : others,
    finalizers: what === 'owner' ? finalizers : [],
  });
}

/** Its record is taken off as soon as it is there, 2,000 times at most; `looks` and `patches`: since the first time. */
async function undone(what: Taken, isUndone = (): boolean => true) {
  let looks = 0;
  const told = await servedAtFloating(({ rig: { provider } }) => {
    const observe = provider.observe.bind(provider);
    provider.observe = (...asked) => {
      looks += 1;
      return observe(...asked);
    };
  });
  const { api } = told.rig;
  const before = { looks, patches: api.patches.length };
  const patches = (): number => api.patches.length - before.patches;
  api.after = () => void (patches() < 2_000 && isUndone() && takeOff(told, what));
  takeOff(told, what);
  return { told, patches, looks: () => looks - before.looks };
}

for (const what of ['finalizer', 'owner', 'both'] as const) {
  test(`a record that is undone each time is written ever more seldom, and told once: ${what}`, async () => {
    const { looks, patches, told } = await undone(what);
    const { clock } = told.rig;
    await clock.advance(10 * MINUTE_MS);
    assert.ok(patches() >= 3 && patches() <= 8, `${patches()} writes in ten minutes`);
    assert.ok(looks() <= 16, `${looks()} looks in ten minutes`);
    const before = { looks: looks(), patches: patches() };
    await clock.advance(60 * MINUTE_MS);
    assert.ok(patches() - before.patches >= 10 && patches() - before.patches <= 13, `${patches()} in an hour`);
    assert.ok(looks() - before.looks <= 26, `${looks()} looks in an hour`);
    const messages = told.rig.events.flatMap(({ message, reason }) => (reason === 'FieldContested' ? [message] : []));
    assert.match(messages[0] ?? '', /removes the finalizer .*load-balancer-cleanup or the annotation outrigger\.dev/u);
    assert.ok(messages.length <= 3, 'once for as long as Events are kept');
    assert.deepEqual(ips(told), [FLOATING]);
    await told.rig.stop();
  });

  test(`… and a lost address goes all the same, and is told: ${what}`, async () => {
    const { looks, told } = await undone(what);
    const { clock } = told.rig;
    await clock.advance(MINUTE_MS);
    told.parts = [{ ...partOf('load-balancer a'), addresses: [VIP] }];
    await clock.advance(15 * MINUTE_MS);
    assert.deepEqual(ips(told), []);
    assert.ok(told.rig.reasons('web').includes('LoadBalancerAddressGone'));
    assert.ok(looks() <= 26, `${looks()} looks`);
    await told.rig.stop();
  });
}

test('what a person takes off once is written again at once, and stands', async () => {
  const { patches, told } = await undone('both', () => false);
  await told.rig.clock.advance(10_000);
  const { annotations = {}, finalizers } = told.rig.api.get('web')?.metadata ?? {};
  assert.deepEqual([finalizers, annotations[loadBalancerOwnerAnnotation]], [[cleanupFinalizer], 'memory']);
  const before = patches();
  await told.rig.clock.advance(60 * MINUTE_MS);
  assert.equal(patches(), before);
  assert.ok(!told.rig.reasons('web').includes('FieldContested'));
  await told.rig.stop();
});
