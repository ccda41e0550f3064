import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { FINISH_MS, sendRequest } from './sent-request.ts';

function send(reads: boolean) {
  const clock = new FakeClock();
  const [caller, term] = [new AbortController(), new AbortController()];
  const cloud = Promise.withResolvers<string>();
  const seen: AbortSignal[] = [];
  const { answer, over, settled } = sendRequest(
    (signal) => {
      seen.push(signal);
      return cloud.promise;
    },
    { clock, signal: caller.signal, ended: term.signal, reads },
  );
  const story: string[] = [];
  answer.then(
    (text) => story.push(text),
    (error: Error) => story.push(`caller: ${error.message}`),
  );
  void over.then((how) => story.push(how));
  void settled.then(() => story.push('settled'));
  return { clock, caller, term, cloud, story, cut: () => seen[0]?.aborted };
}

test('a request that is answered is over, and leaves nothing behind', async () => {
  const { clock, caller, cloud, story, term } = send(false);
  cloud.resolve('made');
  await clock.settle();
  assert.deepEqual(story.toSorted(), ['ended', 'made', 'settled']);
  assert.equal(clock.pendingTimers, 0);
  for (const { signal } of [caller, term]) assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a write goes on when its caller gives up, who hears of it at once, and is over with its answer', async () => {
  const { clock, caller, cloud, cut, story } = send(false);
  caller.abort(new Error('stop'));
  await clock.advance(FINISH_MS - 1);
  assert.deepEqual(story, ['caller: stop']);
  assert.equal(cut(), false);
  cloud.resolve('made');
  await clock.settle();
  assert.deepEqual(story, ['caller: stop', 'ended', 'settled']);
  assert.equal(clock.pendingTimers, 0);
});

test('a write that does not end in time is cut off, and its outcome is unknown', async () => {
  const { clock, caller, cut, story } = send(false);
  caller.abort(new Error('stop'));
  await clock.advance(FINISH_MS);
  assert.deepEqual(story, ['caller: stop', 'unknown']);
  assert.equal(cut(), true);
  // It is deaf: who counts what is being sent does not wait for ever.
  await clock.advance(60_000);
  assert.deepEqual(story, ['caller: stop', 'unknown', 'settled']);
});

test('a write is cut off at once when its own time is up, and when leadership is lost', async () => {
  for (const whose of ['caller', 'term'] as const) {
    const sent = send(false);
    sent[whose].abort(new DOMException('60 s', 'TimeoutError'));
    await sent.clock.settle();
    assert.deepEqual(sent.story.toSorted(), ['caller: 60 s', 'unknown']);
    assert.equal(sent.cut(), true);
  }
});

test('leadership that is lost while a write is let finish cuts it off', async () => {
  const { clock, caller, cut, story, term } = send(false);
  caller.abort(new Error('stop'));
  term.abort(new Error('lost'));
  await clock.settle();
  assert.deepEqual(story, ['caller: stop', 'unknown']);
  assert.equal(cut(), true);
});

test('a read is cut off at once, and nobody minds', async () => {
  const { clock, caller, cut, story } = send(true);
  caller.abort(new Error('stop'));
  await clock.settle();
  assert.deepEqual(story.toSorted(), ['caller: stop', 'cut-off']);
  assert.equal(cut(), true);
});

test('a request that was cut off when the leadership was lost sets no second timer when its caller gives up too', async () => {
  const { clock, caller, story, term } = send(false);
  term.abort(new Error('lost'));
  caller.abort(new Error('stop'));
  await clock.settle();
  assert.equal(clock.pendingTimers, 1);
  await clock.advance(60_000);
  assert.equal(story.at(-1), 'settled');
  assert.equal(clock.pendingTimers, 0);
});
