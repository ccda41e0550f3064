/** Random histories: Services come, go and come back while the cloud and the API server fail. Nothing that lives is touched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { OrphanRig } from './orphan-rig.suite.ts';

const UIDS = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Step {
  readonly what:
    | 'delete'
    | 'restore'
    | 'foreign'
    | 'pass'
    | 'api-fails'
    | 'api-empty'
    | 'cloud-fails'
    | 'cloud-empty'
    | 'race';
  readonly uid: string;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(
    ...(['delete', 'delete', 'restore', 'foreign', 'pass', 'pass', 'pass', 'pass'] as const),
    ...(['api-fails', 'api-empty', 'cloud-fails', 'cloud-empty', 'race'] as const),
  ),
  uid: fc.constantFrom(...UIDS),
});

async function take(rig: OrphanRig, { uid, what }: Step): Promise<void> {
  const { cloud } = rig;
  switch (what) {
    case 'delete':
      return void rig.services.delete(uid);
    case 'restore':
      return rig.service(uid);
    case 'foreign':
      return rig.loadBalancer(uid, 'cluster-2');
    case 'api-fails':
      rig.beforeList = () => {
        throw new Error('500');
      };
      break;
    case 'api-empty': {
      const there = [...rig.services];
      rig.services.clear();
      await rig.passes(1);
      for (const [key, service] of there) rig.services.set(key, service);
      return;
    }
    case 'cloud-fails':
      cloud.setFaults([{ effect: 'status', status: 503 }]);
      break;
    case 'cloud-empty':
      cloud.setFaults([{ operation: 'GET /parts', effect: 'empty', probability: 0.6 }]);
      break;
    case 'race':
      // It comes back in the middle of a pass.
      rig.beforeList = (plural) => {
        if (plural === 'services') rig.service(uid);
      };
      break;
    case 'pass':
      break;
  }
  await rig.passes(1);
  cloud.setFaults([]);
  rig.beforeList = () => {};
}

test('whatever happens, only what is gone in the API is removed, and in the end all of that is', async () => {
  let removals = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await using rig = new OrphanRig();
      for (const uid of UIDS) {
        rig.service(uid);
        rig.loadBalancer(uid);
      }
      await rig.start({ policy: 'delete', gracePeriodMs: 0, maxFraction: 0.5 }, ({ loadBalancers, ...others }) => {
        assert.ok(loadBalancers);
        const watched = Object.create(loadBalancers) as typeof loadBalancers;
        watched.observe = (services, call) => loadBalancers.observe(services, call);
        watched.listOwned = (call) => loadBalancers.listOwned(call);
        watched.plan = (desired, parts) => loadBalancers.plan(desired, parts);
        watched.apply = (action, desired, call) => {
          removals += 1;
          assert.equal(action.kind, 'delete');
          assert.equal(desired.owner.clusterId, CLUSTER);
          assert.ok(!rig.services.has(desired.owner.uid), 'it lives');
          assert.ok(rig.services.size > 0, 'an API without Services was believed');
          return loadBalancers.apply(action, desired, call);
        };
        return { ...others, loadBalancers: watched };
      });
      for (const one of steps) await take(rig, one);
      // A person makes it clear: as many are there again that the breaker lets the rest go.
      const gone = UIDS.filter((uid) => !rig.services.has(uid));
      for (const uid of gone.slice(2)) rig.service(uid);
      await rig.passes(4);
      const left = new Set(
        rig.cloud.parts().flatMap(({ tags }) => (tags.clusterId === CLUSTER ? [tags.uid ?? ''] : [])),
      );
      for (const uid of gone.slice(0, 2)) assert.ok(!left.has(uid), `${uid} is left`);
    }),
    { numRuns: 150 },
  );
  assert.ok(removals > 100, 'something was removed');
});
