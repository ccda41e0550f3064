import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { deadlineSignal, withDeadline } from './deadline.ts';

test('a deadline names what did not answer, and a cancelled one never comes', async () => {
  const clock = new FakeClock();
  const deadline = deadlineSignal(clock, 50, 'GET /version');
  const cancelled = deadlineSignal(clock, 50, 'GET /healthz');
  cancelled.cancel();
  await clock.advance(100);
  assert.match(String(deadline.signal.reason), /TimeoutError: GET \/version: no answer within 50 ms/);
  assert.equal(cancelled.signal.aborted, false);
});

test('work that ends in time gives its result, and leaves no timer, no listener and no composed signal', async (t) => {
  const composed = t.mock.method(AbortSignal, 'any');
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const deadline = { clock, timeoutMs: 50, what: 'x', signal };
  assert.equal(await withDeadline(deadline, async () => 1), 1);
  await assert.rejects(
    withDeadline(deadline, () => Promise.reject(new Error('down'))),
    /down/,
  );
  assert.equal(clock.pendingTimers, 0);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(composed.mock.callCount(), 0);
});

test('work that is deaf is cut off, with the error that was asked for; what it does later is dropped', async () => {
  const clock = new FakeClock();
  const work = Promise.withResolvers<never>();
  const seen: AbortSignal[] = [];
  const deaf = (signal: AbortSignal): Promise<never> => {
    seen.push(signal);
    return work.promise;
  };
  const plain = withDeadline({ clock, timeoutMs: 50, what: 'GET /version' }, deaf);
  const late = (cause: Error): Error => new Error('too late', { cause });
  const named = withDeadline({ clock, timeoutMs: 50, what: 'GET /version', late }, deaf);
  const both = Promise.all([
    assert.rejects(plain, { name: 'TimeoutError', message: 'GET /version: no answer within 50 ms' }),
    assert.rejects(
      named,
      (error: Error) => error.message === 'too late' && (error.cause as Error).name === 'TimeoutError',
    ),
  ]);
  await clock.advance(50);
  await both;
  assert.deepEqual(
    seen.map(({ aborted }) => aborted),
    [true, true],
  );
  work.reject(new Error('nobody hears this'));
  await new Promise<void>((resolve) => void setImmediate(resolve));
});

test('the abort of the caller wins with its own reason, and nothing starts after it', async () => {
  const clock = new FakeClock();
  const caller = new AbortController();
  const deadline = { clock, timeoutMs: 50, what: 'x', signal: caller.signal, late: () => new Error('too late') };
  const waiting = withDeadline(deadline, () => new Promise<never>(() => {}));
  caller.abort(new Error('stop'));
  await assert.rejects(waiting, /stop/);
  let started = false;
  await assert.rejects(
    withDeadline(deadline, () => (started = true)),
    /stop/,
  );
  assert.equal(started, false);
  assert.equal(clock.pendingTimers, 0);
});

test('work that gets on has its time again, and ends for all that in the longest time', async () => {
  const clock = new FakeClock();
  const begun = clock.monotonic();
  const ends = (mostMs?: number): Promise<number> =>
    withDeadline({ clock, timeoutMs: 50, mostMs, what: 'x' }, async (signal, getsOn) => {
      for (let i = 0; i < 5; i++) {
        await clock.sleep(40, signal);
        getsOn();
      }
      await new Promise(() => {});
      return 0;
    }).catch(() => clock.monotonic() - begun);
  const [without, bounded] = [ends(), ends(120)];
  await clock.advance(1_000);
  assert.deepEqual([await without, await bounded], [250, 120]);
  assert.equal(clock.pendingTimers, 0);
});
