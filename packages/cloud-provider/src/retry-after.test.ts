import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs } from './index.ts';

const NOW = Date.UTC(2026, 0, 1);

test('Retry-After in seconds', () => {
  assert.equal(retryAfterMs('12', NOW), 12_000);
  assert.equal(retryAfterMs(' 0 ', NOW), 0);
});

test('Retry-After as a date', () => {
  assert.equal(retryAfterMs(new Date(NOW + 30_000).toUTCString(), NOW), 30_000);
  assert.equal(retryAfterMs(new Date(NOW - 30_000).toUTCString(), NOW), 0);
});

test('a Retry-After that is missing or makes no sense is none', () => {
  for (const header of [undefined, null, '', ' ', 'soon', '-1', '1e3', '0x10', '1.5']) {
    assert.equal(retryAfterMs(header, NOW), undefined, JSON.stringify(header));
  }
});
