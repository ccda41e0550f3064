import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desiredOf, NlbRig, serviceOf } from './nlb-rig.suite.ts';

const SERVICES = 100;

test('what 100 Services of 2 ports cost: to make, to look at, when a node joins, and to remove', async () => {
  const rig = new NlbRig();
  const services = Array.from({ length: SERVICES }, (_, i) =>
    serviceOf(
      {},
      { uid: `${i.toString(16).padStart(8, '0')}-4b5a-6978-8796-a5b4c3d2e1f0`, name: `web-${i}` },
      [80, 443],
    ),
  );
  const all = async (nodes: readonly string[], wanted = true): Promise<void> => {
    for (let round = 0; round < 10; round++) {
      let actions = 0;
      const looks = await rig.balancers.observe(services, rig.call);
      for (const [i, service] of services.entries()) {
        const desired = desiredOf(service, nodes, wanted);
        const look = looks[i];
        assert.ok(look?.kind === 'parts');
        for (const action of rig.balancers.plan(desired, look.parts).actions) {
          actions++;
          const result = await rig.balancers.apply(action, desired, rig.call);
          if (result.kind === 'pending') await rig.clock.advance(result.pollAfterMs);
        }
      }
      if (actions === 0) return;
    }
    throw new Error('it comes to no end');
  };
  const counted = (): Readonly<Record<string, number>> => {
    const counts = rig.elbv2.counts();
    rig.elbv2.calls.length = 0;
    return counts;
  };
  await all(['i-0000000a']);
  // Four looks: one before each round, and one that finds nothing more to do. No target group is asked for its targets.
  assert.deepEqual(counted(), {
    CreateLoadBalancer: 100,
    CreateTargetGroup: 200,
    CreateListener: 200,
    RegisterTargets: 200,
    DescribeLoadBalancers: 4,
    DescribeTargetGroups: 4,
    DescribeTags: 40,
    DescribeListeners: 200,
  });
  await rig.balancers.observe(services, rig.call);
  assert.deepEqual(counted(), {
    DescribeLoadBalancers: 1,
    DescribeTargetGroups: 1,
    DescribeTags: 15,
    DescribeListeners: 100,
  });
  await rig.balancers.observe(services.slice(0, 1), rig.call);
  assert.deepEqual(counted(), {
    DescribeLoadBalancers: 1,
    DescribeTargetGroups: 1,
    DescribeTags: 1,
    DescribeListeners: 1,
  });
  await rig.balancers.listOwned(rig.call);
  assert.deepEqual(counted(), {
    DescribeLoadBalancers: 1,
    DescribeTargetGroups: 1,
    DescribeTags: 15,
    DescribeListeners: 100,
  });
  await all(['i-0000000a', 'i-0000000b']);
  assert.equal(counted()['RegisterTargets'], 200);
  await all([], false);
  const gone = Object.fromEntries(Object.entries(counted()).filter(([name]) => !name.startsWith('Describe')));
  assert.deepEqual(gone, { DeleteLoadBalancer: 100, DeleteTargetGroup: 200 });
  rig.started();
  await rig.balancers.observe(services, rig.call);
});
