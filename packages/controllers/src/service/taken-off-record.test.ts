/** Whose finalizer and owner were taken off leaves nothing in the cloud, whatever becomes of the Service then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { ips, servedAtFloating, VIP } from './floating-address.suite.ts';
import { createRig, nodeOf, webSpec } from './rig.suite.ts';
import { IDLE, partOf, type Told } from './told-cloud.suite.ts';
import { cleanupFinalizer, missingSinceAnnotation } from './well-known-names.ts';

const MINUTE_MS = 60_000;
const THEIRS = 'example.com/theirs';
const noService: typeof webSpec = { ...webSpec, type: 'ClusterIP' };
type Metadata = NonNullable<Parameters<Told['rig']['api']['apply']>[2]>;

/** What the Service has, without our record. */
function bare({ rig: { api } }: Told, owner?: string): Metadata {
  const { [loadBalancerOwnerAnnotation]: _, ...annotations } = api.get('web')?.metadata?.annotations ?? {};
  return { annotations: { ...annotations, ...(owner && { [loadBalancerOwnerAnnotation]: owner }) }, finalizers: [] };
}

/** Twice, so that it is not written again at once. */
async function takeOffTwice(told: Told): Promise<void> {
  for (let i = 0; i < 2; i++) {
    if (i > 0) await told.rig.clock.advance(100);
    told.rig.api.apply('web', webSpec, bare(told));
  }
}

const deletionTimestamp = '2026-01-01T00:00:00Z';

const ways: Readonly<Record<string, (told: Told) => Promise<void>>> = {
  'both, twice, and another type then': async (told) => {
    await takeOffTwice(told);
    await told.rig.clock.advance(2_000);
    told.rig.api.apply('web', noService);
  },
  'both, again and again, and another type then': async (told) => {
    const { api, clock } = told.rig;
    let times = 0;
    api.after = () => void (++times < 5 && api.apply('web', api.get('web')?.spec ?? webSpec, bare(told)));
    api.apply('web', webSpec, bare(told));
    await clock.advance(2_500);
    api.apply('web', noService);
  },
  'both, and another type, in one write': async (told) => {
    told.rig.api.apply('web', noService, bare(told));
    await Promise.resolve();
  },
  'both, twice, and it is deleted then, and waits for another finalizer': async (told) => {
    await takeOffTwice(told);
    told.rig.api.apply('web', webSpec, { ...bare(told), finalizers: [THEIRS], deletionTimestamp });
  },
  'both, and another type then, and it is deleted, and waits for another finalizer': async (told) => {
    told.rig.api.apply('web', noService, { ...bare(told), finalizers: [THEIRS], deletionTimestamp });
    await Promise.resolve();
  },
  'the finalizer, and an empty owner, and another type, in one write': async (told) => {
    const { annotations } = bare(told);
    const empty = { ...annotations, [loadBalancerOwnerAnnotation]: '' };
    told.rig.api.apply('web', noService, { annotations: empty, finalizers: [] });
    await Promise.resolve();
  },
  'both, and another type then, and it is gone': async (told) => {
    told.rig.api.apply('web', noService, bare(told));
    told.rig.api.delete('web');
    await Promise.resolve();
  },
  'the owner, and it is deleted by force': async (told) => {
    const { api } = told.rig;
    api.apply('web', webSpec, { ...bare(told), finalizers: [cleanupFinalizer], deletionTimestamp });
    api.services.remove('default/web');
    await Promise.resolve();
  },
};

for (const [what, way] of Object.entries(ways)) {
  test(`nothing is left in the cloud: ${what}`, async () => {
    const told = await servedAtFloating();
    await way(told);
    await told.rig.clock.advance(20 * MINUTE_MS);
    assert.deepEqual(told.parts, []);
    const { annotations = {}, finalizers = [] } = told.rig.api.get('web')?.metadata ?? {};
    assert.ok(!finalizers.includes(cleanupFinalizer));
    assert.equal(annotations[loadBalancerOwnerAnnotation], undefined);
    const before = told.rig.api.patches.length;
    await told.rig.clock.advance(60 * MINUTE_MS);
    assert.equal(told.rig.api.patches.length, before);
    await told.rig.stop();
  });
}

test('… and while its record is taken off each time, other writes to it cost no look', async () => {
  const told = await servedAtFloating();
  const { api, clock, provider } = told.rig;
  let looks = 0;
  const observe = provider.observe.bind(provider);
  provider.observe = (...asked) => {
    looks += 1;
    return observe(...asked);
  };
  // Nothing of it can be deleted, or it would be over.
  told.remove = () => IDLE;
  api.after = () => void api.apply('web', noService, bare(told));
  api.apply('web', noService, bare(told));
  await clock.advance(10 * MINUTE_MS);
  const before = looks;
  for (let i = 0; i < 120; i++) {
    api.apply('web', noService, { ...bare(told), labels: { edit: `${i}` } });
    await clock.advance(1_000);
  }
  assert.ok(looks - before <= 20, `${looks - before} looks`);
  await told.rig.stop();
});

test('an empty owner is nobody: the Service is recorded again, and an address that it has lost goes', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  const annotations = { ...api.get('web')?.metadata?.annotations, [loadBalancerOwnerAnnotation]: '' };
  api.apply('web', webSpec, { annotations });
  await clock.advance(MINUTE_MS);
  assert.equal(api.get('web')?.metadata?.annotations?.[loadBalancerOwnerAnnotation], 'memory');
  told.serve = () => ({ ...IDLE, complete: true, ingress: [{ ip: VIP }] });
  told.parts = [{ ...partOf('load-balancer a'), addresses: [VIP] }];
  api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] }, { annotations });
  await clock.advance(20 * MINUTE_MS);
  assert.deepEqual(ips(told), [VIP]);
  await told.rig.stop();
});

