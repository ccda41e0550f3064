import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';

test('the system clock fires a timer once, and not at all when it was taken back', async () => {
  const fired: string[] = [];
  systemClock.setTimer(0, () => fired.push('cancelled')).cancel();
  await new Promise<void>((resolve) => {
    systemClock.setTimer(1, () => {
      fired.push('fired');
      resolve();
    });
  });
  assert.deepEqual(fired, ['fired']);
});

test('a delay longer than Node can take does not fire at once', async () => {
  let fired = false;
  const timer = systemClock.setTimer(2 ** 31 + 5, () => (fired = true), { unref: true });
  await systemClock.sleep(5);
  timer.cancel();
  assert.equal(fired, false);
});

test('sleep rejects with the reason of a signal that has aborted already', async () => {
  await assert.rejects(systemClock.sleep(60_000, AbortSignal.abort(new Error('stopped'))), /stopped/);
});

test('the monotonic clock grows and the wall clock is that of the machine', async () => {
  const before = systemClock.monotonic();
  await systemClock.sleep(2);
  assert.ok(systemClock.monotonic() > before);
  const [from, now, to] = [new Date().getTime(), systemClock.now(), new Date().getTime()];
  assert.ok(from <= now && now <= to, `${now} is not from ${from} to ${to}`);
});
