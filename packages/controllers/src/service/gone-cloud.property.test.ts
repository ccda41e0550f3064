/** A cloud that is gone for good: whatever a Service has there, its deletion is told to be stuck, and can be let through. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createRig, nodeOf, webSpec } from './rig.suite.ts';
import { releaseAnnotation } from './well-known-names.ts';

const HALF_AN_HOUR = 1_800_000;

const history = fc.record({
  /** Of the creation; the cloud fails from then on. Some of the four parts are there by then. */
  actionsThatWork: fc.integer({ min: 1, max: 4 }),
  status: fc.constantFrom(401, 403, 429, 500, 503),
  waitMs: fc.constantFrom(0, 1_000, 60_000, 700_000),
  releasedBeforeDeletion: fc.boolean(),
  restart: fc.boolean(),
});

test('property: no cloud that fails keeps a Service for ever: an Event names the failure, the annotation lets it go', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ actionsThatWork, releasedBeforeDeletion, restart, status, waitMs }) => {
      const rig = await createRig();
      const { api, clock, cloud, provider } = rig;
      const release = (): unknown =>
        api.apply('web', webSpec, {
          annotations: { ...api.get('web')?.metadata?.annotations, [releaseAnnotation]: 'true' },
        });
      api.nodes.put(nodeOf('n0'));
      let left = actionsThatWork;
      provider.after = () => {
        if (--left === 0) cloud.setFaults([{ effect: 'status', status }]);
      };
      await rig.start();
      api.apply('web', webSpec);
      await clock.advance(waitMs + 10_000);
      assert.equal(left <= 0, true, 'the cloud is gone');
      const parts = cloud.parts().length;
      assert.ok(parts > 0, 'and something is left in it');

      if (releasedBeforeDeletion) release();
      api.delete('web');
      if (!releasedBeforeDeletion) {
        await clock.advance(HALF_AN_HOUR);
        assert.ok(api.get('web'), 'unknown is not absent: the finalizer stays');
        assert.ok(rig.reasons('web').includes('DeleteLoadBalancerFailed'), 'and a person is told');
        release();
      }
      if (restart) {
        await rig.stop();
        await rig.start();
      }
      await clock.advance(HALF_AN_HOUR);
      assert.equal(api.get('web'), undefined, 'it goes when a person says so');
      assert.equal(rig.reasons('web').at(-1), 'ReleasedLoadBalancer');
      assert.equal(cloud.parts().length, parts, 'what is in the cloud is as it was');
      await rig.stop();
    }),
    { numRuns: 100 },
  );
});
