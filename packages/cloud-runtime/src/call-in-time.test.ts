import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { callInTime } from './call-in-time.ts';

/** A call budget that gives a request its turn after so many milliseconds. */
function budget(clock: FakeClock, turnMs: number): (signal: AbortSignal) => CallContext {
  return (signal) => ({
    signal,
    priority: 'normal',
    logger: silentLogger,
    call: async (_, send) => {
      await clock.sleep(turnMs, signal);
      return send(signal);
    },
  });
}

/** One request after the other, each answered at once. */
const requests =
  (count: number) =>
  async (context: CallContext): Promise<string> => {
    for (let i = 0; i < count; i++) await context.call({ name: 'GET /things' }, () => Promise.resolve());
    return 'done';
  };

test('the time counts from the last request that was sent: ten that wait 20 s each for the call budget end well', async () => {
  const clock = new FakeClock();
  const called = callInTime({ clock, timeoutMs: 30_000, what: 'a look' }, budget(clock, 20_000), requests(10));
  await clock.advance(200_000);
  assert.equal(await called, 'done');
});

test('requests without end are ended after five minutes, or after what the caller can wait', async () => {
  for (const [mostMs, endsAfterMs] of [
    [undefined, 300_000],
    [30_000, 30_000],
  ] as const) {
    const clock = new FakeClock();
    const deadline = { clock, timeoutMs: 30_000, what: 'a look', ...(mostMs !== undefined && { mostMs }) };
    let error: unknown;
    callInTime(deadline, budget(clock, 20_000), requests(1_000)).catch((thrown: unknown) => {
      error = thrown;
    });
    await clock.advance(endsAfterMs - 1);
    assert.equal(error, undefined);
    await clock.advance(1);
    assert.ok(isCloudError(error, 'timeout'), String(error));
  }
});

test('where no request got its turn in the call budget, the cloud has not failed, and nothing had an effect', async () => {
  const clock = new FakeClock();
  const called = callInTime({ clock, timeoutMs: 30_000, what: 'a look' }, budget(clock, 40_000), requests(1));
  const rejected = assert.rejects(called, {
    code: 'retry-after',
    effect: 'none',
    retryAfterMs: 1_000,
    message: 'a look: no request was sent within 30000 ms, because others take the call budget',
  });
  await clock.advance(30_000);
  await rejected;
});

test('a provider that never answers, or looks at no signal, has timed out', async () => {
  for (const send of [
    () => new Promise<never>(() => {}),
    (context: CallContext) => context.call({ name: 'GET /things' }, () => new Promise<never>(() => {})),
  ]) {
    const clock = new FakeClock();
    const rejected = assert.rejects(
      callInTime({ clock, timeoutMs: 30_000, what: 'a look', late: 'too late' }, budget(clock, 0), send),
      { code: 'timeout', message: 'too late' },
    );
    await clock.advance(30_000);
    await rejected;
  }
});

test('the reason of the caller ends the call too', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const deadline = { clock, timeoutMs: 30_000, what: 'a look', signal: stop.signal };
  const rejected = assert.rejects(callInTime(deadline, budget(clock, 20_000), requests(1)), { message: 'stopped' });
  stop.abort(new Error('stopped'));
  await rejected;
});
