/** A Service whose load balancer takes one change after the other has no worker while the cloud is at work, and needs no look to go on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { actionOn } from './told-cloud.suite.ts';
import { cleanupFinalizer, partsAnnotation } from './well-known-names.ts';

/** The cloud is busy for so long with each change. */
const BUSY_MS = 1_000;
const STEPS = 30;
/** By default. */
const WORKERS = 32;

interface BusyCloud {
  readonly rig: Rig;
  /** Services that each look was about. */
  readonly looks: readonly (readonly string[])[];
  /** Changes of each, by name. */
  readonly done: ReadonlyMap<string, number>;
  /** When each was seen to be complete; monotonic. */
  readonly servedAt: ReadonlyMap<string, number>;
}

/** As Octavia: a second change of a load balancer is waited for by who asks for it. A Service whose name begins with `long` takes many. */
async function busyCloud(): Promise<BusyCloud> {
  const rig = await createRig();
  const done = new Map<string, number>();
  const busyUntil = new Map<string, number>();
  const servedAt = new Map<string, number>();
  const looks: (readonly string[])[] = [];
  rig.provider.observe = (services) => {
    looks.push(services.map(({ name }) => name));
    return Promise.resolve(services.map(() => ({ kind: 'parts', asOf: rig.clock.monotonic(), parts: [] })));
  };
  rig.provider.plan = ({ service: { name } }) => {
    const steps = name.startsWith('long') ? STEPS : 1;
    const left = steps - (done.get(name) ?? 0);
    if (left === 0) servedAt.set(name, servedAt.get(name) ?? rig.clock.monotonic());
    const actions = Array.from({ length: left }, (_, i) => actionOn('create', `step-${steps - left + i}`));
    return { actions, complete: left === 0, ingress: left === 0 ? [{ ip: '192.0.2.1' }] : [] };
  };
  rig.provider.apply = async (_action, { service: { name } }) => {
    await rig.clock.sleep(Math.max(0, (busyUntil.get(name) ?? 0) - rig.clock.monotonic()));
    busyUntil.set(name, rig.clock.monotonic() + BUSY_MS);
    done.set(name, (done.get(name) ?? 0) + 1);
    return { kind: 'pending', handle: name, pollAfterMs: BUSY_MS };
  };
  rig.api.nodes.put(nodeOf('n1'));
  return { rig, looks, done, servedAt };
}

test('the only worker serves others between the steps of a long plan, which is carried out to its end', async () => {
  const { done, rig, servedAt } = await busyCloud();
  rig.api.apply('long', webSpec);
  await rig.start({ concurrentServiceSyncs: 1 });
  await rig.clock.advance(500);
  const began = rig.clock.monotonic();
  for (let i = 0; i < 5; i++) rig.api.apply(`web${i}`, webSpec);
  await rig.clock.advance(120_000);
  for (let i = 0; i < 5; i++) {
    const ms = (servedAt.get(`web${i}`) ?? Infinity) - began;
    assert.ok(ms < 5 * BUSY_MS, `web${i} is served after ${ms} ms`);
  }
  assert.equal(done.get('long'), STEPS);
  assert.ok(servedAt.has('long'));
  await rig.stop();
});

test('beside as many long plans as there are workers, one that comes is begun at once', async () => {
  const { done, rig, servedAt } = await busyCloud();
  for (let i = 0; i < WORKERS; i++) rig.api.apply(`long${i}`, webSpec);
  await rig.start();
  for (let i = 0; i < WORKERS; i++) {
    await rig.clock.advance(1_110);
    rig.api.apply(`web${i}`, webSpec);
    await rig.clock.advance(10);
    assert.equal(done.get(`web${i}`), 1, `web${i}`);
  }
  await rig.clock.advance(120_000);
  assert.equal(servedAt.size, 2 * WORKERS);
  await rig.stop();
});

test('while 30 load balancers are written for which the cloud is slow to answer, one that comes waits for none of them', async () => {
  const { done, rig } = await busyCloud();
  const apply = rig.provider.apply.bind(rig.provider);
  rig.provider.apply = async (action, desired, call) => {
    if (desired.service.name.startsWith('slow')) await rig.clock.sleep(10_000);
    return apply(action, desired, call);
  };
  for (let i = 0; i < 30; i++) rig.api.apply(`slow${i}`, webSpec);
  await rig.start();
  await rig.clock.advance(10);
  rig.api.apply('web', webSpec);
  await rig.clock.advance(10);
  const begun = done.get('web');
  await rig.clock.advance(60_000);
  assert.equal(begun, 1);
  await rig.stop();
});

test('a long plan is carried out after one look, also by the only worker and while others wait for it', async () => {
  const { looks, rig, servedAt } = await busyCloud();
  rig.api.apply('long', webSpec);
  await rig.start({ concurrentServiceSyncs: 1 });
  for (let i = 0; i < STEPS; i++) {
    rig.api.apply(`web${i}`, webSpec);
    await rig.clock.advance(BUSY_MS);
  }
  await rig.clock.advance(10 * BUSY_MS);
  assert.ok(servedAt.has('long'));
  const ofLong = looks.filter((names) => names.includes('long')).length;
  assert.ok(ofLong <= 2, `${ofLong} looks: one before, one after`);
  await rig.stop();
});

