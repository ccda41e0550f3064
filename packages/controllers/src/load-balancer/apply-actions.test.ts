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
import { applyActions } from './apply-actions.ts';
import { createActionCounter } from './count-actions.ts';
import { actionOn, ME } from '../service/told-cloud.suite.ts';

/** What an action that ends by its deadline ends with; `isSent`: its one request has left the call budget. */
async function afterDeadline(
  apply: LoadBalancers['apply'],
  isSent: boolean,
): Promise<readonly [code: unknown, effect: unknown]> {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  const desired = { service: { uid: ME.uid }, wanted: true, owner: ME, backEnds: [] };
  const applied = applyActions([actionOn('create', 'address')], desired as never, {
    provider: { apply },
    callContext: (either): CallContext => ({
      signal: either,
      priority: 'normal',
      logger: silentLogger,
      call: (_operation, send) => (isSent ? send(either) : new Promise(() => {})),
    }),
    clock,
    counter: createActionCounter(noMetrics),
    logger: silentLogger,
    signal,
    isCurrent: () => true,
  });
  await clock.advance(61_000);
  const { error } = await applied;
  return [(error as { code?: unknown } | undefined)?.code, effectOf(error)];
}

const hangs = (): Promise<never> => new Promise(() => {});

test('an action of which nothing was sent in time waits for its turn, and has had no effect; any other is a timeout', async () => {
  const request: LoadBalancers['apply'] = (_action, _desired, call) => call.call({ name: 'POST' }, hangs);
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
    const { pollAfterMs } = await applyActions(
      results.map(() => actionOn('update', 'load-balancer')),
      { service: { uid: ME.uid }, wanted: true, owner: ME, backEnds: [] } as never,
      {
        provider: { apply: () => Promise.resolve(results[count++] as LoadBalancerActionResult) },
        callContext: () => ({}) as CallContext,
        clock: new FakeClock(),
        counter: createActionCounter(noMetrics),
        logger: silentLogger,
        signal: new AbortController().signal,
        isCurrent: () => true,
        park: (wait) => {
          if (parked.length === places) return undefined;
          parked.push(count);
          return wait();
        },
      },
    );
    assert.equal(pollAfterMs, results.slice(0, count).some(({ kind }) => kind === 'pending') ? 7 : undefined);
    return { count, parked };
  };
  const done = { kind: 'done' } as const;
  const pending = { kind: 'pending', handle: 'task', pollAfterMs: 7 } as const;
  assert.deepEqual(await carryOut([pending, pending, done], 9), { count: 3, parked: [1, 2] });
  assert.deepEqual(await carryOut([done, pending, pending, done], 1), { count: 3, parked: [2] });
  assert.deepEqual(await carryOut([done, pending, pending, done], 0), { count: 2, parked: [] });
  assert.deepEqual(await carryOut([done, done], 0), { count: 2, parked: [] });
});
