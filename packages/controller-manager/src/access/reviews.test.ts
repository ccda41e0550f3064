import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { PeerQuestions } from './peer-questions.ts';
import { authorizeBySubjectAccess } from './subject-access.ts';
import { authenticateByToken } from './token-user.ts';
import type { AccessRequest } from './user.ts';

/** A client whose only verb is `create`. */
function reviewing(answer: (spec: Record<string, unknown>) => unknown): {
  readonly client: Client;
  readonly asked: unknown[];
} {
  const asked: unknown[] = [];
  const create = (review: { spec: Record<string, unknown> }): Promise<unknown> => {
    asked.push(review.spec);
    return Promise.resolve().then(() => ({ ...review, status: answer(review.spec) }));
  };
  return { client: { of: () => ({ create }) } as unknown as Client, asked };
}

const questions = new PeerQuestions();
const request = (authorization?: string): AccessRequest => ({
  method: 'GET',
  path: '/metrics',
  peer: '192.0.2.1',
  headers: authorization === undefined ? {} : { authorization: [authorization] },
});

test('a token that the API server knows gives its user, and is asked about once a while', async () => {
  const clock = new FakeClock();
  const { asked, client } = reviewing(() => ({
    authenticated: true,
    user: { username: 'me', uid: '1', groups: ['g'] },
  }));
  const authenticate = authenticateByToken({ client, clock, questions, cacheTtlMs: 10_000 });
  const users = await Promise.all([authenticate(request('Bearer abc')), authenticate(request('bearer abc'))]);
  assert.deepEqual(users[0], { name: 'me', groups: ['g'], uid: '1' });
  await authenticate(request('Bearer abc'));
  assert.deepEqual(asked, [{ token: 'abc' }]);
  await clock.advance(10_000);
  await authenticate(request('Bearer abc'));
  assert.equal(asked.length, 2);
});

test('a token that it does not know is refused, for a while without asking again; no token is nobody', async () => {
  const clock = new FakeClock();
  const { asked, client } = reviewing(() => ({ authenticated: false, user: { username: 'me' } }));
  const authenticate = authenticateByToken({ client, clock, questions, cacheTtlMs: 10_000 });
  await assert.rejects(authenticate(request('Bearer abc')), { code: 'unauthenticated' });
  await assert.rejects(authenticate(request('Bearer abc')), { code: 'unauthenticated' });
  assert.equal(asked.length, 1);
  assert.equal(await authenticate(request()), undefined);
  assert.equal(await authenticate(request('Basic abc')), undefined);
});

test('a failure is not remembered', async () => {
  let broken = true;
  const { client } = reviewing(() => {
    if (broken) throw new Error('down');
    return { authenticated: true, user: { username: 'me' } };
  });
  const authenticate = authenticateByToken({ client, clock: new FakeClock(), questions, cacheTtlMs: 10_000 });
  await assert.rejects(authenticate(request('Bearer abc')), /down/u);
  broken = false;
  assert.equal((await authenticate(request('Bearer abc')))?.name, 'me');
});

test('the API server is asked what a user may, and its yes and no hold as long as they may', async () => {
  const clock = new FakeClock();
  const { asked, client } = reviewing(({ user }) => ({ allowed: user !== 'nobody', denied: user === 'denied' }));
  const authorize = authorizeBySubjectAccess({
    client,
    clock,
    questions,
    authorizedTtlMs: 10_000,
    unauthorizedTtlMs: 5_000,
  });
  const me = { name: 'me', groups: ['g'], uid: '1', extra: { scope: ['a'] } };
  assert.equal(await authorize(me, request()), true);
  assert.deepEqual(asked, [
    {
      user: 'me',
      groups: ['g'],
      uid: '1',
      extra: { scope: ['a'] },
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    },
  ]);
  assert.equal(await authorize({ name: 'denied', groups: [] }, request()), false);
  assert.equal(await authorize({ name: 'nobody', groups: [] }, request()), false);
  await clock.advance(5_000);
  await authorize(me, request());
  await authorize({ name: 'nobody', groups: [] }, request());
  assert.equal(asked.length, 4);
});

test('callers cannot fill the memory: neither with long paths nor with many', async () => {
  const { asked, client } = reviewing(() => ({ allowed: false }));
  const authorize = authorizeBySubjectAccess({
    client,
    clock: new FakeClock(),
    questions,
    authorizedTtlMs: 1,
    unauthorizedTtlMs: 1,
  });
  const long = { ...request(), path: `/${'x'.repeat(20_000)}` };
  await authorize({ name: 'me', groups: [] }, long);
  await authorize({ name: 'me', groups: [] }, long);
  assert.equal(asked.length, 2);
});
