import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, silentLogger, type Client, type LogFields } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import {
  createAccessPolicy,
  healthPaths,
  isLoopback,
  type AccessPolicy,
  type AccessPolicyOptions,
} from './access-policy.ts';
import { PeerQuestions } from './peer-questions.ts';
import { authorizeBySubjectAccess } from './subject-access.ts';
import { authenticateByToken } from './token-user.ts';
import { UnauthenticatedError, type AccessRequest, type Authenticate } from './user.ts';

test('loopback addresses are known in every spelling, and nothing else is one', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1']) {
    assert.equal(isLoopback(address), true, address);
  }
  for (const address of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '128.0.0.1',
    'localhost',
    '127.0.0.1.evil.example',
  ]) {
    assert.equal(isLoopback(address), false, address);
  }
});

function policy(options: Partial<AccessPolicyOptions>): AccessPolicy {
  return createAccessPolicy({
    bindAddress: '0.0.0.0',
    alwaysAllow: healthPaths,
    clock: new FakeClock(),
    logger: silentLogger,
    metrics: noMetrics,
    ...options,
  });
}

/** 200 when it is allowed. */
async function ask(
  subject: AccessPolicy,
  path: string,
  headers: AccessRequest['headers'] = {},
  method = 'GET',
  peer = '192.0.2.1',
): Promise<number> {
  const decision = await subject.decide({ method, path, headers, peer });
  return decision.allowed ? 200 : decision.status;
}

const asMe: Authenticate = ({ headers }) => {
  if (headers['authorization'] === undefined) return Promise.resolve(undefined);
  if (headers['authorization'] === 'wrong') return Promise.reject(new UnauthenticatedError('wrong'));
  const groups = headers['authorization'] === 'root' ? ['system:masters'] : [];
  return Promise.resolve({ name: 'me', groups });
};

test('on a loopback address all is served while there is nobody to ask, but writes and what is guarded', async () => {
  const loopback = { bindAddress: '127.0.0.1', alwaysAllow: [], guarded: ['/explain/'] } as const;
  const subject = policy(loopback);
  assert.equal(await ask(subject, '/metrics'), 200);
  assert.equal(await ask(subject, '/explain/node/a'), 403);
  assert.equal(await ask(subject, '/debug/flags/v', {}, 'PUT'), 403);
  const decision = await subject.decide({ method: 'GET', path: '/explain/node/a', headers: {}, peer: '' });
  assert.match(decision.allowed ? '' : decision.message, /--insecure-loopback/u);
  const insecure = policy({ ...loopback, insecureLoopback: true });
  assert.equal(await ask(insecure, '/explain/node/a'), 200);
  assert.equal(await ask(insecure, '/debug/flags/v', {}, 'PUT'), 200);
  // Elsewhere it opens nothing.
  assert.equal(await ask(policy({ ...loopback, bindAddress: '0.0.0.0', insecureLoopback: true }), '/metrics'), 403);
});

test('on any other address only what is listed is', async () => {
  const closed = policy({});
  for (const path of ['/healthz', '/livez', '/readyz', '/readyz/ping'])
    assert.equal(await ask(closed, path), 200, path);
  for (const path of ['/metrics', '/configz', '/version', '/', '/healthzz', '/x/healthz', '//healthz']) {
    assert.equal(await ask(closed, path), 403, path);
  }
  assert.equal(await ask(policy({ alwaysAllow: ['/metrics'] }), '/metrics'), 200);
  assert.equal(await ask(policy({ alwaysAllow: ['/metrics'] }), '/healthz'), 403);
  assert.equal(await ask(policy({ alwaysAllow: ['/debug/*'] }), '/debug/x'), 200);
});

test('with an API server to ask, a loopback address is no excuse', async () => {
  const asked: string[] = [];
  const subject = policy({
    bindAddress: '127.0.0.1',
    authenticators: [asMe],
    authorize: ({ groups, name }, { method, path }) => {
      asked.push(`${name} ${groups.join()} ${method} ${path}`);
      return Promise.resolve(path === '/metrics' && name === 'me');
    },
  });
  assert.equal(await ask(subject, '/metrics', { authorization: 'me' }), 200);
  assert.equal(await ask(subject, '/configz', { authorization: 'me' }), 403);
  assert.equal(await ask(subject, '/metrics'), 403);
  assert.deepEqual(asked, [
    'me system:authenticated GET /metrics',
    'me system:authenticated GET /configz',
    'system:anonymous system:unauthenticated GET /metrics',
  ]);
});

test('wrong credentials are 401 and not anonymous; health is served to whoever shows them', async () => {
  const subject = policy({ authenticators: [asMe], authorize: () => Promise.resolve(true) });
  assert.equal(await ask(subject, '/metrics', { authorization: 'wrong' }), 401);
  assert.equal(await ask(subject, '/healthz', { authorization: 'wrong' }), 200);
  assert.equal(await ask(subject, '/metrics'), 200);
});

