import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { ConfigError } from '../config/config-error.ts';
import { withHeaders, type Credentials } from '../config/credentials.ts';
import { noMetrics, type Labels } from '../metrics.ts';
import { scriptedTransport } from './scripted-transport.suite.ts';
import { isTransportError, TransportError, toTransportError, type TransportErrorCode } from './transport-error.ts';
import { discardAnswer, layerOver, stackLayers, withRequestHeaders } from './transport-layer.ts';
import { userAgent } from './user-agent.ts';
import { withCredentials } from './with-credentials.ts';
import { withMetrics } from './with-metrics.ts';
import { REQUEST_CHANNEL, withTracing, type RequestTrace } from './with-tracing.ts';

test('the first layer in the list is the outermost, and closing reaches the transport', async () => {
  const order: string[] = [];
  let closed = false;
  const inner = {
    ...scriptedTransport([{ status: 200 }]),
    [Symbol.asyncDispose]: () => {
      closed = true;
      return Promise.resolve();
    },
  };
  const named = (name: string) => (below: typeof inner) =>
    layerOver(below, (request) => {
      order.push(name);
      return below.send(request);
    });
  const transport = stackLayers(inner, [named('a') as never, named('b') as never]);
  await transport.send({ method: 'GET', path: '/' });
  assert.deepEqual(order, ['a', 'b']);
  await transport[Symbol.asyncDispose]();
  assert.equal(closed, true);
});

test('headers of the request win over those of the layer', async () => {
  const inner = scriptedTransport([{ status: 200 }]);
  await withRequestHeaders({ a: '1', b: '1' })(inner).send({ method: 'GET', path: '/', headers: { b: '2' } });
  assert.deepEqual(inner.requests[0]?.headers, { a: '1', b: '2' });
});

test('an answer nobody wants is read to its end, but not for ever', async () => {
  let chunks = 0;
  const endless = (async function* () {
    for (;;) {
      chunks += 1;
      yield new Uint8Array(16 * 1024);
    }
  })();
  await discardAnswer({ status: 500, headers: {}, body: endless });
  assert.equal(chunks, 5);
  const broken = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('broken')) }),
  };
  await discardAnswer({ status: 500, headers: {}, body: broken });
});

test('each attempt is counted by code, method and host; no answer counts as <error>', async () => {
  const counted: (Labels | undefined)[] = [];
  const clock = new FakeClock();
  const metrics = { ...noMetrics, counter: () => ({ inc: (labels?: Labels) => void counted.push(labels) }) };
  const inner = scriptedTransport([{ status: 201 }, new Error('gone')]);
  const transport = withMetrics({ metrics, clock, host: 'h:1' })(inner);
  await transport.send({ method: 'POST', path: '/' });
  await assert.rejects(transport.send({ method: 'GET', path: '/' }), /gone/);
  assert.deepEqual(counted, [
    { code: '201', method: 'POST', host: 'h:1' },
    { code: '<error>', method: 'GET', host: 'h:1' },
  ]);
});

test('sizes are those of the bodies, in bytes; watches and what was not read to its end have none', async () => {
  const observed: unknown[] = [];
  const metrics = {
    ...noMetrics,
    histogram: ({ name }: { readonly name: string }) => ({
      observe: (value: number, labels?: Labels) => {
        if (name.endsWith('_size_bytes')) observed.push([name, value, labels?.['verb'], labels?.['host']]);
      },
    }),
  };
  const inner = scriptedTransport([{ status: 200 }]);
  const transport = withMetrics({ metrics, clock: new FakeClock(), host: 'h:1' })(inner);
  const answer = await transport.send({ method: 'PUT', path: '/', body: '"ü"' });
  assert.deepEqual(observed.splice(0), [['rest_client_request_size_bytes', 4, 'PUT', 'h:1']]);
  assert.equal((await Array.fromAsync(answer.body)).length, 1);
  assert.deepEqual(observed.splice(0), [['rest_client_response_size_bytes', 2, 'PUT', 'h:1']]);
  const half = await transport.send({ method: 'GET', path: '/' });
  for await (const _ of half.body) break;
  for await (const _ of (await transport.send({ method: 'GET', path: '/', traffic: 'watch' })).body);
  assert.deepEqual(observed.splice(0), []);
  assert.equal(inner.settled, 3, 'a body that is left is closed');
});

