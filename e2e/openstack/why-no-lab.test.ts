import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { lastingLack, type Lack } from './why-no-lab.ts';

const NEVER: Lack = { why: 'the lab needs Linux', mayPass: false };
const NOW: Lack = { why: 'the archive does not answer', mayPass: true };

/** What is told after looks that see these, the last one for ever, and after how many milliseconds. */
async function outcome(...seen: readonly (Lack | undefined)[]) {
  const clock = new FakeClock();
  let looks = 0;
  const look = (): Promise<Lack | undefined> => Promise.resolve(seen[Math.min(looks++, seen.length - 1)]);
  const told = lastingLack(look, clock).then((why) => ({ why, ms: clock.monotonic() }));
  await clock.advance(3_600_000);
  return { ...(await told), looks };
}

test('a lab that can be had, and one that never can, are told at once', async () => {
  assert.deepEqual(await outcome(undefined), { why: undefined, looks: 1, ms: 0 });
  assert.deepEqual(await outcome(NEVER), { why: NEVER.why, looks: 1, ms: 0 });
});

test('what is missing for a moment is looked at again', async () => {
  assert.deepEqual(await outcome(NOW, NOW, undefined), { why: undefined, looks: 3, ms: 20_000 });
  assert.deepEqual(await outcome(NOW, NEVER), { why: NEVER.why, looks: 2, ms: 10_000 });
});

test('what is still missing after a minute and a half is told', async () => {
  assert.deepEqual(await outcome(NOW), { why: `${NOW.why} (looked at 10 times)`, looks: 10, ms: 90_000 });
});
