import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListSizes } from './list-sizes.ts';

test('what may be a long list is read one by one up to a number that grows with it, and a list is never more requests than two', () => {
  const sizes = new ListSizes();
  const fewest = (each?: number): number => {
    let count = 0;
    while (!sizes.isWorthIt('pools', count, each)) count++;
    return count;
  };
  assert.equal(fewest(), 3);
  sizes.note('pools', 20);
  assert.equal(fewest(), 3);
  sizes.note('pools', 1_000);
  assert.equal(fewest(), 41);
  assert.equal(fewest(2), 21);
  assert.equal(sizes.isWorthIt('listeners', 3), true);
  // It has shrunk since: the next list says so.
  sizes.note('pools', 60);
  assert.equal(fewest(), 4);
});
