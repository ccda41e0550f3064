import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { aService } from '../annotations/a-service.suite.ts';
import { ClassicRig } from './classic-rig.suite.ts';

const service = aService({
  set: { certificate: 'arn:aws:acm:eu-central-1:123456789012:certificate/c-1', proxyProtocol: '*' },
});

/** Until a plan is complete, with new processes after each failure, as AWS shows things later. */
async function comesTo(site: ClassicRig, wanted: boolean): Promise<void> {
  for (let round = 0; round < 60; round++) {
    const desired = { ...site.desired(service), wanted };
    const { actions, complete, refused } = await site.plan(desired);
    assert.equal(refused, undefined);
    if (complete) return;
    try {
      for (const action of actions) await site.balancers.apply(action, desired, site.call);
    } catch (error) {
      if (!isCloudError(error)) throw error;
      site.restart();
    }
    await site.clock.advance(10_000);
  }
  throw new Error('it comes to no end');
}

const left = (site: ClassicRig): readonly unknown[] => [
  ...site.aws.account.classics.all(),
  ...site.letIn(),
  ...site.aws.account.groups.all().filter(({ name }) => name.startsWith('k8s-')),
];

for (const takesEffect of [true, false]) {
  test(`a process that dies at any write ${takesEffect ? 'after' : 'before'} it took effect leaves nothing twice and nothing behind`, async () => {
    let tried = 0;
    for (let n = 0; n < 40; n++) {
      const site = new ClassicRig();
      site.loseWrite(n, takesEffect);
      await comesTo(site, true);
      assert.equal(site.aws.account.classics.all().length, 1, `write ${n}`);
      assert.equal(site.letIn().length, 1, `write ${n}`);
      await comesTo(site, false);
      assert.deepEqual(left(site), [], `write ${n}`);
      if (site.isLossPending) break;
      tried++;
    }
    assert.ok(tried >= 10, `${tried} writes were lost`);
  });
}

test('lists and reads that lag make nothing twice, and hide nothing for good', async () => {
  const site = new ClassicRig();
  Object.assign(site.aws.knobs, { elbLagMs: 15_000, ec2LagMs: 15_000 });
  await comesTo(site, true);
  assert.equal(site.classic.instanceIds.length, 3);
  assert.equal(site.aws.calls.counts()['elb:CreateLoadBalancer'], 1);
  await comesTo(site, false);
  assert.deepEqual(left(site), []);
});
