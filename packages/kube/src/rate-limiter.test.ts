import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultRateLimiter, exponentialBackoff, slowestOf, tokenBucket } from './rate-limiter.ts';

test("the default is client-go's: 5 ms doubled up to 1,000 s, and 100 retries at once, then 10 a second", async () => {
  const clock = new FakeClock();
  const limiter = defaultRateLimiter<string>({ clock });
  const delays = Array.from({ length: 19 }, () => limiter.delayMs('a'));
  assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(delays.at(-1), 1_000_000);
  for (let i = 19; i < 100; i++) assert.equal(limiter.delayMs(`n${i}`), 5);
  assert.equal(limiter.delayMs('over'), 100);
  assert.equal(limiter.delayMs('further'), 200);
  await clock.advance(1_000);
  assert.equal(limiter.delayMs('later'), 5);
  limiter.forget('a');
  assert.equal(limiter.requeues('a'), 0);
  assert.equal(limiter.delayMs('a'), 5);
});

test('jitter shortens a delay, by its part at most, also at the longest delay', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.integer({ min: 0, max: 2_000 }),
      (random, failures) => {
        const limiter = exponentialBackoff({ baseMs: 5, maxMs: 1_000, jitter: 0.2, random: () => random });
        for (let i = 0; i < failures; i++) limiter.delayMs('a');
        const delay = limiter.delayMs('a');
        const full = Math.min(1_000, 5 * 2 ** failures);
        assert.ok(delay <= full && delay >= full * 0.8, `${delay} of ${full}`);
      },
    ),
  );
});

test('the slowest of several limiters counts, and all are asked and told', () => {
  const clock = new FakeClock();
  const limiter = slowestOf(exponentialBackoff<string>(), tokenBucket<string>({ qps: 1, burst: 1, clock }));
  assert.deepEqual([limiter.delayMs('a'), limiter.delayMs('a'), limiter.delayMs('b')], [5, 1_000, 2_000]);
  assert.equal(limiter.requeues('a'), 2);
  limiter.forget('a');
  assert.equal(limiter.requeues('a'), 0);
});

test('limits that make no sense are refused', () => {
  const clock = new FakeClock();
  assert.throws(() => exponentialBackoff({ baseMs: 0 }), RangeError);
  assert.throws(() => exponentialBackoff({ baseMs: 10, maxMs: 5 }), /baseMs 10 and maxMs 5/);
  assert.throws(() => tokenBucket({ qps: 0, burst: 1, clock }), RangeError);
  assert.throws(() => tokenBucket({ qps: 1, burst: Number.NaN, clock }), RangeError);
});
