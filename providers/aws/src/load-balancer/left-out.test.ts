import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancerPlan,
} from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { withAddress } from './bring-to-its-end.suite.ts';
import { LeftOut, LeftOutError, ToldLast, WaitsError } from './left-out.ts';

const owner = { clusterId: 'c', uid: 'u' };
const desired = (uid: string): DesiredLoadBalancer =>
  ({ owner, service: { uid, ingress: [] }, wanted: true }) as unknown as DesiredLoadBalancer;
const [first, last] = ['a', 'b'].map((id) => ({ kind: 'update', part: 'targets', id, input: {} }) as const);
const plan: LoadBalancerPlan = { actions: [first!, last!], ingress: [] };
const why = new CloudError('conflict', 'refused');
const waits = () => Promise.reject(new WaitsError(['i-1'], why));
const leavesOut = (id: string) => () => Promise.reject(new LeftOutError([id], why));

test('what has to wait is told with the last action; of passes that nobody ends only the newest are kept', async () => {
  const told = new ToldLast(new LeftOut(new FakeClock()));
  told.planned(desired('old'), plan);
  told.planned(desired('planned-again'), plan);
  for (let i = 0; i < 999; i++) told.planned(desired(`gone-${i}`), plan);
  told.planned(desired('planned-again'), plan);
  told.planned(desired('new'), plan);
  for (const uid of ['planned-again', 'new']) {
    assert.deepEqual(await told.apply(first!, desired(uid), waits), { kind: 'done' });
    await assert.rejects(
      told.apply(last!, desired(uid), async () => ({ kind: 'done' })),
      /refused/u,
    );
  }
  // Without its pass each action tells its own.
  await assert.rejects(told.apply(first!, desired('old'), waits), /refused/u);
});

test('who is left out is shown as there for a minute, and until then no plan is complete', async () => {
  const clock = new FakeClock();
  const leftOut = new LeftOut(clock);
  const told = new ToldLast(leftOut);
  for (const id of ['i-1', 'i-2'])
    assert.deepEqual(await told.apply(first!, desired('u'), leavesOut(id)), { kind: 'done' });
  assert.deepEqual(
    [leftOut.with('a', ['i-0']), leftOut.without('a', ['i-0', 'i-2'])],
    [['i-0', 'i-1', 'i-2'], ['i-0']],
  );
  const complete: LoadBalancerPlan = { actions: [], complete: true, ingress: [{ hostname: 'web' }] };
  const part: LoadBalancerPart = {
    kind: 'targets',
    id: 'a',
    owner,
    state: 'ready',
    attributes: { leftOut: leftOut.of('a') },
  };
  const check = (goal: DesiredLoadBalancer, parts = [part]): LoadBalancerPlan => leftOut.checked(goal, complete, parts);
  const served = withAddress(desired('u'), complete);
  assert.deepEqual(check(desired('u')), { ...complete, complete: false });
  assert.throws(() => check(served), { code: 'conflict', message: 'refused' });
  assert.equal(leftOut.checked(served, plan, [part]), plan);
  assert.equal(check({ ...served, wanted: false }), complete);
  assert.equal(check(served, [{ ...part, owner: { ...owner, uid: 'other' } }]), complete);
  await clock.advance(60_000);
  assert.deepEqual([leftOut.with('a', ['i-0']), leftOut.of('a')], [['i-0'], []]);
  // The look was a moment before.
  assert.throws(() => check(served));
  assert.equal(check(served, [{ ...part, attributes: { leftOut: leftOut.of('a') } }]), complete);
});
