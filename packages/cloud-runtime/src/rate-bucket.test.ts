import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { RateBucket, type BucketLimits } from './rate-bucket.ts';
import { LONGEST_RETRY_AFTER_MS } from './retry-after.ts';

function setUp(limits?: BucketLimits): { bucket: RateBucket; pass: (ms: number) => void; now: () => number } {
  let now = 0;
  const bucket = new RateBucket({ monotonic: () => now }, limits);
  return { bucket, pass: (ms) => void (now += ms), now: () => now };
}

test('429 halves the rate once for all that were under way, Retry-After closes, and the way back is slow', () => {
  const { bucket, pass } = setUp();
  assert.equal(bucket.qps, Number.POSITIVE_INFINITY);
  for (let i = 0; i < 40; i++) assert.equal(bucket.take(), 0);
  bucket.slowDown(0, 2000);
  bucket.slowDown(0, undefined);
  assert.equal(bucket.qps, 20);
  assert.equal(bucket.take(), 2000);
  pass(2000);
  assert.equal(bucket.qps, 20, 'the time for which it was closed speeds nothing up');
  assert.equal(bucket.take(), 0);
  pass(5000);
  assert.ok(bucket.qps > 20 && bucket.qps < 80);
  pass(53_000);
  assert.equal(bucket.qps, Number.POSITIVE_INFINITY);
});

test('one 429 to a quiet bucket hardly slows it, and half a minute later it is forgotten', () => {
  const { bucket, pass, now } = setUp();
  bucket.take();
  bucket.slowDown(now(), undefined);
  assert.equal(bucket.qps, 5);
  assert.ok(bucket.take() <= 200);
  pass(20_000);
  assert.equal(bucket.qps, Number.POSITIVE_INFINITY);
});

test('a cloud that goes on complaining is asked once in five seconds; one second without a complaint is one a second more', () => {
  const { bucket, pass, now } = setUp();
  for (let i = 0; i < 12; i++) {
    pass(bucket.waitMs);
    assert.equal(bucket.take(), 0);
    pass(1);
    bucket.slowDown(now(), undefined);
  }
  assert.ok(bucket.qps >= 0.2 && bucket.qps < 1.5, String(bucket.qps));
  const before = bucket.qps;
  pass(1000);
  assert.ok(Math.abs(bucket.qps - before - 1) < 0.1);
});

test('a Retry-After that is out of all proportion is cut', () => {
  const { bucket } = setUp();
  bucket.take();
  bucket.slowDown(0, Number.MAX_VALUE);
  assert.equal(bucket.take(), LONGEST_RETRY_AFTER_MS);
});

test('property: whatever the cloud complains of, never more than burst + rate × time in any window', () => {
  const step = fc.record({
    passMs: fc.integer({ min: 0, max: 1500 }),
    tries: fc.integer({ min: 0, max: 8 }),
    complaint: fc.option(
      fc.record({ agoMs: fc.integer({ min: 0, max: 500 }), retryAfterMs: fc.option(fc.nat(3000)) }),
      {
        freq: 2,
      },
    ),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 10 }),
      (steps, qps, burst) => {
        const { bucket, pass, now } = setUp({ qps, burst });
        const sent: number[] = [];
        let closedUntil = 0;
        for (const { passMs, tries, complaint } of steps) {
          pass(passMs);
          for (let i = 0; i < tries && bucket.take() === 0; i++) {
            assert.ok(now() >= closedUntil, 'nothing is sent before Retry-After');
            sent.push(now());
          }
          if (complaint) {
            const retryAfterMs = complaint.retryAfterMs ?? undefined;
            bucket.slowDown(now() - complaint.agoMs, retryAfterMs);
            closedUntil = Math.max(closedUntil, now() + (retryAfterMs ?? 0));
          }
          assert.ok(bucket.qps <= qps && bucket.qps >= 0.2);
        }
        for (const [first, from] of sent.entries()) {
          for (let last = first; last < sent.length; last++) {
            assert.ok(last - first + 1 <= burst + (qps * ((sent[last] ?? 0) - from)) / 1000 + 1e-6);
          }
        }
        pass(3_600_000);
        assert.equal(bucket.qps, qps, 'in the end the rate is what was configured');
        assert.equal(bucket.take(), 0);
      },
    ),
    { numRuns: 2000 },
  );
});

test('limits that make no sense are refused', () => {
  assert.throws(() => setUp({ qps: 0 }), RangeError);
  assert.throws(() => setUp({ burst: 0 }), RangeError);
});
