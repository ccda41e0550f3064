import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilAborted } from './until-aborted.ts';

const never = new Promise<never>(() => {});

test('work is waited for until it ends or the signal aborts, also one that has aborted before', async () => {
  assert.equal(await untilAborted(Promise.resolve(1), new AbortController().signal), 1);
  const controller = new AbortController();
  const waiting = untilAborted(never, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/u);
  await assert.rejects(untilAborted(never, controller.signal), /enough/u);
});
