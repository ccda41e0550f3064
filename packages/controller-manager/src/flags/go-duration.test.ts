import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

const READ: readonly (readonly [string, number | undefined])[] = [
  ['0', 0],
  ['0s', 0],
  ['5m', 300_000],
  ['1h2m3s', 3_723_000],
  ['1.5s', 1_500],
  ['.5s', 500],
  ['300ms', 300],
  ['10µs', 0.01],
  ['10us', 0.01],
  ['-3s', -3_000],
  ['+3s', 3_000],
  ['', undefined],
  ['5', undefined],
  ['5 m', undefined],
  ['m', undefined],
  ['1d', undefined],
  ['1h-2m', undefined],
  ['5m\n', undefined],
];

test('reads what time.ParseDuration reads, and refuses what it refuses', () => {
  for (const [text, ms] of READ) assert.equal(parseGoDuration(text), ms, JSON.stringify(text));
});

test('writes as Go prints', () => {
  assert.equal(formatGoDuration(0), '0s');
  assert.equal(formatGoDuration(300_000), '5m0s');
  assert.equal(formatGoDuration(43_200_000), '12h0m0s');
  assert.equal(formatGoDuration(1_500), '1.5s');
  assert.equal(formatGoDuration(300), '300ms');
  assert.equal(formatGoDuration(0.01), '10µs');
  assert.equal(formatGoDuration(0.000_001), '1ns');
  assert.equal(formatGoDuration(-3_000), '-3s');
});

test('what was written is read back the same, to the microsecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (micros) => {
      const ms = micros / 1_000;
      const back = parseGoDuration(formatGoDuration(ms));
      assert.ok(back !== undefined && Math.abs(back - ms) < 0.000_5, `${ms} became ${back}`);
    }),
  );
});
