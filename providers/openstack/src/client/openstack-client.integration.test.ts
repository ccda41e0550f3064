import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CloudErrorCode } from '@outrigger/cloud-provider';
import { silentLogger, systemClock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import {
  openClient,
  passwordOf,
  startScriptedCloud,
  unauthorized,
  type ScriptedRequest,
} from './scripted-cloud.suite.ts';

const servers = {
  service: 'compute',
  operation: 'GET /servers',
  path: '/servers/detail',
  collection: 'servers',
} as const;
const one = { service: 'compute', operation: 'GET /servers/{id}', method: 'GET', path: '/servers/7d6f' } as const;
const code =
  (wanted: CloudErrorCode, message = /./u) =>
  (error: unknown) => {
    assert.ok(isCloudError(error, wanted), String(error));
    assert.match(error.message, message);
    return true;
  };
const about = (requests: readonly ScriptedRequest[]): string[] =>
  requests.map(({ method, path }) => `${method} ${path}`);

test('a token, the end point, the request; the second request has the token already', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.script = () => ({ body: { server: { id: '7d6f' } } });
  const query = [
    ['tag', 'a b'],
    ['tag', 'c&d'],
  ] as const;
  assert.deepEqual(await rig.client.request(rig.call(), { ...one, query }), { server: { id: '7d6f' } });
  await rig.client.request(rig.call(), {
    service: 'network',
    operation: 'PUT /ports/{id}',
    method: 'PUT',
    path: '/v2.0/ports/1',
    body: { port: {} },
    revision: 4,
  });
  assert.deepEqual(about(cloud.requests), [
    'POST /identity/v3/auth/tokens',
    'GET /compute/v2.1/servers/7d6f?tag=a+b&tag=c%26d',
    'PUT /network/v2.0/ports/1',
  ]);
  const [, first, second] = cloud.requests;
  assert.deepEqual([first?.headers['x-auth-token'], first?.headers['user-agent']], ['token-1', 'test/1']);
  assert.deepEqual([second?.headers['if-match'], second?.body], ['revision_number=4', { port: {} }]);
  assert.equal(rig.client.region, 'one');
});

test('50 callers at once ask keystone once, and once again when their token is refused', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.script = () => ({ body: {} });
  const all = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 50 }, () => rig.client.request(rig.call(), one)));
  await all();
  assert.deepEqual(cloud.tokens, ['token-1']);
  cloud.valid.clear();
  await all();
  assert.deepEqual(cloud.tokens, ['token-1', 'token-2']);
  const refused = cloud.requests.filter(({ headers }) => headers['x-auth-token'] === 'token-1').length - 50;
  assert.ok(refused >= 1 && refused <= 50);
  assert.equal(cloud.requests.filter(({ headers }) => headers['x-auth-token'] === 'token-2').length, 50);
});

test('a request that is refused with a new token too is unauthenticated, after one renewal', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.script = () => {
    cloud.valid.clear();
    return unauthorized;
  };
  await assert.rejects(
    rig.client.request(rig.call(), one),
    code('unauthenticated', /^nova \(compute\) refused GET \/servers\/\{id\}/u),
  );
  assert.deepEqual(cloud.tokens, ['token-1', 'token-2']);
});

test('a POST that was refused for its token is sent again; one whose answer was lost is not', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  const post = {
    service: 'load-balancer',
    operation: 'POST /loadbalancers',
    method: 'POST',
    path: '/v2.0/lbaas/loadbalancers',
    body: {},
  } as const;
  cloud.script = () => ({ status: 201, body: { loadbalancer: {} } });
  await rig.client.request(rig.call(), post);
  cloud.valid.clear();
  await rig.client.request(rig.call(), post);
  cloud.script = () => ({ status: -1 });
  await assert.rejects(rig.client.request(rig.call(), post), code('unavailable', /cannot be reached/u));
  assert.equal(cloud.requests.filter(({ path }) => path === '/load-balancer/v2.0/lbaas/loadbalancers').length, 4);
});

test(
  'the token is renewed before it expires, while it still serves; keystone’s clock is of no account',
  { timeout: 120_000 },
  async () => {
    for (const skewMs of [0, -7_200_000, 7_200_000]) {
      const clock = new FakeClock();
      await using cloud = await startScriptedCloud(clock);
      cloud.skewMs = skewMs;
      await using rig = await openClient(passwordOf(cloud), clock);
      cloud.script = () => ({ body: {} });
      const tokenOfRequest = async (): Promise<unknown> => {
        await rig.client.request(rig.call(), one);
        return cloud.requests.findLast(({ path }) => path.startsWith('/compute'))?.headers['x-auth-token'];
      };
      assert.equal(await tokenOfRequest(), 'token-1');
      await clock.advance(3_600_000 - 300_001);
      assert.equal(await tokenOfRequest(), 'token-1');
      assert.equal(cloud.tokens.length, 1);
      await clock.advance(2);
      assert.equal(await tokenOfRequest(), 'token-1');
      // The renewal is under way: connecting waits for nothing once it has ended.
      while ((await tokenOfRequest()) !== 'token-2');
      assert.equal(cloud.tokens.length, 2);
      await clock.advance(3_600_001);
      assert.equal(await tokenOfRequest(), 'token-3');
    }
  },
);

