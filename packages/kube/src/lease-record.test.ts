import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microTime, readLease, writeLease } from './lease-record.ts';

test('times carry microseconds, as Go reads and prints them', () => {
  assert.equal(microTime(0), '1970-01-01T00:00:00.000000Z');
  assert.equal(microTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 0.25), '2026-01-02T03:04:05.678250Z');
});

test('a lease that says nothing reads as free', () => {
  const free = { holder: '', durationMs: 15_000, acquireTime: '', transitions: 0 };
  assert.deepEqual(readLease({}, 15_000), free);
  assert.deepEqual(readLease({ spec: { leaseDurationSeconds: -1 } }, 15_000), free);
});

test('a renewal within the same instant still changes the record', () => {
  const record = { holder: 'a', durationMs: 1_500, acquireTime: microTime(0), transitions: 3, renewedAt: 1_000 };
  const first = writeLease({ metadata: { name: 'x' } }, record);
  assert.equal(first.spec?.leaseDurationSeconds, 2, 'others never wait less than the holder believes');
  const second = writeLease(first, record);
  assert.notEqual(second.spec?.renewTime, first.spec?.renewTime);
  assert.equal(second.spec?.renewTime, '1970-01-01T00:00:01.000001Z');
});
