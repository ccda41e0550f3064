/** What cannot be written, as while the watch is behind, is tried with back-off, and the cloud is not asked each time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@outrigger/kube';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';

const ways: Readonly<Record<string, (rig: Rig) => void>> = {
  'it was changed': ({ api }) => void api.apply('web', webSpec, { labels: { app: 'web' } }),
  'it is gone': ({ api }) => api.services.remove('default/web'),
};

for (const [what, change] of Object.entries(ways)) {
  test(`a record that the API server refuses is not written again and again: ${what}`, async () => {
    const rig = await createRig();
    const { api, clock, provider } = rig;
    api.nodes.put(nodeOf('n1'));
    // An answer takes a moment, as those of servers do.
    api.writing = () => clock.sleep(10);
    provider.observing = () => clock.sleep(200);
    api.apply('web', webSpec);
    api.services.holdWatch = true;
    change(rig);
    await rig.start();
    for (let i = 0; i < 600; i++) await clock.advance(100);
    assert.ok(api.patches.length >= 2 && api.patches.length <= 12, `${api.patches.length} writes in a minute`);
    assert.ok(provider.observes <= 2, `${provider.observes} looks in a minute`);
    api.services.holdWatch = false;
    api.services.publish();
    await clock.advance(10_000);
    const isServed = (api.get('web')?.status?.loadBalancer?.ingress ?? []).length > 0;
    assert.equal(isServed, api.get('web') !== undefined);
    assert.deepEqual(rig.reasons('web'), isServed ? ['EnsuringLoadBalancer', 'EnsuredLoadBalancer'] : []);
    await rig.stop();
  });
}

test('nor is one that the API server refuses for a reason of its own', async () => {
  const rig = await createRig();
  const { api, clock, provider } = rig;
  api.nodes.put(nodeOf('n1'));
  provider.observing = () => clock.sleep(200);
  let writes = 0;
  api.before = () => {
    writes += 1;
    throw new StatusError('PATCH /api/v1/namespaces/default/services/web', 403, { reason: 'Forbidden' });
  };
  api.apply('web', webSpec);
  await rig.start();
  for (let i = 0; i < 600; i++) await clock.advance(1_000);
  assert.ok(writes >= 3 && writes <= 12, `${writes} writes in ten minutes`);
  assert.ok(provider.observes <= 2, `${provider.observes} looks in ten minutes`);
  await rig.stop();
});
