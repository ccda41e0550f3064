import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { onAbort } from './on-abort.ts';

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
