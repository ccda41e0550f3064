import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  effectOf,
  type CallContext,
  type LoadBalancerActionResult,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { noMetrics, silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { applyActions, type Applied, type ApplyOptions } from './apply-actions.ts';
import { createActionCounter } from './count-actions.ts';
import { actionOn, ME } from '../service/told-cloud.suite.ts';

type Apply = LoadBalancers['apply'];

/** So many actions, on a clock that stands still. */
function applyAll(
  count: number,
  apply: Apply,
  more: Partial<Pick<ApplyOptions, 'callContext' | 'clock' | 'park'>> = {},
): Promise<Applied> {
  const actions = Array.from({ length: count }, () => actionOn('update', 'load-balancer'));
  const desired = { service: { uid: ME.uid }, wanted: true, owner: ME, backEnds: [] };
  return applyActions(actions, desired as never, {
    provider: { apply },
    callContext: () => ({}) as CallContext,
    clock: new FakeClock(),
    counter: createActionCounter(noMetrics),
    logger: silentLogger,
    signal: new AbortController().signal,
    isCurrent: () => true,
    ...more,
  });
}

/** What an action that ends by its deadline ends with; `isSent`: its one request has left the call budget. */
async function afterDeadline(apply: Apply, isSent: boolean): Promise<readonly [code: unknown, effect: unknown]> {
  const clock = new FakeClock();
  const callContext = (signal: AbortSignal): CallContext => ({
    signal,
    priority: 'normal',
    logger: silentLogger,
    call: (_operation, send) => (isSent ? send(signal) : new Promise(() => {})),
  });
  const applied = applyAll(1, apply, { callContext, clock });
  await clock.advance(61_000);
  const { error } = await applied;
  return [(error as { code?: unknown } | undefined)?.code, effectOf(error)];
}

const hangs = (): Promise<never> => new Promise(() => {});

test('an action of which nothing was sent in time waits for its turn, and has had no effect; any other is a timeout', async () => {
  const request: Apply = (_action, _desired, call) => call.call({ name: 'POST' }, hangs);
  assert.deepEqual(await afterDeadline(request, false), ['retry-after', 'none']);
  assert.deepEqual(await afterDeadline(request, true), ['timeout', 'unknown']);
  // What sends past the host may have sent anything.
  assert.deepEqual(await afterDeadline(hangs, false), ['timeout', 'unknown']);
});

test('what has to wait until the cloud is done with the last action is parked, or left; what is done at once goes on', async () => {
  const carryOut = async (
    results: readonly LoadBalancerActionResult[],
    places: number,
  ): Promise<{ readonly count: number; readonly parked: readonly number[] }> => {
    let count = 0;
    const parked: number[] = [];
    const apply: Apply = () => Promise.resolve(results[count++] as LoadBalancerActionResult);
    const park = <T>(wait: () => Promise<T>): Promise<T> | undefined => {
      if (parked.length === places) return undefined;
      parked.push(count);
      return wait();
    };
    const applied = await applyAll(results.length, apply, { park });
    const isPending = results.slice(0, count).some(({ kind }) => kind === 'pending');
    assert.deepEqual(applied.pending, isPending ? { pollAfterMs: 7, dueAt: 7 } : undefined);
    return { count, parked };
  };
  const done = { kind: 'done' } as const;
  const pending = { kind: 'pending', handle: 'task', pollAfterMs: 7 } as const;
  assert.deepEqual(await carryOut([pending, pending, done], 9), { count: 3, parked: [1, 2] });
  assert.deepEqual(await carryOut([done, pending, pending, done], 1), { count: 3, parked: [2] });
  assert.deepEqual(await carryOut([done, pending, pending, done], 0), { count: 2, parked: [] });
  assert.deepEqual(await carryOut([done, done], 0), { count: 2, parked: [] });
});

test('what comes after an action that goes on in the cloud takes no longer than that takes anyway', async () => {
  const clock = new FakeClock();
  const takes = async (ms: number, result: LoadBalancerActionResult): Promise<LoadBalancerActionResult> => {
    await clock.advance(ms);
    return result;
  };
  const steps = [
    () => takes(100, { kind: 'pending', handle: 'a', pollAfterMs: 1_000 }),
    () => takes(300, { kind: 'pending', handle: 'b', pollAfterMs: 500 }),
    () => takes(400, { kind: 'done' }),
  ];
  const apply: Apply = () => steps.shift()?.() ?? Promise.reject(new Error('no more'));
  const { pending } = await applyAll(steps.length, apply, { clock });
  assert.deepEqual(pending, { pollAfterMs: 1_000, dueAt: 1_100 });
});
