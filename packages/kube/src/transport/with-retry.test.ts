import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { silentLogger } from '../logger.ts';
import type { TransportRequest } from '../transport.ts';
import { scriptedTransport } from './scripted-transport.suite.ts';
import { TransportError } from './transport-error.ts';
import { withRetry } from './with-retry.ts';

type Entry = Parameters<typeof scriptedTransport>[0][number];

function retrying(script: readonly Entry[], limits: { maxRetries?: number; maxTotalMs?: number } = {}) {
  const clock = new FakeClock();
  const inner = scriptedTransport(script);
  const transport = withRetry({ clock, logger: silentLogger, random: () => 0.5, ...limits })(inner);
  return { clock, inner, transport };
}

const request = (method: TransportRequest['method'], more: Partial<TransportRequest> = {}): TransportRequest => ({
  method,
  path: '/x',
  ...more,
});
const lost = (sent: boolean): TransportError => new TransportError('connection-reset', 'https://a', 'reset', { sent });
const throttled = (after?: string): Entry => ({
  status: 429,
  ...(after !== undefined && { headers: { 'retry-after': after } }),
});

test('waits as long as the server says, then sends again', async () => {
  const { clock, inner, transport } = retrying([throttled('7'), { status: 200 }]);
  const answer = transport.send(request('POST'));
  await clock.advance(6_999);
  assert.equal(inner.requests.length, 1);
  assert.equal(inner.settled, 1, 'the answer nobody wants is read');
  await clock.advance(1);
  assert.equal((await answer).status, 200);
  assert.equal(inner.requests.length, 2);
});

test('a 429 without Retry-After waits a second', async () => {
  const { clock, inner, transport } = retrying([throttled(), { status: 200 }]);
  const answer = transport.send(request('PATCH'));
  await clock.advance(1_000);
  assert.equal((await answer).status, 200);
  assert.equal(inner.requests.length, 2);
});

test('gives the last answer, unread, when the wait would be longer than all the time there is', async () => {
  const { inner, transport } = retrying([throttled('61')]);
  assert.equal((await transport.send(request('GET'))).status, 429);
  assert.equal(inner.requests.length, 1);
  assert.equal(inner.settled, 0);
});

test('an abort ends the wait at once', async () => {
  const { clock, inner, transport } = retrying([throttled('30')]);
  const abort = new AbortController();
  const answer = transport.send(request('GET', { signal: abort.signal }));
  answer.catch(() => undefined);
  await clock.settle();
  abort.abort(new Error('stop'));
  await assert.rejects(answer, /stop/);
  assert.equal(inner.requests.length, 1);
  assert.equal(clock.pendingTimers, 0);
});

test('5xx is repeated only with Retry-After and only where a second execution changes nothing', async () => {
  const unavailable: Entry = { status: 503, headers: { 'retry-after': '1' } };
  for (const [method, entry, expected] of [
    ['GET', unavailable, 2],
    ['PUT', unavailable, 2],
    ['DELETE', unavailable, 2],
    ['POST', unavailable, 1],
    ['PATCH', unavailable, 1],
    ['GET', { status: 500 }, 1],
    ['GET', { status: 409, headers: { 'retry-after': '1' } }, 1],
  ] as const) {
    const { clock, inner, transport } = retrying([entry, { status: 200 }]);
    const answer = transport.send(request(method));
    await clock.advance(5_000);
    await answer;
    assert.equal(inner.requests.length, expected, `${method} ${entry.status}`);
  }
});

test('a 504 of a read that names a version is not repeated: the server has waited for that version already', async () => {
  const late = { status: 504, headers: { 'retry-after': '1' } };
  for (const [path, entry, expected] of [
    ['/api/v1/nodes?limit=500&resourceVersion=99', late, 1],
    ['/api/v1/nodes/a?resourceVersion=99', late, 1],
    // Any version will do, or the newest: there is nothing to wait for.
    ['/api/v1/nodes?resourceVersion=0', late, 2],
    ['/api/v1/nodes?limit=500', late, 2],
    // Overload passes, whatever was asked.
    ['/api/v1/nodes?resourceVersion=99', { status: 503, headers: { 'retry-after': '1' } }, 2],
    ['/api/v1/nodes?resourceVersion=99', { status: 429, headers: { 'retry-after': '1' } }, 2],
  ] as const) {
    const { clock, inner, transport } = retrying([entry, { status: 200 }]);
    const answer = transport.send(request('GET', { path }));
    await clock.advance(5_000);
    await answer;
    assert.equal(inner.requests.length, expected, `${entry.status} of ${path}`);
  }
});

test('watches and leases are never repeated here', async () => {
  for (const traffic of ['watch', 'lease'] as const) {
    const { inner, transport } = retrying([throttled('0'), { status: 200 }]);
    assert.equal((await transport.send(request('GET', { traffic }))).status, 429);
    assert.equal(inner.requests.length, 1);
  }
});

test('a lost connection is tried again three times, and then the error is the caller’s', async () => {
  const { clock, inner, transport } = retrying([lost(true)]);
  const answer = transport.send(request('GET'));
  answer.catch(() => undefined);
  await clock.advance(10_000);
  await assert.rejects(answer, { code: 'connection-reset' });
  assert.equal(inner.requests.length, 4);
});

test('what is not of the network is thrown at once', async () => {
  for (const error of [new Error('fence'), new TransportError('timeout', 'https://a', 'late', { sent: true })]) {
    const { inner, transport } = retrying([error]);
    await assert.rejects(transport.send(request('GET')), error);
    assert.equal(inner.requests.length, 1);
  }
});

test('property: a request that may have taken effect is never executed twice, unless that changes nothing', async () => {
  const entry: fc.Arbitrary<Entry> = fc.oneof(
    fc.constant(lost(true)),
    fc.constant(lost(false)),
    fc.record({
      status: fc.constantFrom(200, 409, 429, 500, 503, 504),
      headers: fc.constantFrom({}, { 'retry-after': '0' }, { 'retry-after': '3' }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
      async (script, method) => {
        const { clock, inner, transport } = retrying(script, { maxRetries: 5 });
        const answer = transport.send(request(method)).catch(() => undefined);
        await clock.advance(120_000);
        await answer;
        assert.ok(inner.requests.length <= 6);
        for (let i = 0; i < inner.requests.length - 1; i++) {
          const outcome = script[Math.min(i, script.length - 1)];
          const harmless = method === 'GET' || method === 'PUT' || method === 'DELETE';
          if (outcome instanceof TransportError) assert.ok(!outcome.sent || method === 'GET');
          else if (outcome && 'status' in outcome)
            assert.ok(outcome.status === 429 || (harmless && outcome.status >= 500));
        }
        assert.equal(clock.pendingTimers, 0);
      },
    ),
    { numRuns: 60 },
  );
});
