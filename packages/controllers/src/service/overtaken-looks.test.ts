/** A look that takes longer than others of the same load balancer leave it alone comes to something all the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';

const LOOK_MS = 2_000;

/** Others act under the same lock, every second: as soon as they have it. */
async function busyLock(): Promise<{
  readonly rig: Rig;
  readonly looks: () => number;
  readonly stop: () => Promise<void>;
}> {
  const rig = await createRig();
  rig.provider.lockKey = () => 'shared';
  const ended = new AbortController();
  let looks = 0;
  rig.provider.observing = () => {
    looks += 1;
    return rig.clock.sleep(LOOK_MS);
  };
  const act = (): void => {
    if (!rig.locks.tryAcquire('shared', 'others', act)) return;
    rig.locks.noteApplied('shared', rig.clock.monotonic());
    rig.locks.release('shared');
  };
  const actOnAndOn = async (): Promise<void> => {
    for (;;) {
      await rig.clock.sleep(LOOK_MS / 2, ended.signal);
      act();
    }
  };
  actOnAndOn().catch(() => {});
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  return {
    rig,
    looks: () => looks,
    stop: () => {
      ended.abort();
      return rig.stop();
    },
  };
}

test('whose looks are overtaken by what others do is looked at while nothing else is done, after two of them', async () => {
  const { looks, rig, stop } = await busyLock();
  await rig.clock.advance(3 * LOOK_MS + 100);
  assert.deepEqual([looks() <= 4, rig.provider.applied[0]], [true, 'create address web']);
  await rig.clock.advance(100_000);
  assert.ok(rig.api.get('web')?.status?.loadBalancer?.ingress?.length, 'it is served');
  await stop();
});

test('a look whose answer is from a cache is not put again and again while nothing else may be done', async () => {
  const { rig, stop } = await busyLock();
  const observe = rig.provider.observe.bind(rig.provider);
  rig.provider.observe = async (...given) => {
    const answers = await observe(...given);
    return answers.map((one) => (one.kind === 'parts' ? { ...one, asOf: 0 } : one));
  };
  rig.provider.observing = () => {};
  await rig.clock.advance(10_000);
  assert.ok(rig.provider.observes < 100, `${rig.provider.observes} looks`);
  assert.deepEqual(rig.provider.applied, []);
  await stop();
});
