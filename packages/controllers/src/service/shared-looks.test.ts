import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig, nodeOf, webSpec } from './rig.suite.ts';

const SERVICES = 8;
const LOOK_MS = 50;

test('Services that wait long for the cloud are looked at together, whenever each of them began to wait', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.cloud.configure({ loadBalancerDelayMs: 600_000 });
  const { inner } = rig.provider;
  const apply = inner.apply.bind(inner);
  inner.apply = async (...asked) => {
    const result = await apply(...asked);
    return result.kind === 'pending' ? { ...result, pollAfterMs: 20_000 } : result;
  };
  await rig.start();
  for (let i = 0; i < SERVICES; i++) {
    rig.api.apply(`web-${i}`, webSpec);
    await rig.clock.advance(370);
  }
  // Each has its load balancer begun, and is looked at after 20 s, and then each 30 s.
  await rig.clock.advance(10_000);
  const before = rig.provider.observes;
  await rig.clock.advance(120_000);
  const looks = rig.provider.observes - before;
  assert.ok(looks >= 4 && looks <= 2 * 5, `${looks} looks`);
  await rig.stop();
});

test('Services that come together are looked at together, however long the API server takes to record each', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  await rig.start();
  let writes = 0;
  rig.api.writing = () => rig.clock.sleep(100 * ++writes);
  const { inner } = rig.provider;
  const observe = inner.observe.bind(inner);
  const asked: number[] = [];
  inner.observe = async (services, call) => {
    asked.push(services.length);
    await rig.clock.sleep(LOOK_MS);
    return observe(services, call);
  };
  for (let i = 0; i < SERVICES; i++) rig.api.apply(`web-${i}`, webSpec);
  await rig.clock.advance(60);
  assert.deepEqual(asked, [SERVICES]);
  // Nothing is made before it is recorded.
  assert.equal(rig.cloud.parts().length, 0);
  // Who has asked about many rests as long as the last question took.
  await rig.clock.advance(100 * SERVICES + LOOK_MS);
  assert.equal(new Set(rig.cloud.parts().map(({ tags }) => JSON.stringify(tags))).size, SERVICES);
  await rig.stop();
});
