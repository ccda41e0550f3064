import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { noMetrics, type Labels } from '../metrics.ts';
import { scriptedTransport } from './scripted-transport.suite.ts';
import { TokenBucket, withRateLimit } from './with-rate-limit.ts';

test('lets a burst pass, then the rate, in the order of arrival', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ qps: 10, burst: 3, clock });
  const passed: number[] = [];
  for (let i = 0; i < 6; i++) void bucket.take().then(() => passed.push(i));
  await clock.settle();
  assert.deepEqual(passed, [0, 1, 2]);
  await clock.advance(99);
  assert.equal(passed.length, 3);
  await clock.advance(1);
  assert.deepEqual(passed, [0, 1, 2, 3]);
  await clock.advance(200);
  assert.deepEqual(passed, [0, 1, 2, 3, 4, 5]);
});

test('one who gives up takes no token and leaves no timer', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ qps: 1, burst: 1, clock });
  await bucket.take();
  const abort = new AbortController();
  const given = bucket.take(abort.signal);
  abort.abort(new Error('stop'));
  await assert.rejects(given, /stop/);
  assert.equal(clock.pendingTimers, 0);
  await assert.rejects(bucket.take(abort.signal), /stop/);
  let passed = false;
  void bucket.take().then(() => (passed = true));
  await clock.advance(1_000);
  assert.equal(passed, true);
});

test('a rate or burst that would let nothing pass is refused', () => {
  const clock = new FakeClock();
  for (const qps of [0, -1, Number.NaN]) assert.throws(() => new TokenBucket({ qps, burst: 1, clock }), /qps/);
  for (const burst of [0, Number.NaN]) assert.throws(() => new TokenBucket({ qps: 1, burst, clock }), /burst/);
});

test('property: in no span of time do more pass than the burst and the rate allow, and all pass in the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 25 }),
      async (qps, burst, gaps) => {
        const clock = new FakeClock();
        const bucket = new TokenBucket({ qps, burst, clock });
        const at: number[] = [];
        for (const gap of gaps) {
          await clock.advance(gap);
          void bucket.take().then(() => at.push(clock.monotonic()));
        }
        await clock.advance((gaps.length / qps) * 1000 + 1_000);
        assert.equal(at.length, gaps.length);
        for (let i = 0; i < at.length; i++) {
          for (let j = i; j < at.length; j++) {
            const span = (at[j] ?? 0) - (at[i] ?? 0);
            assert.ok(j - i + 1 <= burst + (span * qps) / 1000 + 1e-6);
          }
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('leases are exempt, and waiting is measured', async () => {
  const clock = new FakeClock();
  const observed: [number, Labels | undefined][] = [];
  const metrics = {
    ...noMetrics,
    histogram: () => ({ observe: (value: number, labels?: Labels) => void observed.push([value, labels]) }),
  };
  const inner = scriptedTransport([{ status: 200 }]);
  const transport = withRateLimit({ qps: 1, burst: 1, clock, metrics, host: 'h:1' })(inner);
  await transport.send({ method: 'GET', path: '/' });
  const second = transport.send({ method: 'GET', path: '/' });
  await transport.send({ method: 'PUT', path: '/', traffic: 'lease' });
  assert.equal(inner.requests.length, 2);
  await clock.advance(1_000);
  await second;
  assert.deepEqual(observed, [
    [0, { verb: 'GET', host: 'h:1' }],
    [1, { verb: 'GET', host: 'h:1' }],
  ]);
});
