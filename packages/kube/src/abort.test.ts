import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { onAbort, raceAbort, whenAborted } from './abort.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('all that wait are called once, in order, through one listener', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const same = (): void => void calls.push('same');
  onAbort(controller.signal, same);
  onAbort(controller.signal, same);
  onAbort(controller.signal, () => calls.push('last'));
  assert.equal(listeners(controller.signal), 1);
  controller.abort();
  assert.deepEqual(calls, ['same', 'same', 'last']);
});

test('what was taken back is not called, and the last one leaves nothing on the signal', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const [first, second] = [1, 2].map((which) => onAbort(controller.signal, () => calls.push(`called ${which}`)));
  first?.();
  first?.();
  assert.equal(listeners(controller.signal), 1);
  second?.();
  assert.equal(listeners(controller.signal), 0);
  onAbort(controller.signal, () => calls.push('again'));
  controller.abort();
  assert.deepEqual(calls, ['again']);
});

test('one that is taken back by another while the signal aborts is not called', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  let second = (): void => {};
  onAbort(controller.signal, () => second());
  second = onAbort(controller.signal, () => calls.push('second'));
  controller.abort();
  assert.deepEqual(calls, []);
});

test('a signal that has aborted calls nobody', () => {
  const calls: string[] = [];
  onAbort(AbortSignal.abort(), () => calls.push('late'));
  assert.deepEqual(calls, []);
});

test('one that throws does not keep the others from being called, and is not hidden', async () => {
  const controller = new AbortController();
  const calls: string[] = [];
  onAbort(controller.signal, () => {
    throw new Error('thrown by a listener');
  });
  onAbort(controller.signal, () => calls.push('next'));
  const uncaught = new Promise<Error>((resolve) => process.setUncaughtExceptionCaptureCallback(resolve));
  controller.abort();
  assert.deepEqual(calls, ['next']);
  assert.match(String(await uncaught), /thrown by a listener/);
  process.setUncaughtExceptionCaptureCallback(null);
});

test('an abort can be waited for, before and after', async () => {
  const controller = new AbortController();
  const waiting = whenAborted(controller.signal);
  controller.abort();
  await waiting;
  await whenAborted(controller.signal);
});

test('settles as the work does, and leaves no listener on a signal that lives on', async () => {
  const { signal } = new AbortController();
  assert.equal(await raceAbort(Promise.resolve(1), signal), 1);
  assert.equal(await raceAbort(2, signal), 2);
  await assert.rejects(raceAbort(Promise.reject(new Error('down')), signal), /down/);
  await new Promise<void>((resolve) => void setImmediate(resolve));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('rejects at the abort, and at once when it has aborted; what the work does later is dropped', async () => {
  const caller = new AbortController();
  const late = Promise.withResolvers<never>();
  const waiting = raceAbort(late.promise, caller.signal);
  caller.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  await assert.rejects(raceAbort(late.promise, caller.signal), /gone/);
  late.reject(new Error('nobody hears this'));
  await new Promise<void>((resolve) => void setImmediate(resolve));
});

test('one that comes while the signal aborts is not called, for it has aborted already, and nothing is kept for it', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  onAbort(controller.signal, () => {
    calls.push('first');
    onAbort(controller.signal, () => calls.push('late'));
  });
  controller.abort();
  onAbort(controller.signal, () => calls.push('later'))();
  assert.deepEqual(calls, ['first']);
});
