import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnBudget } from './turn-budget.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('what is more than one turn may take waits for the next ones, in the order of the calls', async () => {
  const budget = new TurnBudget(20);
  const done: number[] = [];
  const all = [1, 2, 3, 4, 5].map(async (item) => {
    await budget.spend(10);
    done.push(item);
  });
  await turn();
  assert.deepEqual(done, [1, 2]);
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4]);
  await Promise.all(all);
  assert.deepEqual(done, [1, 2, 3, 4, 5]);
});
