import { strict as assert } from 'node:assert';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { raceAbort } from './race-abort.ts';

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