test('nothing is written onto what is being deleted', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  const before = api.patches.length;
  api.apply('web', webSpec, { ...bare(told), finalizers: [THEIRS], deletionTimestamp });
  await clock.advance(20 * MINUTE_MS);
  assert.deepEqual(told.parts, []);
  assert.deepEqual(api.get('web')?.metadata?.finalizers, [THEIRS]);
  for (const { patch } of api.patches.slice(before)) {
    const { metadata } = ('body' in patch ? patch.body : {}) as { metadata?: Metadata };
    assert.equal(metadata?.finalizers, undefined, 'the API server takes no new one');
  }
  await told.rig.stop();
});

test('what is of another owner, or of a class of another, is left alone', async () => {
  const others: Readonly<Record<string, (told: Told) => void>> = {
    'another provider': (told) => void told.rig.api.apply('web', noService, bare(told, 'south')),
    'another provider, deleted': (told) => {
      told.rig.api.apply('web', noService, { ...bare(told, 'south'), deletionTimestamp, finalizers: [THEIRS] });
    },
    'another provider, deleted by force': (told) => {
      told.rig.api.services.holdWatch = true;
      told.rig.api.apply('web', webSpec, { ...bare(told, 'south'), deletionTimestamp });
      told.rig.api.services.holdWatch = false;
      told.rig.api.services.publish();
      told.rig.api.services.remove('default/web');
    },
    'another class': (told) => {
      told.rig.api.apply('web', { ...webSpec, loadBalancerClass: 'example.com/x' }, bare(told));
    },
  };
  for (const [what, hand] of Object.entries(others)) {
    const told = await servedAtFloating();
    hand(told);
    await told.rig.clock.advance(20 * MINUTE_MS);
    assert.equal(told.parts.length, 1, what);
    assert.deepEqual(told.rig.provider.applied, [], what);
    await told.rig.stop();
  }
});

test('an object that is older than its record has nothing taken off: the API server was set back, or the watch is behind', async () => {
  for (const type of ['ClusterIP', 'NodePort'] as const) {
    const told = await servedAtFloating();
    const { api, clock, provider } = told.rig;
    const [service, patches] = [api.get('web'), api.patches.length];
    const metadata = { ...service?.metadata, ...bare(told), resourceVersion: '50' };
    api.services.objects.set('default/web', { ...service, spec: { ...webSpec, type }, metadata, status: {} });
    api.services.publish();
    await clock.advance(20 * MINUTE_MS);
    assert.equal(told.parts.length, 1, type);
    assert.deepEqual([provider.applied, api.patches.length - patches], [[], 0], type);
    await told.rig.stop();
  }
});

test('one that is set back to before its finalizer and address gets both again within a minute, and nothing is made or deleted', async () => {
  const rig = await createRig();
  const { api, clock, provider } = rig;
  api.nodes.put(nodeOf('n1'));
  const first = api.apply('web', webSpec);
  await rig.start();
  await clock.advance(10_000);
  const [parts, served, applied] = [rig.partsOf('uid-1'), api.get('web'), provider.applied.length];
  assert.ok(parts.length > 0 && (served?.status?.loadBalancer?.ingress ?? []).length > 0);
  // The API server has what it had when the Service was made: the same UID, in an older version.
  api.services.objects.set('default/web', first);
  api.services.publish();
  assert.deepEqual([api.get('web')?.metadata?.finalizers, api.get('web')?.status], [undefined, undefined]);
  await clock.advance(MINUTE_MS);
  const { metadata, status } = api.get('web') ?? {};
  assert.deepEqual(metadata?.finalizers, [cleanupFinalizer]);
  assert.equal(metadata?.annotations?.[loadBalancerOwnerAnnotation], 'memory');
  assert.deepEqual(status?.loadBalancer, served?.status?.loadBalancer);
  assert.deepEqual([rig.partsOf('uid-1'), provider.applied.length], [parts, applied]);
  await rig.stop();
});

test('… and onto one whose parts are gone too nothing is written that it would keep', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  told.parts = [];
  api.apply('web', noService, bare(told));
  await clock.advance(30 * MINUTE_MS);
  assert.equal(api.get('web')?.metadata?.annotations?.[missingSinceAnnotation], undefined);
  assert.deepEqual(api.get('web')?.metadata?.finalizers, []);
  await told.rig.stop();
});

test('one whose parts a person has given up is let go as it is', async () => {
  const told = await servedAtFloating();
  const { api, clock, provider } = told.rig;
  provider.observe = (services) =>
    Promise.resolve(
      services.map(() => ({ kind: 'parts', asOf: clock.monotonic(), parts: [partOf('load-balancer a')] })),
    );
  told.remove = () => {
    throw new Error('no');
  };
  const { annotations } = api.get('web')?.metadata ?? {};
  api.apply('web', noService, { annotations: { ...annotations, 'outrigger.dev/release-load-balancer': 'true' } });
  await clock.advance(20 * MINUTE_MS);
  assert.deepEqual(api.get('web')?.metadata?.finalizers, []);
  const before = api.patches.length;
  await clock.advance(60 * MINUTE_MS);
  assert.equal(api.patches.length, before);
  await told.rig.stop();
});
