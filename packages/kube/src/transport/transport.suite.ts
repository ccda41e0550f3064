/**
 * What every transport promises, whatever it speaks. Over 400 lines, because a contract that is split is read by nobody.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { constants, createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import { FakeClock } from '@outrigger/testing';
import { systemClock, type Clock } from '../clock.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { bearerToken, type Credential, type Credentials } from '../config/credentials.ts';
import { silentLogger } from '../logger.ts';
import type { TransportRequest, TransportResponse } from '../transport.ts';
import { createTransport, type CreateTransportOptions } from './create-transport.ts';
import {
  breakConnection,
  clientName,
  startFreezableProxy,
  startLocalServer,
  type Handler,
  type LocalServer,
  type LocalServerOptions,
  type Protocol,
} from './local-server.suite.ts';
import { createTestAuthority, type TestAuthority } from './test-certificates.suite.ts';
import { isTransportError, type TransportErrorCode } from './transport-error.ts';

let sharedAuthority: Promise<TestAuthority> | undefined;

async function textOf(answer: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = systemClock.monotonic() + 120_000;
  while (!(await condition())) {
    assert.ok(systemClock.monotonic() < end, `after 120 s still not: ${what}`);
    await sleep(10);
  }
}

async function failsWith(code: TransportErrorCode, work: Promise<unknown>): Promise<Error> {
  let caught: unknown;
  await assert.rejects(work, (error) => {
    caught = error;
    return true;
  });
  assert.ok(isTransportError(caught), `not a TransportError: ${String(caught)}`);
  assert.equal(caught.code, code, caught.message);
  return caught;
}

const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  path,
  ...more,
});
const watch = (path: string, more: Partial<TransportRequest> = {}): TransportRequest =>
  get(path, { traffic: 'watch', timeoutMs: 0, ...more });

/** Well and badly behaved paths. */
function paths(): Handler {
  const seen = new Map<string, number>();
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://local');
    const count = (seen.get(url.pathname) ?? 0) + 1;
    seen.set(url.pathname, count);
    const write = (text: string): void => void (response as NodeJS.WritableStream).write(text);
    const end = (text = ''): void => void (response as NodeJS.WritableStream).end(text);
    switch (url.pathname) {
      case '/watch':
        write('first\n');
        break;
      case '/hang':
        break;
      case '/half':
        response.setHeader('content-type', 'application/json');
        write('{"items":[');
        setTimeout(() => breakConnection(request), 20);
        break;
      case '/reset':
        breakConnection(request);
        break;
      case '/reset-once':
        if (count === 1) breakConnection(request);
        else end('second');
        break;
      case '/throttled-once':
        response.statusCode = count === 1 ? 429 : 200;
        if (count === 1) response.setHeader('retry-after', '0');
        end(`attempt ${count}`);
        break;
      case '/unavailable':
        response.statusCode = 503;
        response.setHeader('retry-after', '0');
        end(`attempt ${count}`);
        break;
      case '/private':
        if (request.headers.authorization !== 'Bearer new') response.statusCode = 401;
        end(request.headers.authorization ?? '');
        break;
      case '/certificate':
        end(clientName(request) ?? 'nobody');
        break;
      case '/big': {
        const chunk = 'x'.repeat(64 * 1024);
        for (let i = 0; i < 64; i++) write(chunk);
        end();
        break;
      }
      default: {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          response.setHeader('X-Some-Header', 'Value');
          const { headers, method, rawHeaders, url } = request;
          end(JSON.stringify({ method, url, headers, rawHeaders, body }));
        });
      }
    }
  };
}