test('keystone down: the token serves until it expires, then the request fails, and works again afterwards', async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const logger = { ...silentLogger, error: write, warn: write, info: write };
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock, { logger });
  // That the provider of the rig has no capabilities.
  lines.length = 0;
  cloud.script = () => ({ body: {} });
  await rig.client.request(rig.call(), one);
  cloud.keystone = () => ({ status: 503, body: '<title>down</title>' });
  await clock.advance(3_400_000);
  await rig.client.request(rig.call(), one);
  // The renewal is under way: time passes once it has failed.
  while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(200_000);
  await assert.rejects(rig.client.request(rig.call(), one), code('unavailable', /returned no token \(503\)$/u));
  cloud.keystone = () => undefined;
  await rig.client.request(rig.call(), one);
  assert.deepEqual(lines, ['Keystone issues no token', 'Keystone issues tokens again']);
});

test('wrong credentials: one question to keystone in 30 s, however many ask; the answer says whose they are', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.keystone = () => ({
    status: 401,
    body: { error: { code: 401, message: 'The request you have made requires authentication.' } },
  });
  const refused = code(
    'unauthenticated',
    /^keystone at http.* does not accept the user "me": .* \(401\): correct the credentials in \[Global\]/u,
  );
  for (let i = 0; i < 20; i++) await assert.rejects(rig.client.request(rig.call(), one), refused);
  assert.equal(cloud.requests.length, 1);
  await clock.advance(30_001);
  cloud.keystone = () => undefined;
  cloud.script = () => ({ body: {} });
  await rig.client.request(rig.call(), one);
});

test('answers of something that is no keystone', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  const project = { issued_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-01T01:00:00Z' };
  const subject = { 'x-subject-token': 't' };
  for (const [answer, wanted, message] of [
    [{ status: 404, body: '<title>Not Found</title>' }, 'unavailable', /is auth-url in \[Global\]/u],
    [{ status: 201, body: { token: project } }, 'unavailable', /answered without a token/u],
    [{ status: 201, headers: subject, body: { token: project } }, 'unauthenticated', /a token without a project/u],
    [{ status: 201, headers: subject, body: { token: { project: { id: 'p' } } } }, 'unavailable', /without its times/u],
  ] as const) {
    await using rig = await openClient(passwordOf(cloud), clock);
    cloud.keystone = () => answer;
    await assert.rejects(rig.client.connect(rig.call()), code(wanted, message));
  }
});

test('one who gives up does not take the token from the others', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<undefined>();
  cloud.script = () => ({ body: {} });
  cloud.keystone = () => {
    asked.resolve();
    return answer.promise;
  };
  const leaving = new AbortController();
  const first = rig.client.request(rig.call(leaving.signal), one);
  const second = rig.client.request(rig.call(), one);
  await asked.promise;
  leaving.abort(new Error('gone'));
  await assert.rejects(first, /gone/u);
  answer.resolve(undefined);
  await second;
  assert.equal(cloud.tokens.length, 1);
});

test('all pages, or an error', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  const link = (marker: string): object => [
    { rel: 'next', href: `http://unreachable.invalid/v2.1/servers/detail?limit=2&marker=${marker}` },
  ];
  const pages: Record<string, object> = {
    '/compute/v2.1/servers/detail?limit=2': { servers: [{ id: 'a' }, { id: 'b' }], servers_links: link('b') },
    '/compute/v2.1/servers/detail?limit=2&marker=b': { servers: [{ id: 'c' }] },
  };
  const ask = (): Promise<readonly unknown[]> => rig.client.list(rig.call(), { ...servers, query: [['limit', '2']] });
  cloud.script = ({ path }) => ({ body: pages[path] });
  assert.deepEqual(await ask(), [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  cloud.script = ({ path }) => (path.includes('marker') ? { status: 404, body: '' } : { body: pages[path] });
  await assert.rejects(ask(), code('unavailable'));
  cloud.script = () => ({ body: { servers: [{ id: 'a' }], servers_links: link('b') } });
  await assert.rejects(ask(), code('unavailable', /the pages form a loop/u));
});

test('microversions: asked for once, sent with the request, refused when the service is too old', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.script = ({ path }) => {
    if (path === '/compute/v2.1/') return { body: { version: { id: 'v2.1', version: '2.72', min_version: '2.1' } } };
    if (path === '/load-balancer/') return { status: 300, body: { versions: [{ id: 'v2.9' }, { id: 'v2.26' }] } };
    return { body: {} };
  };
  await rig.client.request(rig.call(), { ...one, microversion: '2.69' });
  await rig.client.request(rig.call(), { ...one, microversion: '2.7' });
  assert.deepEqual(
    cloud.requests.filter(({ path }) => path.endsWith('7d6f')).map(({ headers }) => headers['openstack-api-version']),
    ['compute 2.69', 'compute 2.7'],
  );
  assert.equal(await rig.client.maxMicroversion(rig.call(), 'compute'), '2.72');
  assert.equal(cloud.requests.filter(({ path }) => path === '/compute/v2.1/').length, 1);
  await assert.rejects(
    rig.client.request(rig.call(), { ...one, microversion: '2.100' }),
    code(
      'unsupported',
      /nova \(compute\) is too old for GET \/servers\/\{id\}: it speaks up to 2\.72, and 2\.100 is needed/u,
    ),
  );
  assert.equal(await rig.client.maxMicroversion(rig.call(), 'load-balancer'), '2.26');
});

