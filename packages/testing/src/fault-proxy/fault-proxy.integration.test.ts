import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type ClientHttp2Session } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startFaultProxy, type FaultProxy, type FaultProxyOptions } from './fault-proxy.ts';

/** A target that counts writes and streams numbered lines: 100 of 10 bytes on `/api/v1/nodes?watch=true`. */
async function startTarget(
  t: TestContext,
): Promise<{ readonly url: string; writes(): number; readonly lists: number[] }> {
  let writes = 0;
  const lists: number[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'GET') {
      request.resume();
      request.on('end', () => {
        writes++;
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end('{"kind":"Node"}\n');
      });
    } else if (request.url?.includes('watch=true')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let line = 0; line < 10; line++) response.write(`{"line":${line}}\n`);
    } else {
      lists.push(writes);
      response.writeHead(200, { 'content-type': 'application/json', 'x-saw': request.headers['authorization'] ?? '' });
      response.end(JSON.stringify({ writes }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, writes: () => writes, lists };
}

async function startProxy(
  t: TestContext,
  target: string,
  options: Partial<FaultProxyOptions> = {},
): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ target, ...options });
  t.after(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** One HTTP/1.1 request; rejects when the connection breaks, with what had come until then in `error.text`. */
function ask(
  proxy: FaultProxy,
  path: string,
  options: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = proxy.certificateAuthority ? httpsRequest : httpRequest;
    const outgoing = send(
      new URL(path, proxy.url),
      {
        agent: false,
        method: options.method ?? 'GET',
        headers: { 'user-agent': 'test/1', ...options.headers },
        ca: proxy.certificateAuthority,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', (error) => reject(Object.assign(error, { text })));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

/** Resolves with `undefined` when nothing has come within the time. */
function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), ms))]);
}

const WATCH = '/api/v1/nodes?watch=true';