/** Registers the contract's tests for one protocol. */
export function transportContract(protocol: Protocol): void {
  const it = (name: string, run: () => Promise<void>): void => {
    test(`${protocol}: ${name}`, { timeout: 300_000 }, run);
  };
  const tls = protocol !== 'h1';

  async function authority(): Promise<TestAuthority> {
    return (sharedAuthority ??= createTestAuthority());
  }
  async function serve(options: Partial<LocalServerOptions> = {}): Promise<LocalServer> {
    return startLocalServer({ protocol, handler: paths(), authority: await authority(), ...options });
  }
  async function open(url: string, config: Partial<ClusterConfig> = {}, options: CreateTransportOptions = {}) {
    return createTransport(
      { server: url, ...(tls && { tls: { ca: { data: (await authority()).ca } } }), ...config },
      { retry: false, ...options },
    );
  }

  it('asks once just before a request is written, and sends nothing when the answer is no', async () => {
    const seen: string[] = [];
    const handler = paths();
    await using server = await serve({
      handler: (request, response) => {
        seen.push(request.url ?? '');
        handler(request, response);
      },
    });
    await using transport = await open(server.url);
    const refusal = new Error('not now');
    const no = {
      beforeSend: () => {
        throw refusal;
      },
    };
    // Before there is a connection, and on one that stands.
    for (const path of ['/no-1', '/no-2']) {
      await assert.rejects(transport.send({ method: 'POST', path, body: '{}', ...no }), (error) => error === refusal);
      let asked = 0;
      const yes = { beforeSend: () => void (asked += seen.includes(`/yes-${path.at(-1)}`) ? 100 : 1) };
      assert.equal((await transport.send(get(`/yes-${path.at(-1)}`, yes))).status, 200);
      assert.equal(asked, 1);
    }
    assert.deepEqual(seen, ['/yes-1', '/yes-2']);
  });

  it('does not ask while the request waits for a free connection or stream', async () => {
    await using server = await serve({ maxStreams: 2 });
    await using transport = await open(server.url);
    // The first answer brings the server's limit on streams.
    await textOf(await transport.send(get('/ok')));
    const abort = new AbortController();
    const busy = Array.from({ length: 64 }, () => transport.send(get('/hang', { signal: abort.signal })));
    for (const one of busy) one.catch(() => undefined);
    const most = protocol === 'h2' ? 16 : 64;
    await until(() => server.open === most, 'all connections are taken');
    let asked = 0;
    const late = transport.send(get('/ok', { beforeSend: () => void (asked += 1) }));
    const given = new AbortController();
    const impatient = transport.send(get('/ok', { signal: given.signal, beforeSend: () => void (asked += 100) }));
    await sleep(50);
    given.abort(new Error('gave up'));
    await assert.rejects(impatient, /gave up/);
    assert.equal(asked, 0);
    abort.abort(new Error('stop'));
    assert.equal((await late).status, 200);
    assert.equal(asked, 1);
  });

  it('gives status, headers in lower case, and the body', async () => {
    await using server = await serve();
    await using transport = await open(
      `${server.url}/prefix`,
      { credentials: bearerToken('secret') },
      { userAgent: 'me/1' },
    );
    const answer = await transport.send({
      method: 'PATCH',
      path: '/api/v1/nodes/a?x=1',
      headers: { 'content-type': 'application/json-patch+json' },
      body: '[{"op":"test"}]',
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-some-header'], 'Value');
    const echo = JSON.parse(await textOf(answer)) as { headers: Record<string, string> } & Record<string, unknown>;
    assert.equal(echo['method'], 'PATCH');
    assert.equal(echo['url'], '/prefix/api/v1/nodes/a?x=1');
    assert.equal(echo['body'], '[{"op":"test"}]');
    assert.equal(echo.headers['user-agent'], 'me/1');
    assert.equal(echo.headers['authorization'], tls ? 'Bearer secret' : undefined);
    assert.equal(echo.headers['content-type'], 'application/json-patch+json');
  });

  it('sends a header once for each value of a list', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const headers = { 'impersonate-user': 'a', 'impersonate-group': ['g', 'h'] };
    const answer = await transport.send({ method: 'GET', path: '/', headers });
    const { rawHeaders } = JSON.parse(await textOf(answer)) as { rawHeaders: readonly string[] };
    const groups = rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'impersonate-group');
    assert.deepEqual(groups, ['g', 'h']);
  });

  it('streams a large body whole, at the pace of its reader', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const answer = await transport.send(get('/big'));
    let bytes = 0;
    for await (const chunk of answer.body) {
      if (bytes === 0) await sleep(50);
      bytes += chunk.length;
    }
    assert.equal(bytes, 64 * 64 * 1024);
  });

  it('aborts a request that has no answer yet, and tells the server', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const abort = new AbortController();
    const reason = new Error('enough');
    const pending = transport.send(get('/hang', { signal: abort.signal }));
    pending.catch(() => undefined);
    await until(() => server.open === 1, 'the server has the request');
    abort.abort(reason);
    await assert.rejects(pending, (error) => error === reason);
    await until(() => server.open === 0, 'the server has seen the abort');
  });

  it('rejects at once when the signal has aborted before', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    await assert.rejects(transport.send(get('/ok', { signal: AbortSignal.abort(new Error('before')) })), /before/);
    assert.equal(server.connections.made, 0);
  });

  it('aborts a body that is being read with the reason of the signal', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const abort = new AbortController();
    const answer = await transport.send(watch('/watch', { signal: abort.signal }));
    const reading = textOf(answer);
    reading.catch(() => undefined);
    await sleep(20);
    abort.abort(new Error('stopped'));
    await assert.rejects(reading, /stopped/);
    await until(() => server.open === 0, 'the server has seen the abort');
  });

  it('ends a request whose whole answer does not come in time, before the headers and after them', async () => {
    await using server = await serve();
    const clock = new FakeClock();
    await using transport = await open(server.url, {}, { clock });
    const hanging = failsWith('timeout', transport.send(get('/hang', { timeoutMs: 100 })));
    await until(() => server.open === 1, 'the server has seen the request');
    await clock.advance(100);
    assert.match((await hanging).message, /127\.0\.0\.1:\d+: GET \/hang: no whole answer within 100 ms/);
    const reading = failsWith('timeout', textOf(await transport.send(get('/watch', { timeoutMs: 100 }))));
    await clock.advance(100);
    await reading;
    await until(() => server.open === 0, 'the server has seen the end');
  });

  it('closes the stream when the reader returns early, and when it never read at all', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    for await (const chunk of (await transport.send(watch('/watch'))).body) {
      assert.equal(Buffer.from(chunk).toString(), 'first\n');
      break;
    }
    await until(() => server.open === 0, 'the first is closed');
    const unread = await transport.send(watch('/watch'));
    await unread.body[Symbol.asyncIterator]().return?.();
    await until(() => server.open === 0, 'the second is closed');
  });

  it('never passes half an answer off as a whole one', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const error = await failsWith('connection-reset', transport.send(get('/half')).then(textOf));
    assert.ok(isTransportError(error) && error.sent);
  });

  it('says that a request may have taken effect when the connection broke after it was sent', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const error = await failsWith('connection-reset', transport.send({ method: 'POST', path: '/reset', body: '{}' }));
    assert.ok(isTransportError(error) && error.sent);
  });

  it('works again after the connection broke', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    await assert.rejects(transport.send(get('/reset')));
    assert.equal((await transport.send(get('/ok'))).status, 200);
  });

  it('repeats a GET whose connection broke, when retries are on', async () => {
    await using server = await serve();
    await using transport = await open(server.url, {}, { retry: {} });
    assert.equal(await textOf(await transport.send(get('/reset-once'))), 'second');
  });

  it('names the server when the connection is refused, and knows that nothing was sent', async () => {
    const { url, port } = await (async () => {
      await using gone = await serve();
      return { url: gone.url, port: gone.port };
    })();
    await using transport = await open(url);
    const error = await failsWith('connection-refused', transport.send(get('/ok')));
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}: connection refused`));
    assert.ok(isTransportError(error) && !error.sent);
  });

  /** A watch over a connection that can be frozen; the interval is longer than the time-out, so that the clock tells the two apart. */
  async function freezableWatch(server: LocalServer) {
    const proxy = await startFreezableProxy(server.port);
    const url = server.url.replace(String(server.port), String(proxy.port));
    const clock = new FakeClock();
    const transport = await open(url, {}, { clock, pingIntervalMs: 200, pingTimeoutMs: 150 });
    const body = (await transport.send(watch('/watch'))).body[Symbol.asyncIterator]();
    assert.equal((await body.next()).done, false);
    let ended = false;
    const reading = failsWith('peer-unresponsive', body.next()).finally(() => (ended = true));
    return {
      clock,
      transport,
      thaw: () => proxy.thaw(),
      hasEnded: () => ended,
      /** Freezes the peer, which is noticed within interval + time-out, and not before. */
      isNoticedOnFreeze: async () => {
        proxy.freeze();
        await clock.advance(349);
        assert.equal(ended, false);
        await clock.advance(1);
        await reading;
      },
      [Symbol.asyncDispose]: async () => {
        reading.catch(() => undefined);
        await transport[Symbol.asyncDispose]();
        await proxy[Symbol.asyncDispose]();
      },
    };
  }

  it('notices a frozen peer by a silent watch', async () => {
    await using server = await serve();
    await using watched = await freezableWatch(server);
    await watched.isNoticedOnFreeze();
    watched.thaw();
    const again = await watched.transport.send(watch('/watch'));
    await again.body[Symbol.asyncIterator]().return?.();
  });

  if (protocol === 'h2') {
    it('notices a frozen peer also on a connection that takes no more requests', async () => {
      await using server = await serve();
      await using watched = await freezableWatch(server);
      const { clock, transport } = watched;
      server.goaway();
      // On another connection: the one with the watch is drained by then.
      await until(async () => {
        await textOf(await transport.send(get('/ok')));
        return server.connections.made > 1;
      }, 'the GOAWAY has arrived');
      for (let ping = 1; ping <= 3; ping++) {
        await clock.advance(200);
        // The time-out, which is sooner, is no longer pending.
        await until(() => clock.nextTimerIn === 200, `PING ${ping} is answered`);
        assert.equal(watched.hasEnded(), false, 'it is well');
      }
      await watched.isNoticedOnFreeze();
    });
  }

  it('leaves a watch alone that is silent while the peer is well', async () => {
    await using server = await serve();
    const clock = new FakeClock();
    await using transport = await open(server.url, {}, { clock, pingIntervalMs: 30, pingTimeoutMs: 500 });
    const answer = await transport.send(watch('/watch'));
    const reading = textOf(answer);
    let ended = false;
    reading.catch(() => (ended = true));
    for (let ping = 1; ping <= 10; ping++) {
      await clock.advance(30);
      // The time-out is no longer pending.
      await until(() => clock.nextTimerIn === 30, `ping ${ping} is answered`);
    }
    assert.equal(ended, false);
  });

  it('gives up when no connection comes about in time', async () => {
    await using server = await serve();
    await using proxy = await startFreezableProxy(server.port);
    proxy.freeze();
    const url = server.url.replace(String(server.port), String(proxy.port));
    await using transport = await open(url, {}, { connectTimeoutMs: 150 });
    // Plain TCP stands at once; there the whole request runs out of time.
    const limits = { timeoutMs: tls ? 60_000 : 3_000 };
    await failsWith(tls ? 'connect-timeout' : 'timeout', transport.send(get('/ok', limits)));
  });

  it('sends again after a 429, of any method, and not without being asked', async () => {
    await using server = await serve();
    await using plain = await open(server.url);
    assert.equal((await plain.send({ method: 'POST', path: '/throttled-once', body: '{}' })).status, 429);
    await using again = await serve();
    await using retrying = await open(again.url, {}, { retry: {} });
    const answer = await retrying.send({ method: 'POST', path: '/throttled-once', body: '{}' });
    assert.equal(answer.status, 200);
    assert.equal(await textOf(answer), 'attempt 2');
  });

  it('gives the last answer when the retries are used up, and never repeats a PATCH on 503', async () => {
    await using server = await serve();
    await using transport = await open(server.url, {}, { retry: { maxRetries: 3 } });
    assert.equal(await textOf(await transport.send(get('/unavailable'))), 'attempt 4');
    const patch = await transport.send({ method: 'PATCH', path: '/unavailable', body: '{}' });
    assert.equal(await textOf(patch), 'attempt 5');
  });

  it('refuses a header that cannot be sent, and goes on', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    await textOf(await transport.send(get('/ok')));
    await failsWith('protocol-error', transport.send(get('/ok', { headers: { 'transfer-encoding': 'chunked' } })));
    await textOf(await transport.send(get('/ok')));
    if (protocol === 'h2') assert.equal(server.connections.made, 1);
  });

  it('aborts what is in flight when it is closed, and refuses what comes later', async () => {
    await using server = await serve();
    const transport = await open(server.url);
    const reading = textOf(await transport.send(watch('/watch')));
    reading.catch(() => undefined);
    const hanging = transport.send(get('/hang'));
    hanging.catch(() => undefined);
    await until(() => server.open === 2, 'both are under way');
    await transport[Symbol.asyncDispose]();
    await failsWith('closed', reading);
    await failsWith('closed', hanging);
    await failsWith('closed', transport.send(get('/ok')));
    await until(() => server.connections.open === 0, 'all connections are closed');
  });

  it('keeps watches and leases off the connections of ordinary requests', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    for (const traffic of ['default', 'watch', 'lease'] as const) {
      await textOf(await transport.send(get('/ok', { traffic })));
    }
    assert.ok(server.connections.open >= 3);
    for (let i = 0; i < 5; i++) await textOf(await transport.send(get('/ok')));
    if (protocol === 'h2') assert.equal(server.connections.made, 3);
    // undici may begin a second connection while it still tidies up the first.
    else assert.ok(server.connections.made <= 8, `${server.connections.made}`);
  });

  it('opens and aborts watches one after another without leaving anything behind', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const round = async (): Promise<void> => {
      const abort = new AbortController();
      const answer = await transport.send(watch('/watch', { signal: abort.signal }));
      const reader = answer.body[Symbol.asyncIterator]();
      await reader.next();
      abort.abort(new Error('done'));
      await reader.next().catch(() => undefined);
    };
    for (let i = 0; i < 20; i++) await round();
    await until(() => server.open === 0, 'all are closed at the server');
    await sleep(50);
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 300; i++) await round();
    await until(() => server.open === 0, 'all are closed at the server');
    await until(() => readdirSync('/proc/self/fd').length <= before + 4, 'the number of open files is as before');
    if (protocol === 'h2') assert.equal(server.connections.made, 1);
  });

  it('shows no secret in an error', async () => {
    await using server = await serve();
    await using transport = await open(server.url, { credentials: bearerToken('hunter2-token') });
    for (const path of ['/reset', '/half']) {
      let caught: Error | undefined;
      await transport
        .send({ method: 'POST', path, body: 'hunter2-body' })
        .then(textOf)
        .catch((error: Error) => (caught = error));
      assert.ok(caught);
      for (let error: unknown = caught; error instanceof Error; error = error.cause) {
        assert.doesNotMatch(`${error.message} ${JSON.stringify(error)} ${error.stack}`, /hunter2/);
      }
    }
  });

  if (protocol !== 'h2') {
    it('cuts a watch that has been silent for longer than any bookmark may take', async () => {
      await using server = await serve();
      await using transport = await open(server.url, {}, { pingIntervalMs: 30, idleTimeoutMs: 200 });
      const error = await failsWith('peer-unresponsive', transport.send(watch('/watch')).then(textOf));
      assert.match(error.message, /nothing was heard for 200 ms/);
    });
  }

  if (!tls) {
    it('sends no credentials over plain http, and asks nobody for them', async () => {
      await using server = await serve();
      const warnings: string[] = [];
      const credentials: Credentials = { current: () => assert.fail('asked'), renew: () => assert.fail('asked') };
      const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
      await using transport = await open(server.url, { credentials }, { logger });
      assert.equal(await textOf(await transport.send(get('/private'))), '');
      assert.deepEqual(warnings, ['Credentials are not sent over plain http; use an https server']);
    });
    return;
  }

  it('renews credentials at a 401 and sends once more', async () => {
    await using server = await serve();
    let renewals = 0;
    let credential: Credential = { headers: { authorization: 'Bearer old' } };
    await using transport = await open(server.url, {
      credentials: {
        current: () => Promise.resolve(credential),
        renew: (rejected) => {
          if (rejected !== credential) return Promise.resolve(credential);
          renewals += 1;
          credential = { headers: { authorization: 'Bearer new' } };
          return Promise.resolve(credential);
        },
      },
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => transport.send(get('/private'))));
    for (const answer of answers) {
      assert.equal(answer.status, 200);
      assert.equal(await textOf(answer), 'Bearer new');
    }
    assert.equal(renewals, 1);
  });

  it('hands a 401 on when there is nothing else to try, body and all', async () => {
    await using server = await serve();
    await using transport = await open(server.url, { credentials: bearerToken('wrong') });
    const answer = await transport.send(get('/private'));
    assert.equal(answer.status, 401);
    assert.equal(await textOf(answer), 'Bearer wrong');
  });

  it('does not talk to a server that it cannot trust', async () => {
    await using server = await serve();
    const other = await createTestAuthority('another-ca');
    await using transport = await open(server.url, { tls: { ca: { data: other.ca } } });
    const error = await failsWith('tls-untrusted', transport.send(get('/ok')));
    assert.match(error.message, /certificate-authority/);
    await using trusting = await open(server.url, { tls: { insecureSkipVerify: true } });
    assert.equal((await trusting.send(get('/ok'))).status, 200);
  });

  it('trusts an intermediate authority that is configured alone, as Go does', async () => {
    const cluster = await (await authority()).intermediate('cluster-ca');
    await using server = await serve({ certificate: await cluster.issue({ name: 'server' }) });
    await using transport = await open(server.url, { tls: { ca: { data: cluster.ca } } });
    assert.equal((await transport.send(get('/ok'))).status, 200);
    const other = await (await authority()).intermediate('another-ca');
    await using wary = await open(server.url, { tls: { ca: { data: other.ca } } });
    await failsWith('tls-untrusted', wary.send(get('/ok')));
  });

  it('checks the name in the certificate, and takes the one it is told', async () => {
    const certificate = await (await authority()).issue({ name: 'server', hosts: ['api.example'] });
    await using server = await serve({ certificate });
    await using wrong = await open(server.url);
    await failsWith('tls-name-mismatch', wrong.send(get('/ok')));
    const ca = { data: (await authority()).ca };
    await using right = await open(server.url, { tls: { ca, serverName: 'api.example' } });
    assert.equal((await right.send(get('/ok'))).status, 200);
  });

  it('sends nothing to a server of an organization that it is told to refuse, though its authority is trusted', async () => {
    const node = await (await authority()).issue({ name: 'node,O=other,O=system:nodes' });
    const manager = await (await authority()).issue({ name: 'manager,O=other' });
    const tls = { ca: { data: (await authority()).ca }, refusedOrganization: 'system:nodes' };
    await using refused = await serve({ certificate: node });
    await using wary = await open(refused.url, { tls });
    assert.match((await failsWith('tls-name-mismatch', wary.send(get('/ok')))).message, /system:nodes/);
    await using taken = await serve({ certificate: manager });
    await using content = await open(taken.url, { tls });
    assert.equal((await content.send(get('/ok'))).status, 200);
  });

  it('does not accept an expired certificate of the server', async () => {
    const certificate = await (await authority()).issue({ name: 'server', notAfter: new Date(Date.now() - 60_000) });
    await using server = await serve({ certificate });
    await using transport = await open(server.url);
    await failsWith('tls-expired', transport.send(get('/ok')));
  });

  it('uses client certificates that were replaced on disk, without dropping what is in flight', async () => {
    const ca = await authority();
    const handler = paths();
    const files = new Map<string, string>();
    const put = async (name: string): Promise<void> => {
      const issued = await ca.issue({ name });
      files.set('client.crt', issued.certificate).set('client.key', issued.key);
    };
    await put('before');
    files.set('ca.crt', ca.ca);
    // As kube-apiserver, which answers 401 on a connection whose client certificate has expired meanwhile.
    let expired = '';
    await using server = await serve({
      clientCertificates: true,
      handler: (request, response) => {
        if (request.url === '/certificate' && clientName(request) === expired) response.statusCode = 401;
        handler(request, response);
      },
    });
    await using transport = await open(
      server.url,
      { tls: { ca: { file: 'ca.crt' }, certificate: { file: 'client.crt' }, key: { file: 'client.key' } } },
      {
        readFile: (path) => Promise.resolve(files.get(path) ?? assert.fail(path)),
        pingIntervalMs: 40,
        pingTimeoutMs: 30_000,
      },
    );
    const inFlight = await transport.send(watch('/watch'));
    let broken = false;
    const reading = textOf(inFlight).catch(() => (broken = true));
    assert.equal(await textOf(await transport.send(get('/certificate'))), 'before');

    // Half a rotation: the certificate without its key is not used.
    files.set('client.crt', (await ca.issue({ name: 'half' })).certificate);
    expired = 'before';
    assert.equal((await transport.send(get('/certificate'))).status, 401);

    await put('after');
    const answer = await transport.send(get('/certificate'));
    assert.equal(answer.status, 200);
    assert.equal(await textOf(answer), 'after');
    // Several signs of life later, on connections that take no new requests.
    await sleep(300);
    assert.equal(broken, false);
    await transport[Symbol.asyncDispose]();
    await reading;
  });

  it('presents the client certificate that the credentials hold, and a later one on a new connection', async () => {
    const ca = await authority();
    await using server = await serve({ clientCertificates: true });
    let credential: Credential = { headers: {}, certificate: await ca.issue({ name: 'first' }) };
    await using transport = await open(server.url, {
      credentials: { current: () => Promise.resolve(credential), renew: () => Promise.resolve(undefined) },
    });
    assert.equal(await textOf(await transport.send(get('/certificate'))), 'first');
    credential = { headers: {}, certificate: await ca.issue({ name: 'second' }) };
    assert.equal(await textOf(await transport.send(get('/certificate'))), 'second');
  });

  it('says which certificate cannot be used', async () => {
    await using server = await serve();
    await using transport = await open(server.url, { tls: { ca: { data: 'nonsense' } }, source: 'context "x"' });
    const error = await failsWith('tls-material', transport.send(get('/ok')));
    assert.match(error.message, /context "x" cannot be used/);
  });

  if (protocol !== 'h2') return;

  it('does not take its own sleep for a frozen peer', async () => {
    await using server = await serve();
    await using proxy = await startFreezableProxy(server.port);
    const url = server.url.replace(String(server.port), String(proxy.port));
    // A reading that jumps by an hour while a timer runs: SIGSTOP and SIGCONT, or the lid of a laptop.
    let slept = 0;
    const fake = new FakeClock();
    const clock: Clock = {
      now: () => fake.now(),
      monotonic: () => fake.monotonic() + slept,
      setTimer: (delayMs, fire) => fake.setTimer(delayMs, fire),
      sleep: (delayMs, signal) => fake.sleep(delayMs, signal),
    };
    await using transport = await open(url, {}, { clock, pingIntervalMs: 30, pingTimeoutMs: 300 });
    const reading = textOf(await transport.send(watch('/watch')));
    let ended: unknown;
    reading.catch((error: unknown) => (ended = error));
    proxy.freeze();
    await fake.advance(30);
    assert.equal(fake.nextTimerIn, 300, 'a PING is under way');
    slept = 3_600_000;
    await fake.advance(300);
    assert.equal(fake.nextTimerIn, 300, 'the answer to the PING gets another chance to be read');
    proxy.thaw();
    await until(() => fake.nextTimerIn === 30, 'the PING is answered');
    assert.equal(ended, undefined);
  });

  it('lets requests end after GOAWAY, and sends later ones over another connection', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const answer = await transport.send(get('/watch', { timeoutMs: 30_000 }));
    const reader = answer.body[Symbol.asyncIterator]();
    await reader.next();
    server.goaway();
    // Until the GOAWAY has come.
    while (server.connections.made < 2) await textOf(await transport.send(get('/ok')));
    assert.equal(server.connections.made, 2);
    await until(() => server.open === 1, 'the first request alone is still under way');
    await reader.return?.();
    await until(() => server.connections.open === 1, 'the old connection is closed when it is done');
  });

  it('keeps an answer that came whole when the connection closes before it is read', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const answer = await transport.send(get('/ok'));
    await sleep(50);
    server.goaway();
    await sleep(200);
    assert.match(await textOf(answer), /"method":"GET"/);
  });

  it('sends what the server refused before processing it over another connection', async () => {
    let refused = 0;
    const handler = paths();
    await using server = await serve({
      handler: (request, response) => {
        if ('stream' in request && refused < 1) {
          refused += 1;
          request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
        } else handler(request, response);
      },
    });
    await using transport = await open(server.url);
    assert.equal((await transport.send({ method: 'POST', path: '/ok', body: '{}' })).status, 200);
    assert.equal(refused, 1);
  });

  it('reports a server that refuses for ever', async () => {
    let refused = 0;
    await using server = await serve({
      handler: (request) => {
        refused += 1;
        if ('stream' in request) request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      },
    });
    await using transport = await open(server.url);
    const error = await failsWith('request-refused', transport.send({ method: 'POST', path: '/ok', body: '{}' }));
    assert.ok(isTransportError(error) && !error.sent);
    assert.equal(refused, 4);
  });

  it('ends a connection that the server ends with an error, and opens another', async () => {
    await using server = await serve();
    await using transport = await open(server.url);
    const reading = textOf(await transport.send(watch('/watch')));
    reading.catch(() => undefined);
    server.goaway(constants.NGHTTP2_INTERNAL_ERROR);
    await failsWith('connection-reset', reading);
    assert.equal((await transport.send(get('/ok'))).status, 200);
  });

  it('opens another connection when the streams of one run out', async () => {
    await using server = await serve({ maxStreams: 3 });
    await using transport = await open(server.url);
    const answers: TransportResponse[] = [];
    for (let i = 0; i < 8; i++) answers.push(await transport.send(watch('/watch')));
    assert.equal(server.connections.made, 3);
    for (const answer of answers) await answer.body[Symbol.asyncIterator]().return?.();
  });

  /** HTTP/2 behind TLS connections of which the first ones come to grief before it begins. */
  async function serveAfter(...grief: readonly ((socket: TLSSocket) => void)[]) {
    const { certificate: cert, key } = await (await authority()).issue({ name: 'server' });
    let made = 0;
    const sockets = new Set<Socket>();
    const h2 = createSecureServer({ cert, key }, (_request, response) => response.end('{}'));
    const server = createTls({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
      const spoil = grief[made++];
      if (spoil) spoil(socket);
      else h2.emit('secureConnection', socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      get made() {
        return made;
      },
      get open() {
        return sockets.size;
      },
      [Symbol.asyncDispose]: async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  it('forgets a connection that ends between TLS and the beginning of HTTP/2', async () => {
    await using server = await serveAfter((socket) => void socket.end());
    await using transport = await open(server.url);
    await failsWith('connection-reset', transport.send(get('/ok')));
    assert.equal((await transport.send(get('/ok'))).status, 200);
    assert.equal(server.made, 2);
  });

  it('gives up a connection on which HTTP/2 does not begin in time, and makes another', async () => {
    await using server = await serveAfter((socket) => void socket.resume());
    const clock = new FakeClock();
    await using transport = await open(server.url, {}, { clock, connectTimeoutMs: 1_000 });
    const silent = failsWith('connect-timeout', transport.send(get('/ok')));
    await until(() => server.made === 1, 'TLS stands');
    await clock.advance(1_000);
    const error = await silent;
    assert.ok(isTransportError(error) && !error.sent);
    assert.equal((await transport.send(get('/ok'))).status, 200);
    await until(async () => {
      await clock.advance(100);
      return server.open === 1;
    }, 'the silent one is closed');
  });

  it('tries another connection beside one that takes too long, and keeps the one that stands first', async () => {
    let begin = (): void => undefined;
    const behind = createSecureServer({}, (_request, response) => response.end('{}'));
    await using server = await serveAfter((socket) => {
      begin = () => void behind.emit('secureConnection', socket);
    });
    const clock = new FakeClock();
    await using transport = await open(server.url, {}, { clock, connectTimeoutMs: 10_000 });
    const first = transport.send(get('/ok', { timeoutMs: 5_000 }));
    const timedOut = failsWith('timeout', first);
    await until(() => server.made === 1, 'TLS stands');
    await clock.advance(5_000);
    await timedOut;
    assert.equal((await transport.send(get('/ok'))).status, 200);
    assert.equal(server.made, 2);
    // The slow one stands after all, when nobody needs it any more.
    begin();
    await until(async () => {
      await clock.advance(1_000);
      return server.open === 1;
    }, 'the connection in excess is closed');
    assert.equal((await transport.send(get('/ok'))).status, 200);
    assert.equal(server.made, 2);
  });

  it('sends the second try of a Lease over another connection when the first one died without a word', async () => {
    await using server = await serve();
    await using proxy = await startFreezableProxy(server.port);
    const clock = new FakeClock();
    await using transport = await open(server.url.replace(String(server.port), String(proxy.port)), {}, { clock });
    const renew = { method: 'PUT', path: '/ok', body: '{}', traffic: 'lease', timeoutMs: 5_000 } as const;
    await textOf(await transport.send(renew));
    proxy.freezeStanding();
    const first = failsWith('timeout', transport.send(renew));
    await clock.advance(5_000);
    await first;
    assert.equal((await transport.send(renew)).status, 200);
    assert.equal(server.connections.made, 2);
    // The dead one is not kept beside it, even if it comes to life again.
    proxy.thaw();
    await clock.advance(1_000);
    await until(() => server.connections.open === 1, 'the dead connection is closed');
    for (let i = 0; i < 3; i++) await textOf(await transport.send(renew));
    assert.equal(server.connections.made, 2);
  });

  it('keeps the connection of a request that timed out when the peer is only slow', async () => {
    await using server = await serve();
    const clock = new FakeClock();
    await using transport = await open(server.url, {}, { clock });
    const slow = failsWith('timeout', transport.send(get('/hang', { timeoutMs: 5_000 })));
    await until(() => server.open === 1, 'the server has the request');
    await clock.advance(5_000);
    await slow;
    await until(() => server.open === 0, 'the server has seen the end');
    // Both ends are in this process: it is by turns, and not by time, that the peer is heard.
    for (let turn = 0; turn < 100; turn++) await clock.settle();
    await textOf(await transport.send(get('/ok')));
    assert.equal(server.connections.made, 1);
  });

  it('goes on over the connections that there are when all were in doubt and the peer is heard again', async () => {
    await using server = await serve({ maxStreams: 1 });
    await using proxy = await startFreezableProxy(server.port);
    const clock = new FakeClock();
    await using transport = await open(server.url.replace(String(server.port), String(proxy.port)), {}, { clock });
    const watching: TransportResponse[] = [];
    for (let i = 0; i < 8; i++) watching.push(await transport.send(watch('/watch', { traffic: 'default' })));
    const ends = watching.map((answer) => answer.body[Symbol.asyncIterator]());
    for (const end of ends) await end.return?.();
    await until(() => server.open === 0, 'all streams are free');
    proxy.freeze();
    const silent = Array.from({ length: 8 }, () =>
      failsWith('timeout', transport.send(get('/ok', { timeoutMs: 5_000 }))),
    );
    const late = transport.send(get('/ok'));
    await clock.advance(5_000);
    await Promise.all(silent);
    proxy.thaw();
    assert.equal((await late).status, 200);
    assert.equal(server.connections.made, 8);
  });

  it('asks for HTTP/2 again some time after a server had none', async () => {
    const { certificate: cert, key } = await (await authority()).issue({ name: 'server' });
    let old = true;
    const server = createSecureServer(
      { cert, key, allowHTTP1: true, ALPNCallback: ({ protocols }) => protocols.find((name) => !old || name !== 'h2') },
      (request, response) => response.end(request.httpVersion),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const clock = new FakeClock();
      await using transport = await open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, {}, { clock });
      const version = async (): Promise<string> => textOf(await transport.send(get('/')));
      assert.equal(await version(), '1.1');
      old = false;
      await clock.advance(599_000);
      assert.equal(await version(), '1.1');
      await clock.advance(1_000);
      assert.equal(await version(), '2.0');
    } finally {
      server.close();
    }
  });

  it('can be closed at any moment while it connects', async () => {
    await using server = await serveAfter();
    for (let turns = 0; turns < 12; turns++) {
      // The connection timer is cancelled in the turn in which TLS stands.
      const clock: Clock = {
        ...systemClock,
        setTimer: (delayMs, fire, options) => {
          const timer = systemClock.setTimer(delayMs, fire, options);
          if (delayMs !== 54_321) return timer;
          let left = turns;
          const step = (): void => {
            if (left-- > 0) queueMicrotask(step);
            else void transport[Symbol.asyncDispose]();
          };
          return {
            cancel: () => {
              timer.cancel();
              step();
            },
          };
        },
      };
      const transport = await open(server.url, {}, { clock, connectTimeoutMs: 54_321 });
      await failsWith('closed', transport.send(get('/ok')));
    }
    await until(() => server.open === 0, 'all connections are closed');
  });

  it('tells of a server that closes each connection before HTTP/2 begins, and does not connect in a loop', async () => {
    const { certificate: cert, key } = await (await authority()).issue({ name: 'server' });
    let made = 0;
    const server = createTls({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
      made += 1;
      socket.on('error', () => undefined);
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await using transport = await open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
      await failsWith('connection-reset', transport.send(get('/ok')));
      assert.equal(made, 1);
    } finally {
      server.close();
    }
  });

  it('answers a burst beyond all streams', async () => {
    await using server = await serve({ maxStreams: 4 });
    await using transport = await open(server.url);
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => (await transport.send(get('/ok')).then(textOf)).length),
    );
    assert.equal(answers.length, 200);
    assert.ok(server.connections.made <= 8);
  });
}
