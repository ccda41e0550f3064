/** A Service whose load balancer takes one change after the other does not have a worker while others wait for one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig, nodeOf, webSpec } from './rig.suite.ts';
import { actionOn } from './told-cloud.suite.ts';

/** The cloud is busy for so long with each change. */
const BUSY_MS = 1_000;
const STEPS = 30;

test('the only worker serves others between the steps of a long plan, which is carried out to its end', async () => {
  const rig = await createRig();
  const done = new Map<string, number>();
  const busyUntil = new Map<string, number>();
  const servedAt = new Map<string, number>();
  const stepsOf = (name: string): number => (name === 'long' ? STEPS : 1);
  rig.provider.observe = (services) =>
    Promise.resolve(services.map(() => ({ kind: 'parts', asOf: rig.clock.monotonic(), parts: [] })));
  rig.provider.plan = ({ service: { name } }) => {
    const left = stepsOf(name) - (done.get(name) ?? 0);
    if (left === 0) servedAt.set(name, servedAt.get(name) ?? rig.clock.monotonic());
    const actions = Array.from({ length: left }, (_, i) => actionOn('create', `step-${stepsOf(name) - left + i}`));
    return { actions, complete: left === 0, ingress: left === 0 ? [{ ip: '192.0.2.1' }] : [] };
  };
  // As Octavia: a second change is waited for by who asks for it.
  rig.provider.apply = async (_action, { service: { name } }) => {
    await rig.clock.sleep(Math.max(0, (busyUntil.get(name) ?? 0) - rig.clock.monotonic()));
    busyUntil.set(name, rig.clock.monotonic() + BUSY_MS);
    done.set(name, (done.get(name) ?? 0) + 1);
    return { kind: 'pending', handle: name, pollAfterMs: BUSY_MS };
  };
  rig.api.nodes.put(nodeOf('n1'));
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