test('tracing tells subscribers of the request, without headers and body', async () => {
  const seen: RequestTrace[] = [];
  const onEnd = (message: unknown): void => void seen.push(message as RequestTrace);
  const transport = withTracing('https://a')(scriptedTransport([{ status: 204 }]));
  await transport.send({ method: 'GET', path: '/unseen' });
  subscribe(`tracing:${REQUEST_CHANNEL}:asyncEnd`, onEnd);
  await transport.send({ method: 'GET', path: '/x?y=1', headers: { authorization: 'secret' }, body: 'secret' });
  unsubscribe(`tracing:${REQUEST_CHANNEL}:asyncEnd`, onEnd);
  assert.equal(seen.length, 1);
  assert.equal(seen[0]?.path, '/x?y=1');
  assert.equal(seen[0]?.status, 204);
  assert.equal(seen[0]?.traffic, 'default');
  assert.doesNotMatch(JSON.stringify(seen[0]), /secret/);
});

test('the user agent has the shape that people filter audit logs by', () => {
  assert.equal(
    userAgent({ version: '1.2.3', suffix: 'external-controller-manager', platform: 'linux', arch: 'x64' }),
    'outrigger/1.2.3 (linux/amd64) external-controller-manager',
  );
  assert.equal(userAgent({ program: 'p', version: '1', platform: 'darwin', arch: 'arm64' }), 'p/1 (darwin/arm64)');
  assert.match(userAgent(), /^outrigger\/\d+\.\d+\.\d+ \(\w+\/\w+\)$/);
});

const options = { server: 'https://a', reloadCertificates: () => Promise.resolve(false) };
const failing = (reason: Error): Credentials => ({
  current: () => Promise.reject(reason),
  renew: () => Promise.reject(reason),
});

test('without credentials nothing is sent, and the error holds the reason', async () => {
  const inner = scriptedTransport([{ status: 200 }]);
  const reason = new ConfigError('config-file-unreadable', '/k: users[0]', 'cannot be read');
  const sent = withCredentials(failing(reason), options)(inner).send({ method: 'GET', path: '/' });
  await assert.rejects(sent, (error) => {
    assert.ok(isTransportError(error));
    assert.equal(error.code, 'no-credentials');
    assert.equal(error.sent, false);
    assert.equal(error.cause, reason);
    return true;
  });
  assert.equal(inner.requests.length, 0);
});

test('a 401 is the answer when renewing fails, and is tried once more after other certificates', async () => {
  const current = withHeaders(
    { current: () => Promise.resolve({ headers: {} }), renew: () => Promise.reject(new Error('x')) },
    {},
  );
  const refused = scriptedTransport([{ status: 401 }]);
  assert.equal((await withCredentials(current, options)(refused).send({ method: 'GET', path: '/' })).status, 401);
  assert.equal(refused.requests.length, 1);

  const reloading = { ...options, reloadCertificates: () => Promise.resolve(true) };
  const accepted = scriptedTransport([{ status: 401 }, { status: 200 }]);
  assert.equal((await withCredentials(current, reloading)(accepted).send({ method: 'GET', path: '/' })).status, 200);
  const never = scriptedTransport([{ status: 401 }]);
  assert.equal((await withCredentials(current, reloading)(never).send({ method: 'GET', path: '/' })).status, 401);
  assert.equal(never.requests.length, 2, 'once more, not for ever');
});

test('errors of the network say what happened and whether the request can have had an effect', () => {
  const coded = (code: string, message = code): Error => Object.assign(new Error(message), { code });
  const cases: readonly (readonly [unknown, TransportErrorCode, boolean])[] = [
    [coded('ECONNREFUSED'), 'connection-refused', false],
    [new AggregateError([coded('ECONNREFUSED'), coded('EHOSTUNREACH')]), 'connection-refused', false],
    [coded('ECONNRESET'), 'connection-reset', true],
    [coded('ENOTFOUND'), 'host-not-found', false],
    [coded('UND_ERR_CONNECT_TIMEOUT'), 'connect-timeout', false],
    [coded('CERT_HAS_EXPIRED'), 'tls-expired', false],
    [new Error('fetch failed', { cause: coded('DEPTH_ZERO_SELF_SIGNED_CERT') }), 'tls-untrusted', false],
    [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls-failed', true],
    [coded('UND_ERR_ABORTED', 'Proxy response (407) !== 200 when HTTP Tunneling'), 'proxy-failed', false],
    [coded('EWEIRD'), 'protocol-error', true],
    ['text', 'protocol-error', true],
  ];
  for (const [cause, code, sent] of cases) {
    const error = toTransportError(cause, 'https://a:1', true);
    assert.equal(error.code, code);
    assert.equal(error.sent, sent, code);
    assert.match(error.message, /^https:\/\/a:1: /);
  }
  const own = new TransportError('closed', 'https://a', 'x', { sent: true });
  assert.equal(toTransportError(own, 'https://b', false), own);
});
