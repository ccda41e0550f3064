import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { cleanupFinalizer } from './well-known-names.ts';

const ownedBy = (owner: string) => ({ annotations: { [loadBalancerOwnerAnnotation]: owner } });
const held = { finalizers: [cleanupFinalizer], ...ownedBy('old') };

async function started(apply: (rig: Rig) => void): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  apply(rig);
  await rig.start({ providers: ['memory', 'south'] });
  return rig;
}

test('a Service restored from the backup of another cluster: a person is told, and the annotation has it served', async () => {
  const rig = await started(({ api }) => api.apply('web', webSpec, ownedBy('north')));
  await rig.clock.advance(240_000);
  assert.deepEqual(rig.reasons('web'), [], 'another program may be at work on it');
  await rig.clock.advance(120_000);
  assert.deepEqual(rig.reasons('web'), ['ForeignLoadBalancer']);
  assert.match(
    rig.events[0]?.message ?? '',
    /provider north.*load-balancer-provider to memory, which then serves the Service/,
  );
  await rig.clock.advance(3_600_000);
  assert.ok(rig.reasons('web').length >= 2, 'Events are kept for an hour');
  assert.deepEqual([rig.api.patches, rig.provider.applied], [[], []]);
  rig.api.apply('web', webSpec, ownedBy('memory'));
  await rig.clock.advance(10_000);
  assert.ok(rig.api.get('web')?.status?.loadBalancer?.ingress);
  await rig.stop();
});

test('a deleted Service of a provider that is run no more: a person is told, and the annotation lets it go', async () => {
  for (const spec of [webSpec, { ...webSpec, loadBalancerClass: 'outrigger.dev/old' }]) {
    const rig = await started(({ api }) => api.apply('web', spec, held));
    rig.api.delete('web');
    await rig.clock.advance(400_000);
    assert.deepEqual(rig.reasons('web'), ['ForeignLoadBalancer']);
    assert.deepEqual(rig.api.get('web')?.metadata?.finalizers, [cleanupFinalizer]);
    rig.api.apply('web', spec, { ...rig.api.get('web')?.metadata, ...ownedBy('memory') });
    await rig.clock.advance(300_000);
    assert.equal(rig.api.get('web'), undefined);
    await rig.stop();
  }
});

test('a deleted Service with a finalizer that nobody claims: a person is told, and the annotation has it removed', async () => {
  const spec = { ...webSpec, type: 'NodePort' } as const;
  const rig = await started(({ api }) => api.apply('web', spec, { finalizers: [cleanupFinalizer] }));
  await rig.clock.advance(600_000);
  assert.deepEqual(rig.reasons('web'), [], 'nothing is wrong with it while it stays');
  const deletionTimestamp = new Date(rig.clock.now()).toISOString();
  rig.api.apply('web', spec, { ...rig.api.get('web')?.metadata, deletionTimestamp });
  await rig.clock.advance(240_000);
  assert.deepEqual(rig.reasons('web'), [], 'another program may be at work on it');
  await rig.clock.advance(120_000);
  assert.deepEqual(rig.reasons('web'), ['UnclaimedLoadBalancer']);
  assert.deepEqual(rig.api.get('web')?.metadata?.finalizers, [cleanupFinalizer]);
  rig.api.apply('web', spec, { ...rig.api.get('web')?.metadata, ...ownedBy('memory') });
  await rig.clock.advance(60_000);
  assert.equal(rig.api.get('web'), undefined);
  await rig.stop();
});

test('nobody is told of what another provider of the program has, of another class, or of what goes in time', async () => {
  const rig = await started(({ api }) => {
    api.apply('south', webSpec, { ...held, ...ownedBy('south') });
    api.apply('class', { ...webSpec, loadBalancerClass: 'example.com/x' }, held);
    api.apply('going', webSpec, held);
  });
  rig.api.delete('south');
  rig.api.delete('going');
  await rig.clock.advance(100_000);
  rig.api.services.remove('default/going');
  await rig.clock.advance(3_600_000);
  assert.deepEqual(rig.events, []);
  await rig.stop();
});

test('a name that is longer than any is told by its annotation and the limit, and nothing of it is quoted', async () => {
  const rig = await started(({ api }) => {
    api.apply('long', webSpec, ownedBy('x'.repeat(256)));
    api.apply('name', webSpec, ownedBy('y'.repeat(255)));
  });
  await rig.clock.advance(360_000);
  const told = (name: string): readonly string[] =>
    rig.events.filter((event) => event.name === name).map(({ message }) => message);
  assert.deepEqual(told('long'), [
    "The load balancer is left alone: annotation outrigger.dev/load-balancer-provider is too long: a provider's name has at most 255 characters. If no other program has written it, set it to memory, which then serves the Service.",
  ]);
  assert.match(told('name')[0] ?? '', /recorded for the provider y{255},/u);
  await rig.stop();
});
