import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnBudget, TurnShare } from './turn-budget.ts';

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

test('what takes longer than its share of a turn goes on in the next ones, in the order of the calls', async () => {
  let now = 0;
  const share = new TurnShare({ monotonic: () => now }, 4);
  const done: number[] = [];
  const all = [1, 2, 3, 4, 5].map(async (item) => {
    await share.take();
    now += 3;
    done.push(item);
  });
  await turn();
  assert.deepEqual(done, [1, 2]);
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4]);
  await Promise.all(all);
  assert.deepEqual(done, [1, 2, 3, 4, 5]);
  // Time that passes between turns is nobody's.
  await turn();
  now += 100;
  const later = [6, 7].map(async (item) => {
    await share.take();
    done.push(item);
  });
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4, 5, 6, 7]);
  await Promise.all(later);
});