test('an end point without a version is asked for it; a service that is not there is said to be missing', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  cloud.catalogue = [
    { type: 'compute', endpoints: [{ interface: 'public', region: 'one', url: `${cloud.origin}/compute/` }] },
  ];
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.script = ({ path }) =>
    path === '/compute/'
      ? { body: { versions: [{ id: 'v2.0' }, { id: 'v2.1', version: '2.72' }] } }
      : { body: { path } };
  assert.deepEqual(await rig.client.request(rig.call(), one), { path: '/compute/v2.1/servers/7d6f' });
  assert.deepEqual(await rig.client.request(rig.call(), one), { path: '/compute/v2.1/servers/7d6f' });
  assert.equal(cloud.requests.length, 4);
  assert.equal(await rig.client.hasService(rig.call(), 'compute'), true);
  assert.equal(await rig.client.hasService(rig.call(), 'load-balancer'), false);
  await assert.rejects(
    rig.client.request(rig.call(), { ...one, service: 'load-balancer' }),
    code('unsupported', /no public end point of octavia/u),
  );
});

test("neutron's extensions are asked for once; a failure is not kept", async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  cloud.script = () => ({ status: 400, body: { NeutronError: { type: 'X', message: 'no' } } });
  await assert.rejects(rig.client.networkExtensions(rig.call()), code('invalid'));
  cloud.script = () => ({ body: { extensions: [{ alias: 'extraroute' }, { alias: 'extraroute-atomic' }] } });
  const [a, b] = await Promise.all([
    rig.client.networkExtensions(rig.call()),
    rig.client.networkExtensions(rig.call()),
  ]);
  assert.deepEqual([...a], ['extraroute', 'extraroute-atomic']);
  assert.equal(a, b);
  assert.equal(cloud.requests.filter(({ path }) => path === '/network/v2.0/extensions').length, 2);
});

test('an answer that does not come within the time of the config is a time-out', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock, { requestTimeoutMs: 2000 });
  const reached = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  cloud.script = () => {
    reached.resolve();
    return never;
  };
  const slow = rig.client.request(rig.call(), one);
  await Promise.race([reached.promise, slow]);
  await Promise.all([assert.rejects(slow, code('timeout', /did not answer within 2 s/u)), clock.advance(2001)]);
});

test('a GET whose answer was lost is sent again', async () => {
  await using cloud = await startScriptedCloud(systemClock);
  await using rig = await openClient(passwordOf(cloud), systemClock, { maxAttempts: 3 });
  let times = 0;
  cloud.script = () => {
    times++;
    return times < 3 ? { status: -1 } : { body: { times } };
  };
  assert.deepEqual(await rig.client.request(rig.call(), one), { times: 3 });
});

test('no redirect is followed, and what is no JSON is no answer', async () => {
  const clock = new FakeClock();
  await using cloud = await startScriptedCloud(clock);
  await using rig = await openClient(passwordOf(cloud), clock);
  const post = { ...one, method: 'POST' } as const;
  cloud.script = () => ({ status: 302, headers: { location: 'http://elsewhere.invalid/' }, body: '' });
  await assert.rejects(rig.client.request(rig.call(), post), code('unavailable', /\(302\)$/u));
  cloud.script = () => ({ body: '<html>sign in to the network</html>' });
  await assert.rejects(rig.client.request(rig.call(), post), code('unavailable', /something that is not JSON/u));
  cloud.script = () => ({ status: 202, body: '' });
  assert.equal(await rig.client.request(rig.call(), post), undefined);
});
