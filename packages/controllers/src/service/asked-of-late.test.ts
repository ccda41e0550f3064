import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { AskedOfLate } from './asked-of-late.ts';

test('what was asked counts half after five seconds', async () => {
  const clock = new FakeClock();
  const ofLate = new AskedOfLate(clock);
  ofLate.note('a', 8);
  await clock.advance(5_000);
  ofLate.note('a', 6);
  assert.equal(ofLate.of('a'), 10);
  await clock.advance(10_000);
  assert.equal(ofLate.of('a'), 2.5);
  assert.equal(ofLate.of('b'), 0);
});

test('of thousands, who has been quiet is forgotten and who has not is not', async () => {
  const clock = new FakeClock();
  const ofLate = new AskedOfLate(clock);
  for (let i = 0; i < 1_000; i++) ofLate.note(`quiet-${i}`, 1);
  await clock.advance(1_000);
  ofLate.note('much', 20);
  ofLate.note('new', 1);
  assert.deepEqual([ofLate.of('quiet-0'), ofLate.of('quiet-999'), ofLate.of('much'), ofLate.of('new')], [0, 0, 20, 1]);
});
