/** Services that share a load balancer come and go in every order, and while the program dies: in the end nothing of them is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { keyOfObject } from '@outrigger/kube';
import { webSpec } from '../../packages/controllers/src/service/rig.suite.ts';
import {
  loadBalancerSharings,
  type LoadBalancerSharing,
} from '../../packages/controllers/src/load-balancer/tenancy.ts';
import { ServiceWorld } from './shared-services.suite.ts';

/** Time enough for others to look in between. */
const UPDATE_MS = 2_000;
const MINUTE_MS = 60_000;
/** For 90 s what a look does not show is not taken for gone. */
const GONE_MS = 500_000;

/** How the owner goes, and what happens before all of it is gone. */
const departures: Readonly<Record<string, (world: ServiceWorld) => Promise<void>>> = {
  'the owner goes': async ({ api }) => api.delete('owner'),
  'the owner goes, and soon a node comes': async (world) => {
    world.api.delete('owner');
    await world.advance(1_500);
    world.addNode();
  },
  'the owner goes, and soon a new process begins': async (world) => {
    world.api.delete('owner');
    await world.advance(1_500);
    await world.stop();
    await world.start();
  },
  'the owner goes, and soon the heir': async (world) => {
    world.api.delete('owner');
    await world.advance(1_500);
    world.api.delete('heir');
  },
  'both go at the same time': async ({ api }) => {
    api.delete('owner');
    api.delete('heir');
  },
};

for (const [what, depart] of Object.entries(departures)) {
  test(`two Services share a load balancer, and ${what}: the floating IP serves until both are gone, and goes then`, async () => {
    await using world = await ServiceWorld.open(UPDATE_MS);
    world.apply('owner', 80);
    await world.advance(MINUTE_MS);
    world.apply('heir', 81, world.loadBalancerOf('owner'));
    await world.advance(MINUTE_MS);
    const addresses = world.addressesOf('owner');
    assert.equal(addresses.length, 1);
    assert.deepEqual(world.addressesOf('heir'), addresses);
    await depart(world);
    await world.advance(GONE_MS);
    assert.equal(world.api.get('owner'), undefined);
    if (world.api.get('heir')) assert.deepEqual(world.addressesOf('heir'), addresses);
    world.api.delete('heir');
    await world.advance(GONE_MS);
    assert.equal(world.api.get('heir'), undefined);
    assert.deepEqual(await world.left(), []);
  });
}

test('who has left a load balancer for one of its own goes on, although no answer said that it has left', async () => {
  await using world = await ServiceWorld.open(UPDATE_MS, { maxSharedLb: 3 });
  world.apply('owner', 80);
  await world.advance(MINUTE_MS);
  world.apply('sharer', 81, world.loadBalancerOf('owner'));
  world.apply('other', 82, world.loadBalancerOf('owner'));
  await world.advance(MINUTE_MS);
  const addresses = world.addressesOf('owner');
  assert.deepEqual([world.addressesOf('sharer'), world.addressesOf('other')], [addresses, addresses]);
  world.faults.set({ effect: 'lost', service: 'load-balancer', operation: 'PUT /loadbalancers' });
  world.apply('sharer', 81);
  await world.advance(MINUTE_MS);
  world.faults.set();
  await world.advance(MINUTE_MS);
  assert.equal(world.addressesOf('sharer').length, 1);
  assert.notDeepEqual(world.addressesOf('sharer'), addresses);
  assert.equal((await world.sharersOf(world.loadBalancerOf('owner'))).length, 1);
  world.api.delete('sharer');
  await world.advance(MINUTE_MS);
  assert.equal(world.api.get('sharer'), undefined);
  assert.deepEqual([world.addressesOf('owner'), world.addressesOf('other')], [addresses, addresses]);
});

const NAMES = ['a', 'b', 'c'];

interface Step {
  readonly what: 'make' | 'share' | 'own' | 'cluster-ip' | 'delete' | 'delete all' | 'force' | 'node' | 'restart';
  readonly name: string;
  readonly waitMs: number;
  /** Of a process that begins. */
  readonly sharing: LoadBalancerSharing;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom<Step['what'][]>(
    ...(['make', 'share', 'own', 'cluster-ip', 'delete', 'delete', 'delete all', 'force', 'node', 'restart'] as const),
  ),
  name: fc.constantFrom(...NAMES),
  waitMs: fc.constantFrom(0, 500, 1_500, 3_000, 6_000, MINUTE_MS),
  sharing: fc.constantFrom(...loadBalancerSharings),
});

async function take(world: ServiceWorld, { name, sharing, waitMs, what }: Step): Promise<void> {
  const { api } = world;
  const port = 80 + NAMES.indexOf(name);
  const there = api.get(name);
  const isGoing = there?.metadata?.deletionTimestamp !== undefined;
  const [shared] = NAMES.filter((one) => one !== name).flatMap((one) => world.loadBalancerOf(one) ?? []);
  switch (what) {
    case 'make':
      if (!there) world.apply(name, port);
      break;
    case 'share':
      if (!isGoing && shared !== undefined) world.apply(name, port, shared);
      break;
    case 'own':
      if (there && !isGoing) world.apply(name, port);
      break;
    case 'cluster-ip':
      if (there && !isGoing) api.apply(name, { ...webSpec, type: 'ClusterIP' });
      break;
    case 'delete':
      api.delete(name);
      break;
    case 'delete all':
      for (const one of NAMES) api.delete(one);
      break;
    case 'force':
      // Somebody takes the finalizer away.
      api.delete(name);
      if (there) api.services.remove(keyOfObject(there));
      break;
    case 'node':
      world.addNode();
      break;
    case 'restart':
      await world.stop();
      await world.start(sharing);
  }
  await world.advance(waitMs);
}

test('property: once all Services are gone, nothing of any is left in the cloud', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 12 }),
      fc.constantFrom(0, UPDATE_MS),
      fc.record({ manageSecurityGroups: fc.boolean(), maxSharedLb: fc.constantFrom(2, 3) }),
      // Of other namespaces, and how they may share at first.
      fc.record({ strangers: fc.subarray(NAMES), sharing: fc.constantFrom(...loadBalancerSharings) }),
      async (steps, updateMs, config, { sharing, strangers }) => {
        await using world = await ServiceWorld.open(updateMs, config);
        for (const name of strangers) world.api.namespaces.set(name, 'team-b');
        await world.stop();
        await world.start(sharing);
        for (const one of steps) await take(world, one);
        for (const one of NAMES) world.api.delete(one);
        await world.advance(GONE_MS);
        assert.deepEqual(
          NAMES.filter((one) => world.api.get(one)),
          [],
          'a Service cannot go',
        );
        // A process that ends knows of those that went by force, and the next one does not.
        const forced = steps.findIndex(({ what }) => what === 'force');
        const isForgotten = forced >= 0 && steps.slice(forced).some(({ what }) => what === 'restart');
        if (isForgotten) await world.removeOrphans();
        assert.deepEqual(await world.left(), []);
      },
    ),
    { numRuns: Number(process.env['HISTORIES'] ?? 200) },
  );
});
