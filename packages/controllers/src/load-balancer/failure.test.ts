import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, cloudErrorCodes, type CloudErrorCode } from '@outrigger/cloud-provider';
import { isUncertain, reasonOf, retryOf, seldomMs } from './failure.ts';

const codes = Object.keys(cloudErrorCodes) as readonly CloudErrorCode[];

/** Of all others: after 5 s, doubled up to 300 s. */
const RETRIES: Partial<Record<CloudErrorCode, string>> = {
  'retry-after': 'later',
  'implemented-elsewhere': 'elsewhere',
  invalid: 'seldom',
  unsupported: 'seldom',
  quota: 'longest',
  forbidden: 'longest',
  unauthenticated: 'longest',
  'not-owned': 'longest',
};

test('each code says when it is tried again', () => {
  for (const code of codes) assert.equal(retryOf(new CloudError(code, 'x')).kind, RETRIES[code] ?? 'back-off', code);
  assert.equal(retryOf(new Error('x')).kind, 'back-off');
  assert.equal(retryOf(new CloudError('invalid', 'a plan says so'), true).kind, 'never');
  assert.equal(retryOf(new CloudError('not-owned', 'a plan says so'), true).kind, 'longest');
  assert.deepEqual([1, 2, 3, 4, 5].map(seldomMs), [300_000, 600_000, 1_200_000, 1_800_000, 1_800_000]);
  assert.deepEqual(retryOf(new CloudError('retry-after', 'x', { retryAfterMs: 7_000 })), {
    kind: 'later',
    afterMs: 7_000,
  });
  for (const [retryAfterMs, afterMs] of [
    [undefined, 5_000],
    [Number.NaN, 5_000],
    [86_400_000, 300_000],
  ] as const) {
    assert.deepEqual(retryOf(new CloudError('retry-after', 'x', { retryAfterMs })), { kind: 'later', afterMs });
  }
});

test('only what was not answered or is not finished may have taken effect, or an error of which nothing is known', () => {
  const uncertain = codes.filter((code) => isUncertain(new CloudError(code, 'x')));
  assert.deepEqual(uncertain.toSorted(), ['retry-after', 'timeout', 'unavailable']);
  assert.ok(isUncertain(new Error('socket hang up')));
});

test('an Event has the words of a provider, and of no other error', () => {
  assert.equal(reasonOf(new CloudError('quota', 'no more addresses')), 'no more addresses (quota)');
  assert.doesNotMatch(reasonOf(new Error('token=abc')), /abc/);
});