test('system:masters may everything, without a question', async () => {
  const subject = policy({ authenticators: [asMe], authorize: () => assert.fail('is not asked') });
  assert.equal(await ask(subject, '/metrics', { authorization: 'root' }), 200);
});

test('an authenticator that fails does not hide one that knows the caller', async () => {
  const broken: Authenticate = () => Promise.reject(new Error('not reachable'));
  const subject = policy({ authenticators: [broken, asMe], authorize: () => Promise.resolve(true) });
  assert.equal(await ask(subject, '/metrics', { authorization: 'me' }), 200);
  assert.equal(await ask(subject, '/metrics'), 401);
});

test('an API server that cannot be asked is no yes', async () => {
  const subject = policy({ authenticators: [asMe], authorize: () => Promise.reject(new Error('down')) });
  assert.equal(await ask(subject, '/metrics', { authorization: 'me' }), 500);
});

test('of one peer sixteen requests wait for the API server at most: those of others wait for so many, and health for none', async () => {
  const asked: string[] = [];
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const warned: unknown[] = [];
  const questions = new PeerQuestions();
  const subject = policy({
    logger: { ...silentLogger, warn: (_, { peer }: LogFields = {}) => void warned.push(peer) },
    authenticators: [asMe],
    authorize: (_user, { path, peer }) =>
      questions.ask(peer, async () => {
        asked.push(path);
        await answered;
        return true;
      }),
  });
  const from = (peer: string, path: string): Promise<number> => ask(subject, path, {}, 'GET', peer);
  const flood = Array.from({ length: 100 }, (_, i) => from('198.51.100.1', `/${i}`));
  const scrape = from('192.0.2.1', '/metrics');
  assert.equal(await from('198.51.100.1', '/healthz'), 200);
  assert.equal(await ask(subject, '/configz', { authorization: 'root' }), 200);
  await new Promise((resolve) => void setImmediate(resolve));
  assert.deepEqual(asked, [...Array.from({ length: 16 }, (_, i) => `/${i}`), '/metrics']);
  answer();
  assert.deepEqual(
    await Promise.all(flood),
    flood.map((_, i) => (i < 16 ? 200 : 429)),
  );
  assert.equal(await scrape, 200);
  assert.deepEqual(warned, ['198.51.100.1'], 'one line a minute');
  assert.equal(await from('198.51.100.1', '/later'), 200);
});

test('whoever shares an address with callers whose made-up tokens wait for the API server is served, when it need not be asked', async () => {
  let hangs = false;
  const asked: unknown[] = [];
  const create = async (review: { spec: { token?: string } }): Promise<unknown> => {
    asked.push(review.spec);
    if (hangs) await new Promise(() => {});
    const user = { username: review.spec.token };
    return { ...review, status: { authenticated: true, user, allowed: true } };
  };
  const client = { of: () => ({ create }) } as unknown as Client;
  const common = { client, clock: new FakeClock(), questions: new PeerQuestions() };
  const subject = policy({
    authenticators: [
      ({ headers }) => Promise.resolve(headers['certificate'] ? { name: 'a', groups: ['system:masters'] } : undefined),
      authenticateByToken({ ...common, cacheTtlMs: 10_000 }),
    ],
    authorize: authorizeBySubjectAccess({ ...common, authorizedTtlMs: 10_000, unauthorizedTtlMs: 10_000 }),
  });
  const scrape = (token: string): Promise<number> => ask(subject, '/metrics', { authorization: `Bearer ${token}` });
  assert.equal(await scrape('prom'), 200);
  hangs = true;
  for (let i = 0; i < 16; i++) void scrape(`made-up-${i}`);
  await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(asked.length, 2 + 16);
  assert.equal(await scrape('prom'), 200);
  assert.equal(await ask(subject, '/configz', { certificate: 'a' }), 200);
  assert.deepEqual([await scrape('made-up'), await ask(subject, '/anonymous')], [429, 429]);
  assert.equal(asked.length, 2 + 16);
});

test('what callers bring about is logged once a minute for each cause, whatever they ask for', async () => {
  const lines: string[] = [];
  const warn = (message: string, { path }: LogFields = {}): void => void lines.push(`${message}: ${String(path)}`);
  const clock = new FakeClock();
  let down = false;
  const subject = policy({
    clock,
    logger: { ...silentLogger, warn, verbose: (_level, ...line) => warn(...line) },
    authenticators: [(request) => (down ? Promise.reject(new Error('down')) : asMe(request))],
    authorize: () => Promise.reject(new Error('down')),
  });
  const flood = async (): Promise<void> => {
    lines.length = 0;
    for (let i = 0; i < 100; i++) {
      down = i >= 50;
      await ask(subject, `/${i}`);
      await ask(subject, `/${i}`, { authorization: 'wrong' });
    }
  };
  const once = [
    'Authorization could not be completed: /0',
    'Request rejected: /0',
    'Authentication could not be completed: /50',
  ];
  await flood();
  assert.deepEqual(lines, once);
  await clock.advance(59_999);
  await flood();
  assert.deepEqual(lines, []);
  await clock.advance(1);
  await flood();
  assert.deepEqual(lines, once);
});