for (const tls of [false, true]) {
  const scheme = tls ? 'https' : 'http';

  test(`${scheme}: requests, bodies, headers and status pass unchanged, and are recorded`, async (t) => {
    const target = await startTarget(t);
    const proxy = await startProxy(t, target.url, { tls });
    const answer = await ask(proxy, '/api/v1/nodes?limit=5', { headers: { authorization: 'Bearer secret' } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-saw'], 'Bearer secret');
    assert.deepEqual(JSON.parse(answer.text), { writes: 0 });
    assert.equal((await ask(proxy, '/api/v1/nodes', { method: 'POST', body: '{"a":1}' })).status, 201);
    assert.equal(target.writes(), 1);
    assert.deepEqual(proxy.calls.count(), { 'list nodes': 1, 'create nodes': 1 });
    assert.deepEqual(proxy.calls.table()[1], {
      verb: 'create',
      resource: 'nodes',
      userAgent: 'test/1',
      calls: 1,
      failed: 0,
      requestBytes: 7,
      responseBytes: 16,
    });
    assert.match(proxy.calls.toTsv(), /^verb\tresource.*\nlist\tnodes\ttest\/1\t1\t0\t0\t12\n/);
    assert.doesNotMatch(JSON.stringify(proxy.calls.calls), /secret/);
  });

  test(`${scheme}: a reset breaks the request before the server sees it`, async (t) => {
    const target = await startTarget(t);
    const proxy = await startProxy(t, target.url, { tls });
    const rule = proxy.add({ match: { verb: 'create', nth: 2 }, fault: { type: 'reset' } });
    await ask(proxy, '/api/v1/nodes', { method: 'POST' });
    await assert.rejects(ask(proxy, '/api/v1/nodes', { method: 'POST' }), { code: 'ECONNRESET' });
    await ask(proxy, '/api/v1/nodes', { method: 'POST' });
    assert.equal(target.writes(), 2);
    assert.equal(rule.hits, 1);
  });

  test(`${scheme}: a lost answer breaks the request after the server has done it`, async (t) => {
    const target = await startTarget(t);
    const proxy = await startProxy(t, target.url, { tls });
    proxy.add({ match: { method: 'POST', times: 1 }, fault: { type: 'lose-answer' } });
    await assert.rejects(ask(proxy, '/api/v1/nodes', { method: 'POST' }), { code: 'ECONNRESET' });
    assert.equal(target.writes(), 1);
    assert.equal((await ask(proxy, '/api/v1/nodes', { method: 'POST' })).status, 201);
    assert.equal(proxy.calls.calls[0]?.status, undefined);
    assert.equal(proxy.calls.calls[0]?.fault, 'lose-answer');
  });

  test(`${scheme}: half a line comes, and then the end of the connection`, async (t) => {
    const target = await startTarget(t);
    const proxy = await startProxy(t, target.url, { tls });
    proxy.add({ match: { verb: 'watch' }, fault: { type: 'half-line', afterLines: 2 } });
    await assert.rejects(ask(proxy, WATCH), (error: Error & { text: string }) => {
      assert.equal(error.text, '{"line":0}\n{"line":1}\n{"lin');
      return true;
    });
    proxy.clear();
    proxy.add({ fault: { type: 'half-line' } });
    await assert.rejects(ask(proxy, '/api/v1/nodes'), (error: Error & { text: string }) => {
      assert.equal(error.text, '{"writ');
      return true;
    });
  });

  test(`${scheme}: a watch is cut after n events, properly or by reset`, async (t) => {
    const target = await startTarget(t);
    const proxy = await startProxy(t, target.url, { tls });
    proxy.add({ match: { verb: 'watch', times: 1 }, fault: { type: 'cut-watch', afterEvents: 3 } });
    assert.equal((await ask(proxy, WATCH)).text, '{"line":0}\n{"line":1}\n{"line":2}\n');
    proxy.add({ match: { verb: 'watch', times: 1 }, fault: { type: 'cut-watch', afterEvents: 0 } });
    assert.equal((await ask(proxy, WATCH)).text, '');
    proxy.add({ match: { verb: 'watch', times: 1 }, fault: { type: 'cut-watch', afterEvents: 1, how: 'reset' } });
    await assert.rejects(ask(proxy, WATCH), { code: 'ECONNRESET' });
  });

  test(`${scheme}: a frozen connection takes the request, answers nothing and stays open`, async (t) => {
    const target = await startTarget(t);
    const proxy = await startProxy(t, target.url, { tls });
    proxy.add({ match: { method: 'POST', times: 1 }, fault: { type: 'freeze' } });
    const frozen = ask(proxy, '/api/v1/nodes', { method: 'POST', body: 'x'.repeat(1_000_000) }).catch(
      () => 'broken' as const,
    );
    assert.equal(await within(200, frozen), undefined);
    assert.equal(target.writes(), 0);
    assert.equal((await ask(proxy, '/api/v1/nodes')).status, 200, 'other connections live');
  });
}

test('a status fault carries a Status body and Retry-After', async (t) => {
  const target = await startTarget(t);
  const proxy = await startProxy(t, target.url);
  proxy.add({ match: { times: 1 }, fault: { type: 'status', code: 429, retryAfterSeconds: 7 } });
  const answer = await ask(proxy, '/api/v1/nodes');
  assert.equal(answer.status, 429);
  assert.equal(answer.headers['retry-after'], '7');
  const { message, ...status } = JSON.parse(answer.text) as { message: string };
  assert.match(message, /injected/);
  assert.deepEqual(status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 7 },
    code: 429,
  });
  assert.deepEqual(target.lists, []);
  for (const code of [409, 500, 504]) {
    proxy.add({ match: { times: 1 }, fault: { type: 'status', code } });
    assert.equal((await ask(proxy, '/api/v1/nodes')).status, code);
  }
  assert.equal((await ask(proxy, '/api/v1/nodes')).status, 200);
});

test('a stale list is the first answer again, per path, until the rule goes', async (t) => {
  const target = await startTarget(t);
  const proxy = await startProxy(t, target.url);
  const rule = proxy.add({ match: { verb: 'list' }, fault: { type: 'stale-list' } });
  const list = async (path: string): Promise<unknown> => JSON.parse((await ask(proxy, path)).text);
  assert.deepEqual(await list('/api/v1/nodes'), { writes: 0 });
  await ask(proxy, '/api/v1/nodes', { method: 'POST' });
  assert.deepEqual(await list('/api/v1/nodes'), { writes: 0 });
  assert.deepEqual(await list('/api/v1/services'), { writes: 1 });
  rule.remove();
  assert.deepEqual(await list('/api/v1/nodes'), { writes: 1 });
});

