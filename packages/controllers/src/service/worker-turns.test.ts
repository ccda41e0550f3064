/** A Service whose load balancer takes one change after the other does not have a worker while others wait for one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { actionOn } from './told-cloud.suite.ts';

/** The cloud is busy for so long with each change. */
const BUSY_MS = 1_000;
const STEPS = 30;

interface BusyCloud {
  readonly rig: Rig;
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
  rig.provider.observe = (services) =>
    Promise.resolve(services.map(() => ({ kind: 'parts', asOf: rig.clock.monotonic(), parts: [] })));
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
  return { rig, done, servedAt };
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
  for (let i = 0; i < 10; i++) rig.api.apply(`long${i}`, webSpec);
  await rig.start();
  for (let i = 0; i < 10; i++) {
    await rig.clock.advance(1_110);
    rig.api.apply(`web${i}`, webSpec);
    await rig.clock.advance(10);
    assert.equal(done.get(`web${i}`), 1, `web${i}`);
  }
  await rig.clock.advance(120_000);
  assert.equal(servedAt.size, 20);
  await rig.stop();
});
