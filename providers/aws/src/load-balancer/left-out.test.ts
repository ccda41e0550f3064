import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancerPlan,
} from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { LeftOut, LeftOutError, ToldLast, WaitsError } from './left-out.ts';

const owner = { clusterId: 'c', uid: 'u' };
const desired = (uid: string): DesiredLoadBalancer =>
  ({ owner, service: { uid }, wanted: true }) as unknown as DesiredLoadBalancer;
const [first, last] = ['a', 'b'].map((id) => ({ kind: 'update', part: 'targets', id, input: {} }) as const);
const plan: LoadBalancerPlan = { actions: [first!, last!], ingress: [] };
const why = new CloudError('conflict', 'refused');
const waits = () => Promise.reject(new WaitsError(['i-1'], why));
const leavesOut = (id: string) => () => Promise.reject(new LeftOutError([id], why));

const done = async () => ({ kind: 'done' }) as const;

test('what has to wait is told with the last action of its plan, whatever else is planned of the Service meanwhile', async () => {
  const told = new ToldLast(new LeftOut(new FakeClock()));
  told.planned(plan);
  assert.deepEqual(await told.apply(first!, waits), { kind: 'done' });
  // To be shown, as by `explain`.
  told.planned({ ...plan, actions: plan.actions.map((action) => ({ ...action })) });
  await assert.rejects(told.apply(last!, done), /refused/u);
  // Carried out once more, nothing has to wait.
  assert.deepEqual(await told.apply(first!, done), { kind: 'done' });
  assert.deepEqual(await told.apply(last!, done), { kind: 'done' });
  // Of what was not planned here each action tells its own.
  await assert.rejects(told.apply({ ...first! }, waits), /refused/u);
});

const MINUTE_MS = 60_000;

const part = (id: string, leftOut: LeftOut): LoadBalancerPart => ({
  kind: 'targets',
  id,
  owner,
  state: 'ready',
  attributes: { leftOut: leftOut.of(id, ['i-0']) },
});
const complete: LoadBalancerPlan = { actions: [], complete: true, ingress: [{ hostname: 'web' }] };

test('who is left out is shown as there for a while; the plan is complete, with a warning and a time', async () => {
  const clock = new FakeClock();
  const leftOut = new LeftOut(clock);
  const told = new ToldLast(leftOut);
  for (const id of ['i-1', 'i-2']) assert.deepEqual(await told.apply(first!, leavesOut(id)), { kind: 'done' });
  assert.deepEqual(
    [leftOut.with('a', ['i-0']), leftOut.without('a', ['i-0', 'i-2'])],
    [['i-0', 'i-1', 'i-2'], ['i-0']],
  );
  // Where no other one is served, all count again.
  assert.deepEqual([leftOut.of('a', []), leftOut.with('a', []), leftOut.without('a', ['i-2'])], [[], [], ['i-2']]);
  const shown = part('a', leftOut);
  const warnings = [
    {
      reason: 'InstancesLeftOut',
      message: 'Instances left out of the load balancer, and tried again later: i-1, i-2. refused',
    },
  ];
  const check = (goal: DesiredLoadBalancer, parts = [shown]): LoadBalancerPlan => leftOut.told(goal, complete, parts);
  await clock.advance(10_000);
  assert.deepEqual(check(desired('u')), { ...complete, warnings, againAfterMs: 50_000 });
  assert.equal(leftOut.told(desired('u'), plan, [shown]), plan);
  assert.equal(check({ ...desired('u'), wanted: false }), complete);
  assert.equal(check(desired('u'), [{ ...shown, owner: { ...owner, uid: 'other' } }]), complete);
  await clock.advance(50_000);
  assert.deepEqual([leftOut.with('a', ['i-0']), leftOut.of('a', ['i-0'])], [['i-0'], []]);
  assert.equal(check(desired('u'), [part('a', leftOut)]), complete);
  const long = new LeftOutError(['i-1'], new CloudError('conflict', 'x'.repeat(1_000)));
  leftOut.note('a', long);
  assert.equal(check(desired('u'), [part('a', leftOut)]).warnings?.[0]?.message.length, 300);
});

test('the same again is tried after twice the time, half an hour at most; with another among them, or after all were taken, after a minute', async () => {
  const clock = new FakeClock();
  const leftOut = new LeftOut(clock);
  const told = new ToldLast(leftOut);
  const waits = (): number =>
    (leftOut.told(desired('u'), complete, [part('a', leftOut)]).againAfterMs ?? 0) / MINUTE_MS;
  const tried = async (...ids: readonly string[]): Promise<number> => {
    await clock.advance(waits() * MINUTE_MS);
    for (const id of ids) await told.apply(first!, leavesOut(id));
    return waits();
  };
  const seen: number[] = [];
  for (let i = 0; i < 7; i++) seen.push(await tried('i-1'));
  assert.deepEqual(seen, [1, 2, 4, 8, 16, 30, 30]);
  // Two refusals of one try.
  assert.deepEqual([await tried('i-1', 'i-2'), await tried('i-1', 'i-2'), await tried('i-1', 'i-2')], [1, 2, 4]);
  // Fewer are tried no sooner, and sooner than it is due only with what changes anyway.
  leftOut.trying('a');
  assert.deepEqual(leftOut.of('a', ['i-0']), []);
  await told.apply(first!, leavesOut('i-1'));
  assert.equal(waits(), 4);
  leftOut.trying('a');
  await told.apply(first!, async () => ({ kind: 'done' }));
  assert.deepEqual([await tried('i-1'), leftOut.of('a', ['i-0'])], [1, ['i-1']]);
  // What another change of the part says nothing of stays.
  await told.apply(first!, async () => ({ kind: 'done' }));
  assert.deepEqual(leftOut.of('a', ['i-0']), ['i-1']);
});

test('parts that are due soon after another are tried with it', async () => {
  const clock = new FakeClock();
  const leftOut = new LeftOut(clock);
  const error = new LeftOutError(['i-1'], why);
  const again = (...ids: readonly string[]): unknown =>
    leftOut.told(
      desired('u'),
      complete,
      ids.map((id) => part(id, leftOut)),
    ).againAfterMs;
  for (const waitedMs of [0, MINUTE_MS, 2 * MINUTE_MS]) {
    await clock.advance(waitedMs);
    leftOut.note('c', error);
  }
  leftOut.note('a', error);
  await clock.advance(5_000);
  leftOut.note('b', error);
  assert.deepEqual([again('a', 'b'), again('a', 'b', 'c'), again('c')], [60_000, 60_000, 4 * 60_000 - 5_000]);
});

test('a try before it is due, as with each node that joins, makes the wait no longer', async () => {
  const clock = new FakeClock();
  const leftOut = new LeftOut(clock);
  const error = new LeftOutError(['i-1'], why);
  for (let i = 0; i < 6; i++) {
    leftOut.trying('a');
    leftOut.note('a', error);
    await clock.advance(4_000);
  }
  assert.equal(leftOut.told(desired('u'), complete, [part('a', leftOut)]).againAfterMs, MINUTE_MS - 4_000);
});

test('what was long ago makes the wait no longer', async () => {
  const clock = new FakeClock();
  const leftOut = new LeftOut(clock);
  const error = new LeftOutError(['i-1'], why);
  leftOut.note('a', error);
  await clock.advance(60 * MINUTE_MS);
  leftOut.note('a', error);
  assert.equal(leftOut.told(desired('u'), complete, [part('a', leftOut)]).againAfterMs, MINUTE_MS);
});