test('latency holds the request back', async (t) => {
  const target = await startTarget(t);
  const proxy = await startProxy(t, target.url);
  proxy.add({ fault: { type: 'latency', ms: 120 } });
  const started = performance.now();
  assert.equal((await ask(proxy, '/api/v1/nodes')).status, 200);
  assert.ok(performance.now() - started >= 115);
});

test('all watches can be cut now, and all connections reset or frozen', async (t) => {
  const target = await startTarget(t);
  const proxy = await startProxy(t, target.url);
  const watching = ask(proxy, WATCH);
  while (proxy.openWatches === 0) await within(5, new Promise<never>(() => {}));
  assert.equal(proxy.cutWatches(), 1);
  assert.match((await watching).text, /^\{"line":0\}\n/);
  const reset = assert.rejects(ask(proxy, WATCH), { code: 'ECONNRESET' });
  while (proxy.openWatches === 0) await within(5, new Promise<never>(() => {}));
  proxy.resetConnections();
  await reset;
  proxy.freeze();
  assert.equal(
    await within(
      150,
      ask(proxy, '/api/v1/nodes').catch(() => 'broken'),
    ),
    undefined,
  );
  proxy.thaw();
  assert.equal((await ask(proxy, '/api/v1/nodes')).status, 200);
});

test('a target that is not there is a 502 with its reason', async (t) => {
  const proxy = await startProxy(t, 'http://127.0.0.1:1');
  const answer = await ask(proxy, '/api/v1/nodes');
  assert.equal(answer.status, 502);
  assert.match(answer.text, /ECONNREFUSED/);
});

function h2(session: ClientHttp2Session, path: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path });
    let text = '';
    let status = 0;
    stream.on('response', (headers) => (status = headers[':status'] ?? 0));
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    stream.on('error', reject);
    stream.on('close', () =>
      stream.rstCode === 0 && !stream.aborted ? resolve({ status, text }) : reject(new Error('broken')),
    );
    stream.end();
  });
}

test('HTTP/2: streams share a connection; hang stops one, freeze stops PING too', async (t) => {
  const target = await startTarget(t);
  const proxy = await startProxy(t, target.url, { tls: true });
  const session = connect(proxy.url, { ca: proxy.certificateAuthority });
  session.on('error', () => {});
  t.after(() => session.destroy());
  const ping = (): Promise<unknown> => new Promise((resolve) => session.ping((error) => resolve(error ?? 'pong')));
  assert.equal((await h2(session, '/api/v1/nodes')).status, 200);
  proxy.add({ match: { path: /slow/ }, fault: { type: 'hang' } });
  const hanging = h2(session, '/slow').catch(() => 'broken');
  assert.equal((await h2(session, '/api/v1/nodes')).status, 200);
  assert.equal(await within(100, hanging), undefined);
  assert.equal(await ping(), 'pong');
  assert.deepEqual(new Set(proxy.calls.calls.map((call) => call.connection)), new Set([1]));
  assert.equal(proxy.calls.calls[0]?.httpVersion, '2.0');
  proxy.add({ match: { verb: 'watch' }, fault: { type: 'freeze' } });
  const frozen = h2(session, WATCH).catch(() => 'broken');
  while (!proxy.calls.calls.some(({ path }) => path === WATCH)) await within(5, new Promise<never>(() => {}));
  assert.equal(await within(100, frozen), undefined);
  assert.equal(await within(100, ping()), undefined);
  assert.equal(session.closed, false);
});

test('HTTP/2: half a line comes before the connection ends', async (t) => {
  const target = await startTarget(t);
  const proxy = await startProxy(t, target.url, { tls: true });
  const session = connect(proxy.url, { ca: proxy.certificateAuthority });
  session.on('error', () => {});
  t.after(() => session.destroy());
  proxy.add({ fault: { type: 'half-line', afterLines: 1 } });
  const stream = session.request({ ':path': WATCH });
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  stream.on('error', () => {});
  stream.end();
  await once(stream, 'close');
  assert.equal(text, '{"line":0}\n{"lin');
});
