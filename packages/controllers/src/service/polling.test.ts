import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onGrid } from './polling.ts';

test('Services that are due within a tenth of a second are looked at together', () => {
  const dueAt = [3_310.25, 3_355, 3_399.5].map((now) => now + onGrid(921, now));
  assert.deepEqual(dueAt, [4_300, 4_300, 4_400]);
});

test('a wait is never shorter, and of ten seconds and more within five seconds', () => {
  assert.equal(onGrid(1_000, 2_000), 1_000);
  assert.equal(onGrid(30_000, 1_234), 33_766);
  assert.equal(onGrid(9_999, 1), 9_999);
  // Of less than ten seconds within a tenth of one; from half a second on.
  for (const [afterMs, mostMs] of [
    [500, 100],
    [9_999, 100],
    [10_000, 5_000],
  ] as const) {
    for (const now of [0, 50, 77.5, 1_234]) {
      const late = onGrid(afterMs, now) - afterMs;
      assert.ok(late >= 0 && late < mostMs, `${afterMs} at ${now}: ${late} later`);
      assert.equal((now + afterMs + late) % mostMs, 0, `${afterMs} at ${now}`);
    }
  }
});

test('what is due soon is not put off', () => {
  assert.equal(onGrid(1, 77), 1);
  assert.equal(onGrid(499, 77), 499);
});
