import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type DesiredLoadBalancer, type LoadBalancerPlan } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { LeftOut, LeftOutError, ToldLast } from './left-out.ts';

const desired = (uid: string): DesiredLoadBalancer => ({ service: { uid } }) as DesiredLoadBalancer;
const [first, last] = ['a', 'b'].map((id) => ({ kind: 'update', part: 'targets', id, input: {} }) as const);
const plan: LoadBalancerPlan = { actions: [first!, last!], ingress: [] };
const leavesOut = () => Promise.reject(new LeftOutError('a', ['i-1'], new CloudError('conflict', 'refused')));

test('who is left out is told with the last action; of passes that nobody ends only the newest are kept', async () => {
  const told = new ToldLast(new LeftOut(new FakeClock()));
  told.planned(desired('old'), plan);
  told.planned(desired('planned-again'), plan);
  for (let i = 0; i < 999; i++) told.planned(desired(`gone-${i}`), plan);
  told.planned(desired('planned-again'), plan);
  told.planned(desired('new'), plan);
  for (const uid of ['planned-again', 'new']) {
    assert.deepEqual(await told.apply(first!, desired(uid), leavesOut), { kind: 'done' });
    await assert.rejects(
      told.apply(last!, desired(uid), async () => ({ kind: 'done' })),
      /refused/u,
    );
  }
  // Without its pass each action tells its own.
  await assert.rejects(told.apply(first!, desired('old'), leavesOut), /refused/u);
});
