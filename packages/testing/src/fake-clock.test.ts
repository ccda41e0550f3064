import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from './fake-clock.ts';

test('sleepers in a row all wake within one advance', async () => {
  const clock = new FakeClock();
  const woken: number[] = [];
  const sleeper = (async () => {
    for (let i = 0; i < 3; i++) {
      await clock.sleep(1_000);
      woken.push(clock.monotonic());
    }
  })();
  await clock.advance(3_000);
  await sleeper;
  assert.deepEqual(woken, [1_000, 2_000, 3_000]);
});

test('timers fire in order of time, then of setting; a cancelled one never does', async () => {
  const clock = new FakeClock();
  const fired: string[] = [];
  clock.setTimer(20, () => fired.push('late'));
  clock.setTimer(10, () => fired.push('first'));
  clock.setTimer(10, () => fired.push('second'));
  clock.setTimer(5, () => fired.push('never')).cancel();
  await clock.advance(15);
  assert.deepEqual(fired, ['first', 'second']);
  assert.equal(clock.pendingTimers, 1);
  assert.equal(clock.nextTimerIn, 5);
});

test('an aborted sleep rejects with the reason and leaves no timer', async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const sleep = clock.sleep(1_000, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(sleep, /enough/);
  assert.equal(clock.pendingTimers, 0);
});

test('the wall clock can jump while the monotonic one does not', async () => {
  const clock = new FakeClock(1_000);
  clock.skewWallClock(-500);
  await clock.advance(100);
  assert.equal(clock.now(), 600);
  assert.equal(clock.monotonic(), 100);
});