test('while it waits for the cloud, its change and its deletion end the plan that it had after the action that is under way', async () => {
  for (const after of ['changed', 'deleted'] as const) {
    const { done, rig } = await busyCloud();
    const goals: string[] = [];
    const { plan } = rig.provider;
    rig.provider.plan = (desired, parts) => {
      const { ports } = desired.service;
      goals.push(desired.wanted ? `port ${ports[0]?.port}` : 'nothing');
      return desired.wanted ? plan(desired, parts) : { actions: [], complete: true, ingress: [] };
    };
    rig.api.apply('long', webSpec);
    await rig.start();
    await rig.clock.advance(3 * BUSY_MS + 500);
    const before = done.get('long') ?? 0;
    assert.ok(before >= 3 && before < 6, `${before}`);
    if (after === 'changed')
      rig.api.apply('long', { ...webSpec, ports: [{ port: 81, protocol: 'TCP', nodePort: 30_081 }] });
    else rig.api.delete('long');
    await rig.clock.advance(BUSY_MS + 10);
    assert.equal(done.get('long'), before + 1, after);
    await rig.clock.advance(5 * BUSY_MS);
    assert.deepEqual(goals.slice(0, 2), ['port 80', after === 'changed' ? 'port 81' : 'nothing']);
    await rig.stop();
  }
});

test('who waits for the same load balancer gets it after the action that is under way; who shares none is not held up', async () => {
  const { done, rig, servedAt } = await busyCloud();
  rig.provider.lockKey = ({ name }) => (name.startsWith('web-apart') ? name : 'shared');
  rig.api.apply('long', webSpec);
  await rig.start({ concurrentServiceSyncs: 1 });
  await rig.clock.advance(3 * BUSY_MS);
  rig.api.apply('web-shared', webSpec);
  rig.api.apply('web-apart', webSpec);
  await rig.clock.advance(10);
  assert.deepEqual([done.get('web-shared'), done.get('web-apart')], [undefined, 1]);
  await rig.clock.advance(2 * BUSY_MS);
  assert.equal(done.get('web-shared'), 1);
  assert.ok((done.get('long') ?? 0) < 10);
  await rig.clock.advance(2 * STEPS * BUSY_MS);
  assert.ok(servedAt.has('long'));
  await rig.stop();
});

test('a stop, as the loss of leadership, ends all that wait for the cloud: no action begins after it', async () => {
  const { done, rig } = await busyCloud();
  for (let i = 0; i < 20; i++) rig.api.apply(`long${i}`, webSpec);
  await rig.start({ concurrentServiceSyncs: 2 });
  await rig.clock.advance(5 * BUSY_MS + 500);
  const all = (): number => done.values().reduce((sum, one) => sum + one, 0);
  const before = all();
  assert.ok(before >= 20, `${before}`);
  const stopped = rig.stop();
  const begun = all();
  await stopped;
  // This cloud does what it was asked for, whatever the signal says.
  assert.ok(all() - begun <= 8, `${all() - begun} after it`);
});

test('where as many wait for the cloud as may, the rest of a plan is left to later passes, and all are carried out', async () => {
  const { rig, servedAt } = await busyCloud();
  for (let i = 0; i < 20; i++) rig.api.apply(`long${i}`, webSpec);
  await rig.start({ concurrentServiceSyncs: 1 });
  await rig.clock.advance(600_000);
  assert.equal(servedAt.size, 20);
  await rig.stop();
});

test('a plan that is begun is not held up by many that are new in its namespace', async () => {
  const { done, rig } = await busyCloud();
  const apply = rig.provider.apply.bind(rig.provider);
  // A request takes its time too: all that is new takes the only worker for a minute and more.
  rig.provider.apply = async (...given) => {
    await rig.clock.sleep(500);
    return apply(...given);
  };
  rig.api.apply('long', webSpec);
  await rig.start({ concurrentServiceSyncs: 1 });
  await rig.clock.advance(3 * BUSY_MS);
  const began = rig.clock.monotonic();
  for (let i = 0; i < 150; i++) rig.api.apply(`web${i}`, webSpec);
  while (done.get('long') !== STEPS) await rig.clock.advance(BUSY_MS);
  const ms = rig.clock.monotonic() - began;
  assert.ok(ms < 1.2 * STEPS * BUSY_MS, `${ms} ms for ${STEPS} steps`);
  await rig.stop();
});

test('whose records name many parts has no worker while the cloud is asked about each, and others wait for none of it', async () => {
  const { done, rig } = await busyCloud();
  const { plan, read } = rig.provider;
  const nothing = { actions: [], complete: true, ingress: [] };
  rig.provider.plan = (desired, parts) => (desired.wanted ? plan(desired, parts) : nothing);
  const asked: number[] = [];
  rig.provider.read = async (parts, call) => {
    asked.push(parts.length);
    await rig.clock.sleep(100 * parts.length);
    return (await read?.(parts, call)) ?? [];
  };
  const record = Array.from({ length: 200 }, (_, i) => `address/${i}`).join(' ');
  const annotations = { [loadBalancerOwnerAnnotation]: 'memory', [partsAnnotation]: record };
  const names = Array.from({ length: 100 }, (_, i) => `greedy${i}`);
  for (const name of names) {
    rig.api.namespaces.set(name, 'greedy');
    rig.api.apply(name, { ...webSpec, type: 'ClusterIP' }, { finalizers: [cleanupFinalizer], annotations });
  }
  await rig.start();
  await rig.clock.advance(50);
  for (let i = 0; i < 20; i++) {
    rig.api.apply(`web${i}`, webSpec);
    await rig.clock.advance(10);
    assert.equal(done.get(`web${i}`), 1, `web${i}`);
    await rig.clock.advance(400);
  }
  assert.ok(Math.max(...asked) <= 20, `${Math.max(...asked)} at once`);
  await rig.clock.advance(300_000);
  const left = names.filter((name) => rig.api.get(name)?.metadata?.finalizers?.length);
  assert.deepEqual(left, [], 'all are cleaned up in the end');
  await rig.stop();
});
