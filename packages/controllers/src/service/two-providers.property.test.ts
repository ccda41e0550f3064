import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { noMetrics, silentLogger } from '@outrigger/kube';
import { createMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { FakeClock } from '@outrigger/testing';
import { FakeApi } from './fake-api.suite.ts';
import { callContext, CLUSTER, openLoadBalancers } from '../load-balancer/memory-provider.suite.ts';
import { nodeOf, webSpec } from './rig.suite.ts';
import { createServiceController } from './service-controller.ts';

const NAMES = ['north', 'south'] as const;
type Wish = (typeof NAMES)[number] | 'default' | 'none' | 'deleted';

interface World extends AsyncDisposable {
  readonly api: FakeApi;
  readonly clock: FakeClock;
  readonly clouds: Readonly<Record<(typeof NAMES)[number], MemoryCloud>>;
}

/** A controller for each of two clouds, over one API; the first is the default. */
async function start(): Promise<World> {
  const clock = new FakeClock();
  const api = new FakeApi();
  const ended = new AbortController();
  const running: Promise<void>[] = [];
  const cloudOf = (): MemoryCloud => createMemoryCloud({ clock, random: () => 0.5 });
  const clouds = { north: cloudOf(), south: cloudOf() };
  for (const name of NAMES) {
    api.nodes.put(nodeOf(`n-${name}`, { spec: { providerID: `${name}://r/n-${name}` } }));
    const controller = createServiceController({
      client: api.client,
      services: api.services.store,
      nodes: api.nodes.store,
      provider: await openLoadBalancers(clouds[name], clock, name),
      callContext: ({ signal, priority }) => callContext(signal, priority),
      events: { record: () => {} },
      clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      options: { providerName: name, clusterId: CLUSTER, isDefault: name === 'north' },
    });
    running.push(controller.run(ended.signal));
  }
  await clock.settle();
  return {
    api,
    clock,
    clouds,
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await clock.advance(31_000);
      await Promise.all(running);
    },
  };
}

function wish({ api }: World, wanted: Wish): void {
  if (wanted === 'deleted') api.delete('web');
  else if (api.get('web')?.metadata?.deletionTimestamp) return;
  else if (wanted === 'none') api.apply('web', { ...webSpec, type: 'ClusterIP' });
  else if (wanted === 'default') api.apply('web', webSpec);
  else api.apply('web', { ...webSpec, loadBalancerClass: `outrigger.dev/${wanted}` });
}

const step = fc.record({
  wanted: fc.constantFrom<Wish>('north', 'south', 'default', 'none', 'deleted'),
  /** The store hears of what is wished only after this time. */
  lateMs: fc.constantFrom(0, 0, 100, 3_000),
  afterMs: fc.constantFrom(0, 10, 1_000, 20_000, 200_000),
  /** Where all fails from now on, and how. */
  failing: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
  effect: fc.constantFrom('status', 'lost', 'hang'),
});

test('property: a Service that moves between two clouds is never in both, and nothing of it is left behind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      await using world = await start();
      const { api, clock, clouds } = world;
      const partsIn = (name: (typeof NAMES)[number]): number => clouds[name].parts().length;
      const isInOne = (): void => assert.ok(partsIn('north') === 0 || partsIn('south') === 0, 'parts in both clouds');
      api.onGone = () => assert.equal(partsIn('north') + partsIn('south'), 0, 'gone while parts are left');
      for (const { afterMs, effect, failing, lateMs, wanted } of steps) {
        for (const name of NAMES) clouds[name].setFaults(name === failing ? [{ effect }] : []);
        api.services.holdWatch = lateMs > 0;
        wish(world, wanted);
        if (lateMs > 0) await clock.advance(lateMs);
        api.services.holdWatch = false;
        api.services.publish();
        await clock.settle();
        isInOne();
        if (afterMs > 0) await clock.advance(afterMs);
        isInOne();
      }
      for (const name of NAMES) clouds[name].setFaults([]);
      for (const wanted of ['south', 'deleted'] as const) {
        wish(world, wanted);
        await clock.advance(1_200_000);
        const live = wanted === 'south' && api.get('web') !== undefined;
        assert.equal(partsIn('north'), 0);
        assert.equal(partsIn('south') > 0, live);
      }
      assert.equal(api.get('web'), undefined);
    }),
    { numRuns: 60 },
  );
});

test('a Service whose class changes while its owner is being recorded is recorded by the new owner alone', async () => {
  await using world = await start();
  const { api, clock, clouds } = world;
  let changed = false;
  api.before = () => {
    if (changed) return;
    changed = true;
    wish(world, 'south');
  };
  const owners = new Set<string | undefined>();
  api.after = () => void owners.add(api.get('web')?.metadata?.annotations?.[loadBalancerOwnerAnnotation]);
  wish(world, 'north');
  await clock.advance(60_000);
  assert.deepEqual([...owners], ['south']);
  assert.equal(clouds.north.parts().length, 0);
  assert.ok(clouds.south.parts().length > 0);
});
