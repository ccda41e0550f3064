import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { HttpTransport, type HttpTransportOptions } from './http-transport.ts';

const answer = { status: 200, headers: new Headers(), text: () => Promise.resolve('{}') };

/** Never answers; ends as `fetch` does. */
const silent: NonNullable<HttpTransportOptions['fetch']> = (_url, { signal }) =>
  new Promise((_, reject) => {
    const end = (): void => reject(signal?.reason as Error);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
  });

test('a request leaves nothing with a signal that goes on', async (t) => {
  const composed = t.mock.method(AbortSignal, 'any');
  const clock = new FakeClock();
  const transport = new HttpTransport({ clock, fetch: () => Promise.resolve(answer as Response) });
  const { signal } = new AbortController();
  for (let i = 0; i < 10; i++) await transport.send({ method: 'GET', url: 'http://cloud/', headers: {} }, signal);
  await clock.settle();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(composed.mock.callCount(), 0);
  assert.equal(clock.pendingTimers, 0);
});

test('a request ends with its signal, with its reason, and else in time', async () => {
  const clock = new FakeClock();
  const transport = new HttpTransport({ clock, fetch: silent });
  const caller = new AbortController();
  const request = { method: 'GET', url: 'http://cloud/', headers: {} } as const;
  const left = assert.rejects(transport.send(request, caller.signal), /left/);
  caller.abort(new Error('left'));
  await left;
  await assert.rejects(transport.send(request, caller.signal), /left/);
  const late = assert.rejects(transport.send(request, new AbortController().signal, 2_000), (error) =>
    isCloudError(error, 'timeout'),
  );
  await clock.advance(2_000);
  await late;
});
