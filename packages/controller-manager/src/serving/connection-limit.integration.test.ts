import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { silentLogger, systemClock } from '@outrigger/kube';
import { Hono } from 'hono';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { clientHello } from './client-hello.suite.ts';
import { startSecureServer } from './secure-server.ts';

const MOST = 8;

/** A listener for `MOST` connections, one page of which answers when it is told to, and callers that ask for half a page. */
class Rig implements AsyncDisposable {
  readonly metrics = new PrometheusMetrics();
  readonly #callers: Socket[] = [];
  readonly #owned = new AsyncDisposableStack();
  port = 0;
  /** The page `/slow` is asked for. */
  asked = Promise.withResolvers<void>();
  answer = Promise.withResolvers<void>();

  async start(requestTimeoutMs = 90_000): Promise<this> {
    const app = new Hono()
      .get('/healthz', (context) => context.text('ok'))
      .get('/slow', async (context) => {
        this.asked.resolve();
        await this.answer.promise;
        return context.text('late');
      });
    const base = { app, bindAddress: '127.0.0.1', clock: systemClock, logger: silentLogger, port: 0 } as const;
    const limits = { mostConnections: MOST, requestTimeoutMs };
    const server = this.#owned.use(await startSecureServer({ ...base, ...limits, metrics: this.metrics }));
    this.port = Number(new URL(server.url).port);
    return this;
  }

  /** Resolves with a connection over which half a request was sent: `from` is an address of this machine. */
  async half(from = '127.0.0.1'): Promise<Socket> {
    const raw = await this.silent(from);
    const socket = connect({ socket: raw, rejectUnauthorized: false });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n');
    return socket;
  }

  /** One that does not even begin a handshake. */
  async silent(from = '127.0.0.1'): Promise<Socket> {
    const socket = connectPlain({ host: '127.0.0.1', port: this.port, localAddress: from });
    socket.on('error', () => {});
    await once(socket, 'connect');
    this.#callers.push(socket);
    return socket;
  }

  /** One that begins a handshake, is answered, and says no more. */
  async started(from = '127.0.0.1'): Promise<Socket> {
    const socket = await this.silent(from);
    socket.write(await clientHello());
    return socket;
  }

  ask(path: string, from = '127.0.0.1'): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, path, localAddress: from } as const;
      get({ ...options, agent: false, rejectUnauthorized: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(text));
      }).on('error', reject);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.answer.resolve();
    await this.#owned.disposeAsync();
    for (const caller of this.#callers) caller.destroy();
  }
}

const isClosed = (socket: Socket): boolean => socket.destroyed || socket.readableEnded;

const KINDS = {
  half: 'half requests',
  silent: 'connections without a handshake',
  started: 'handshakes that are not gone on with',
} as const;

for (const kind of ['half', 'silent', 'started'] as const) {
  test(`amid ${KINDS[kind]} from the same address everybody is served`, async () => {
    await using rig = await new Rig().start();
    for (let i = 0; i < 3 * MOST; i++) await rig[kind]();
    for (let i = 0; i < 3; i++) assert.equal(await rig.ask('/healthz'), 'ok');
    const ended = /connections_ended_total\{listener="secure"\} (\d+)/u.exec(await rig.metrics.render())?.[1];
    assert.ok(Number(ended) >= 2 * MOST, ended);
  });
}

test('who is being answered is answered, however many come', async () => {
  await using rig = await new Rig().start();
  const late = rig.ask('/slow');
  await rig.asked.promise;
  for (let i = 0; i < 3 * MOST; i++) await rig.half();
  rig.answer.resolve();
  assert.equal(await late, 'late');
});

const linux = { skip: process.platform === 'linux' ? false : 'needs a second loopback address' };

test('a caller with few connections keeps them, however many another one makes', linux, async () => {
  await using rig = await new Rig().start();
  const few = [await rig.half('127.0.0.2'), await rig.half('127.0.0.2')];
  const many = [];
  for (let i = 0; i < 3 * MOST; i++) many.push(await rig.half('127.0.0.1'));
  for (const socket of few) socket.write('connection: close\r\n\r\n');
  for (const socket of few) assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200/u);
  for (const socket of many.slice(0, MOST)) if (!isClosed(socket)) await once(socket.resume(), 'close');
});

test('handshakes are begun at a bounded rate, and another address waits for none of them', linux, async () => {
  await using rig = await new Rig().start();
  const hello = await clientHello();
  let begun = 0;
  // Each is ended for the next one, or answered: the burst, and after that a hundred a second.
  const startedAt = systemClock.monotonic();
  for (let i = 0; i < 400; i++) {
    const socket = await rig.silent();
    socket.once('data', () => begun++);
    socket.write(hello);
  }
  assert.equal(await rig.ask('/healthz', '127.0.0.2'), 'ok');
  const seconds = (systemClock.monotonic() - startedAt) / 1_000;
  assert.ok(begun > 50 && begun <= 101 + 100 * seconds, `${begun} in ${seconds} s`);
});

// Which may take 200 s here.
test('a stop does not wait for who is in a handshake', { timeout: 60_000 }, async () => {
  const rig = await new Rig().start(600_000);
  const silent = await rig.silent();
  const closed = once(silent.resume(), 'close');
  await rig[Symbol.asyncDispose]();
  await closed;
});

test('requests that nobody waits the answers of end the connection', async () => {
  await using rig = await new Rig().start();
  const socket = await rig.half();
  socket.resume().write(`\r\n${'GET /slow HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(20)}`);
  await once(socket, 'close');
  assert.equal(await rig.ask('/healthz'), 'ok');
});
