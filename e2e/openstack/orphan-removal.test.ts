/** Orphans of the OpenStack provider, as the orphan controller takes them away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceWorld } from './shared-services.suite.ts';

const MINUTE_MS = 60_000;

for (const hidden of ['loadbalancers', 'floatingips', 'security-groups']) {
  test(`an orphan is gone in the end, whole, when a look at it shows no ${hidden}`, async () => {
    await using world = await ServiceWorld.open(0, { manageSecurityGroups: true });
    world.apply('web', 80);
    await world.advance(MINUTE_MS);
    assert.equal(world.addressesOf('web').length, 1);
    await world.stop();
    world.api.services.remove('default/web');
    // The first list is that of all that is owned.
    world.faults.set({ effect: 'empty', operation: `GET /${hidden}`, nth: 2 });
    await world.removeOrphans();
    assert.deepEqual(await world.left(), []);
  });
}
