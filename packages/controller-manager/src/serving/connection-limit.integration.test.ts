import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect, type ConnectionOptions } from 'node:tls';
import { silentLogger, systemClock } from '@outrigger/kube';
import { TestAuthority } from '../access/test-authority.suite.ts';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { clientHello } from './client-hello.suite.ts';
import { textAnswer, type HttpApp } from './http-app.ts';
import { startSecureServer, type SecureServerOptions } from './secure-server.ts';

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

  async start({ requestTimeoutMs = 90_000, ...more }: Partial<SecureServerOptions> = {}): Promise<this> {
    const app: HttpApp = async ({ path }) => {
      if (path !== '/slow') return textAnswer('ok');
      this.asked.resolve();
      await this.answer.promise;
      return textAnswer('late');
    };
    const base = { app, bindAddress: '127.0.0.1', clock: systemClock, logger: silentLogger, port: 0 } as const;
    const limits = { mostConnections: MOST, requestTimeoutMs };
    const server = this.#owned.use(await startSecureServer({ ...base, ...limits, metrics: this.metrics, ...more }));
    this.port = Number(new URL(server.url).port);
    return this;
  }

  /** Resolves with a connection over which half a request was sent: `from` is an address of this machine. */
  async half(from = '127.0.0.1', shown: Pick<ConnectionOptions, 'cert' | 'key'> = {}): Promise<Socket> {
    const raw = await this.silent(from);
    const socket = connect({ socket: raw, rejectUnauthorized: false, ...shown });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n');
    return socket;
  }

  /** One over which a request was answered, and which stays. */
  async served(from: string, { key, pem }: TestAuthority): Promise<Socket> {
    const socket = await this.half(from, { cert: pem, key });
    socket.write('\r\n');
    await once(socket, 'data');
    return socket.resume();
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

const authorities = ({ pem }: TestAuthority): Partial<SecureServerOptions> => ({
  clientAuthorities: { current: () => [pem], onChange: () => () => {} },
});

/** '' where the connection is ended. */
async function answerOver(socket: Socket, said: string): Promise<string> {
  if (isClosed(socket)) return '';
  socket.write(said);
  return String(await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => '')]));
}

test('a certificate of the cluster, as each kubelet has one, puts no caller before one without', linux, async () => {
  const cluster = await TestAuthority.create('CN=kubernetes');
  const kubelet = await cluster.issue('O=system:nodes,CN=system:node:a');
  await using rig = await new Rig().start(authorities(cluster));
  for (let i = 0; i < MOST - 1; i++) await rig.served('127.0.0.2', kubelet);
  const probe = await rig.half('127.0.0.1');
  for (let i = 0; i < MOST; i++) await rig.served('127.0.0.2', kubelet);
  assert.match(await answerOver(probe, 'connection: close\r\n\r\n'), /^HTTP\/1\.1 200/u);
});

test('where API servers call, one that shows its certificate goes last, and a kubelet does not', linux, async () => {
  const cluster = await TestAuthority.create('CN=kubernetes');
  const server = await cluster.issue('CN=kube-apiserver');
  const kubelet = await cluster.issue('O=system:nodes,CN=system:node:a');
  await using rig = await new Rig().start({ ...authorities(cluster), forApiServers: true });
  const servers = [];
  for (let i = 0; i < MOST / 2; i++) servers.push(await rig.served('127.0.0.1', server));
  const kubelets = [];
  for (let i = 0; i < MOST / 2; i++) kubelets.push(await rig.served('127.0.0.2', kubelet));
  // Each from its own address: it is the API server that holds most.
  for (let i = 3; i < 3 + MOST; i++) await rig.silent(`127.0.0.${i}`);
  const request = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n';
  for (const socket of servers) assert.match(await answerOver(socket, request), /^HTTP\/1\.1 200/u);
  for (const socket of kubelets) assert.equal(await answerOver(socket, request), '');
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
  const rig = await new Rig().start({ requestTimeoutMs: 600_000 });
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
