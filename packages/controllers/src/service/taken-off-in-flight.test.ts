/** Whose finalizer and owner are taken off while nothing of it has been seen yet leaves nothing in the cloud either. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { servedAtFloating } from './floating-address.suite.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { createTold, makeLoadBalancer, partOf } from './told-cloud.suite.ts';
import { cleanupFinalizer } from './well-known-names.ts';

const MINUTE_MS = 60_000;
const noService: typeof webSpec = { ...webSpec, type: 'ClusterIP' };

/** In one write: no record of ours, and another type. */
function takeOff({ api }: Rig): void {
  const { [loadBalancerOwnerAnnotation]: _, ...annotations } = api.get('web')?.metadata?.annotations ?? {};
  api.apply('web', noService, { annotations, finalizers: [] });
}

/** In a minute; and then nothing of it costs a look or a write any more. */
async function isLeftAlone(rig: Rig, looks: () => number): Promise<void> {
  const { metadata } = rig.api.get('web') ?? {};
  assert.deepEqual(metadata?.finalizers, []);
  assert.equal(metadata?.annotations?.[loadBalancerOwnerAnnotation], undefined);
  const [before, patches] = [looks(), rig.api.patches.length];
  for (let i = 0; i < 10; i++) {
    rig.api.apply('web', noService, { labels: { edit: `${i}` } });
    await rig.clock.advance(MINUTE_MS);
  }
  assert.deepEqual([looks(), rig.api.patches.length], [before, patches]);
}

async function whileMade(meanwhile: (rig: Rig) => void, fails = false): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  let isFirst = true;
  rig.provider.before = async ({ kind }) => {
    if (kind !== 'create' || !isFirst) return;
    isFirst = false;
    meanwhile(rig);
    await rig.clock.sleep(500);
    if (fails) throw new CloudError('quota', 'no', { effect: 'none' });
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(60 * MINUTE_MS);
  return rig;
}

test('while the first part is being made', async () => {
  const rig = await whileMade(takeOff);
  assert.ok(
    rig.provider.applied.some((one) => one.startsWith('create')),
    'something was made',
  );
  assert.deepEqual(rig.partsOf('uid-1'), []);
  await isLeftAlone(rig, () => rig.provider.observes);
  await rig.stop();
});

test('while the first part is being made, which the cloud refuses then', async () => {
  const rig = await whileMade(takeOff, true);
  assert.deepEqual(rig.partsOf('uid-1'), []);
  await isLeftAlone(rig, () => rig.provider.observes);
  await rig.stop();
});

test('while the first part is being made, and the Service is gone at once', async () => {
  for (const owner of [undefined, 'memory']) {
    const rig = await whileMade(({ api }) => {
      const { [loadBalancerOwnerAnnotation]: _, ...annotations } = api.get('web')?.metadata?.annotations ?? {};
      const ours = owner && { [loadBalancerOwnerAnnotation]: owner };
      api.apply('web', webSpec, { annotations: { ...annotations, ...ours }, finalizers: [] });
      api.delete('web');
    });
    assert.ok(
      rig.provider.applied.some((one) => one.startsWith('create')),
      'something was made',
    );
    assert.deepEqual(rig.partsOf('uid-1'), [], owner);
    await rig.stop();
  }
});

test('after a fail-over, before the cloud has shown any part', async () => {
  const told = await servedAtFloating();
  const { rig } = told;
  await rig.stop();
  const observe = rig.provider.observe.bind(rig.provider);
  const error = new CloudError('unavailable', 'down');
  rig.provider.observe = (services) => Promise.resolve(services.map(() => ({ kind: 'failed', error })));
  await rig.start();
  await rig.clock.advance(MINUTE_MS);
  takeOff(rig);
  await rig.clock.advance(MINUTE_MS);
  let looks = 0;
  rig.provider.observe = (...asked) => {
    looks += 1;
    return observe(...asked);
  };
  await rig.clock.advance(60 * MINUTE_MS);
  assert.deepEqual(told.parts, []);
  await isLeftAlone(rig, () => looks);
  await rig.stop();
});

test('after a request for a part that had no answer, and takes effect then', async () => {
  const told = await createTold();
  const { rig } = told;
  told.serve = makeLoadBalancer;
  told.apply = ({ id, kind, part }) => {
    if (kind === 'delete') {
      told.parts = told.parts.filter((one) => one.kind !== part || one.id !== id);
      return { kind: 'done' };
    }
    rig.clock.setTimer(100, () => takeOff(rig));
    rig.clock.setTimer(3_000, () => (told.parts = [partOf('load-balancer late')]));
    return { kind: 'failed', error: new CloudError('timeout', 'no answer') };
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(2_000);
  assert.ok(!rig.api.get('web')?.metadata?.finalizers?.includes(cleanupFinalizer), 'it was taken off');
  await rig.clock.advance(120 * MINUTE_MS);
  assert.deepEqual(told.parts, []);
  assert.ok(rig.provider.applied.includes('delete load-balancer late'), 'it came');
  await isLeftAlone(rig, () => rig.provider.observes);
  await rig.stop();
});
