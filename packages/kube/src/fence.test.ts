import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fence } from './fence.ts';
import { isNotLeaderError, LeadershipTerm } from './leadership.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

const HOLD_MS = 12_000;
const PATCH: TransportRequest = { method: 'PATCH', path: '/api/v1/nodes/a' };

function setUp() {
  const clock = new FakeClock();
  const term = new LeadershipTerm({ identity: 'a', clock, holdMs: HOLD_MS, release: async () => {} });
  term.extend({ monotonic: 0, wall: clock.now() });
  const sent: { readonly request: TransportRequest; readonly at: number; answer: () => void }[] = [];
  let closed = false;
  const inner: Transport = {
    send: (request) =>
      new Promise<TransportResponse>((resolve, reject) => {
        request.signal?.addEventListener('abort', () => reject(request.signal?.reason as Error), { once: true });
        const answer = (): void => resolve({ status: 200, headers: {}, body: (async function* () {})() });
        sent.push({ request, at: clock.monotonic(), answer });
      }),
    [Symbol.asyncDispose]: async () => void (closed = true),
  };
  return { clock, term, sent, transport: fence(term)(inner), closed: () => closed };
}

test('while leading, requests go through unchanged but for their signal', async () => {
  const { sent, transport, term, closed } = setUp();
  const answer = transport.send(PATCH);
  assert.equal(sent[0]?.request.path, PATCH.path);
  assert.equal(term.inFlight, 1);
  sent[0]?.answer();
  assert.equal((await answer).status, 200);
  assert.equal(term.inFlight, 0);
  await transport[Symbol.asyncDispose]();
  assert.equal(closed(), true);
});

test('nothing starts from the deadline on, and the refusal says so', async () => {
  const { sent, transport, clock, term } = setUp();
  await clock.advance(HOLD_MS - 1);
  assert.equal(term.isLeader(), true);
  await clock.advance(1);
  await assert.rejects(transport.send(PATCH), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'not-leader');
    assert.match(error.message, /not renewed in time\. Nothing was sent/);
    return true;
  });
  assert.deepEqual(sent, []);
});

test('a request that waits for its connection while the process is stopped is not written after the deadline', async () => {
  const { sent, transport, clock } = setUp();
  let asked = 0;
  const own = { ...PATCH, beforeSend: () => void (asked += 1) };
  transport.send(own).catch(() => {});
  const { beforeSend } = sent[0]?.request ?? {};
  assert.ok(beforeSend);
  beforeSend();
  await clock.advance(HOLD_MS);
  assert.throws(beforeSend, (error) => isNotLeaderError(error));
  assert.equal(asked, 2, 'the request is asked too');
});

test('what is in flight when the term ends is aborted, with or without a signal of its own', async () => {
  const { transport, clock, sent } = setUp();
  const own = new AbortController();
  const both = [transport.send(PATCH), transport.send({ ...PATCH, signal: own.signal })];
  const third = transport.send({ ...PATCH, signal: own.signal });
  sent[2]?.answer();
  await third;
  const results = Promise.allSettled(both);
  await clock.advance(HOLD_MS);
  for (const result of await results) {
    assert.equal(result.status, 'rejected');
    assert.ok(result.status === 'rejected' && isNotLeaderError(result.reason));
  }
  assert.equal(own.signal.aborted, false);
});

test('the signal of a request still aborts it', async () => {
  const { transport, term } = setUp();
  const own = new AbortController();
  const answer = transport.send({ ...PATCH, signal: own.signal });
  own.abort(new Error('mine'));
  await assert.rejects(answer, /mine/);
  assert.equal(term.inFlight, 0);
});

test('no request starts at or after the last deadline, whatever renewals and sends come in whatever order', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 8_000 }) }),
    fc.record({ do: fc.constant('renewed' as const), ms: fc.integer({ min: 0, max: 5_000 }) }),
    fc.constant({ do: 'send' as const, ms: 0 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { clock, term, sent, transport } = setUp();
      // What another candidate could do: take the lease this long after the newest renewal was sent.
      let lastSentAt = 0;
      let ended = false;
      for (const one of steps) {
        if (one.do === 'advance') await clock.advance(one.ms);
        ended ||= clock.monotonic() >= lastSentAt + HOLD_MS;
        if (one.do === 'renewed') {
          const sentAt = Math.max(lastSentAt, clock.monotonic() - one.ms);
          if (!ended) lastSentAt = sentAt;
          term.extend({ monotonic: sentAt, wall: clock.now() - (clock.monotonic() - sentAt) });
        } else if (one.do === 'send') {
          const before = sent.length;
          transport.send(PATCH).catch(() => {});
          assert.equal(sent.length - before, ended ? 0 : 1);
        }
      }
    }),
    { numRuns: 100 },
  );
});
