import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs } from './retry-after.ts';

const SENT = 'Thu, 01 Jan 2026 00:00:00 GMT';

test('Retry-After in seconds', () => {
  assert.equal(retryAfterMs({ 'retry-after': '12' }), 12_000);
  assert.equal(retryAfterMs({ 'retry-after': '0' }), 0);
});

test('Retry-After as a date counts from when the server sent the answer, by its own clock', () => {
  assert.equal(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT', date: SENT }), 30_000);
  assert.equal(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2020 00:00:30 GMT', date: SENT }), 0);
});

test('a Retry-After that makes no sense is none', () => {
  for (const header of ['soon', '', ' ', '-1', '1e3', '0x10']) {
    assert.equal(retryAfterMs({ 'retry-after': header, date: SENT }), undefined, JSON.stringify(header));
  }
  // A date without a date to count from: clocks differ by more than such a wait.
  assert.equal(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }), undefined);
  assert.equal(retryAfterMs({ date: SENT }), undefined);
});
