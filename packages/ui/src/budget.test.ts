import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BudgetStatus } from '@outrigger/status';
import { Budget } from './budget.ts';

const at = (requests: number, throttled = 0): { readonly value: readonly BudgetStatus[] } => ({
  value: [{ provider: 'a', requests, failed: 0, throttled, inFlight: 0, waited: 0 }],
});

test('samples are the difference to the reading before; another leader begins anew, and what is unknown is no sample', () => {
  const budget = new Budget();
  assert.deepEqual(budget.add(0, at(100)), []);
  const first = { at: 30_000, perMinute: 20, throttledPerMinute: 2 };
  assert.deepEqual(budget.add(30_000, at(110, 1)), [first]);
  assert.deepEqual(budget.add(40_000, { unknown: 'the leader does not answer' }), [first]);
  assert.deepEqual(budget.add(50_000, at(3)), [first]);
  assert.deepEqual(budget.add(110_000, at(4)).at(-1), { at: 110_000, perMinute: 1, throttledPerMinute: 0 });
  for (let i = 1; i <= 200; i++) budget.add(110_000 + i * 1_000, at(4 + i));
  assert.equal(budget.add(999_000, at(999)).length, 120);
});
