import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageOf, humanDuration } from './human-duration.ts';

test('ages are written as kubectl writes them', () => {
  const minute = 60;
  const hour = 60 * minute;
  const day = 24 * hour;
  const cases: [number, string][] = [
    [-5, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [2 * minute, '2m'],
    [2 * minute + 5, '2m5s'],
    [10 * minute + 5, '10m'],
    [3 * hour, '3h'],
    [3 * hour + 7 * minute, '3h7m'],
    [9 * hour + 7 * minute, '9h'],
    [2 * day + hour, '2d1h'],
    [9 * day + hour, '9d'],
    [800 * day, '2y70d'],
    [9 * 365 * day, '9y'],
  ];
  for (const [seconds, expected] of cases) assert.equal(humanDuration(seconds * 1_000), expected);
});

test('a time that was never set is unknown', () => {
  assert.equal(ageOf(undefined, 0), '<unknown>');
  assert.equal(ageOf(null, 0), '<unknown>');
  assert.equal(ageOf('2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1, 0, 0, 7)), '7s');
});
