import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config/load-config.ts';
import { createTransport } from './create-transport.ts';
import { startLocalServer } from './local-server.suite.ts';
import { createTestAuthority } from './test-certificates.suite.ts';
import { isTransportError } from './transport-error.ts';

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = systemClock.monotonic() + 120_000;
  while (!(await condition())) {
    assert.ok(systemClock.monotonic() < end, `after 120 s still not: ${what}`);
    await sleep(10);
  }
}

/** A proxy that tunnels for those who know the password; to `toPort` of this machine, whatever it was asked for. */
async function startProxy(toPort?: number, isDeaf: () => boolean = () => false) {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connect', (request, client: Socket) => {
    sockets.add(client);
    client.on('error', () => undefined);
    client.once('close', () => sockets.delete(client));
    if (isDeaf()) {
      client.resume().once('end', () => client.end());
      return;
    }
    const expected = `Basic ${Buffer.from('me:hunter2').toString('base64')}`;
    if (request.headers['proxy-authorization'] !== expected) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    tunnels.push(request.url ?? '');
    const [host, port] = (request.url ?? '').split(':');
    const upstream = connect(toPort ?? Number(port), toPort === undefined ? host : '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    tunnels,
    get open() {
      return sockets.size;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

test('reaches the server through a proxy, certificate checked', { timeout: 300_000 }, async () => {
  const authority = await createTestAuthority();
  await using proxy = await startProxy();
  await using server = await startLocalServer({
    protocol: 'h1-tls',
    authority,
    handler: (_, response) => void (response as NodeJS.WritableStream).end('through'),
  });
  const config = { server: server.url, tls: { ca: { data: authority.ca } } };
  const proxyUrl = `http://me:hunter2@127.0.0.1:${proxy.port}`;
  await using transport = createTransport({ ...config, proxyUrl });
  const answer = await transport.send({ method: 'GET', path: '/' });
  assert.equal(answer.status, 200);
  for await (const chunk of answer.body) assert.equal(Buffer.from(chunk).toString(), 'through');
  assert.deepEqual(proxy.tunnels, [`127.0.0.1:${server.port}`]);

  const other = await createTestAuthority('other');
  await using wary = createTransport({ ...config, tls: { ca: { data: other.ca } }, proxyUrl }, { retry: false });
  await assert.rejects(wary.send({ method: 'GET', path: '/' }), { code: 'tls-untrusted' });
});

test('reaches the server through the proxy of the environment', { timeout: 300_000 }, async () => {
  const authority = await createTestAuthority();
  await using server = await startLocalServer({
    protocol: 'h1-tls',
    authority,
    handler: (_, response) => void (response as NodeJS.WritableStream).end('through'),
  });
  await using proxy = await startProxy(server.port);
  const kubeconfig = JSON.stringify({
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a' } }],
    clusters: [
      {
        name: 'a',
        cluster: {
          server: 'https://api.example:6443',
          'tls-server-name': 'localhost',
          'certificate-authority-data': Buffer.from(authority.ca).toString('base64'),
        },
      },
    ],
  });
  const env = { HTTPS_PROXY: `http://me:hunter2@127.0.0.1:${proxy.port}` };
  const secrets: string[] = [];
  const config = await loadConfig({
    kubeconfig: '/k',
    env,
    readFile: () => Promise.resolve(kubeconfig),
    onSecret: (secret) => void secrets.push(secret),
  });
  await using transport = createTransport(config);
  const answer = await transport.send({ method: 'GET', path: '/' });
  for await (const chunk of answer.body) assert.equal(Buffer.from(chunk).toString(), 'through');
  assert.deepEqual([proxy.tunnels, secrets.includes('hunter2')], [['api.example:6443'], true]);

  const own = await loadConfig({
    master: 'https://api.example',
    kubeconfigPaths: [],
    env: { ...env, NO_PROXY: '.example' },
  });
  assert.equal(own.proxyUrl, undefined);
});

test('says that the proxy is at fault, without its password', { timeout: 300_000 }, async () => {
  const authority = await createTestAuthority();
  await using proxy = await startProxy();
  const proxyUrl = `http://me:hunter3@127.0.0.1:${proxy.port}`;
  await using transport = createTransport({
    server: 'https://127.0.0.1:1',
    tls: { ca: { data: authority.ca } },
    proxyUrl,
  });
  await assert.rejects(transport.send({ method: 'GET', path: '/' }), (error) => {
    assert.ok(isTransportError(error), String(error));
    assert.equal(error.code, 'proxy-failed', error.message);
    assert.equal(error.sent, false);
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /hunter3/);
    return true;
  });
});

test(
  'gives up on a proxy that does not answer, and takes up with it again when it does',
  { timeout: 300_000 },
  async () => {
    const authority = await createTestAuthority();
    let deaf = true;
    await using proxy = await startProxy(undefined, () => deaf);
    await using server = await startLocalServer({
      protocol: 'h1-tls',
      authority,
      handler: (_, response) => void (response as NodeJS.WritableStream).end('through'),
    });
    const config = {
      server: server.url,
      tls: { ca: { data: authority.ca } },
      proxyUrl: `http://me:hunter2@127.0.0.1:${proxy.port}`,
    };
    await using transport = createTransport(config, { retry: false, connectTimeoutMs: 5_000 });
    const ask = (timeoutMs: number) => transport.send({ method: 'GET', path: '/', timeoutMs });
    await assert.rejects(ask(30_000), (error) => {
      assert.ok(isTransportError(error), String(error));
      assert.equal(error.code, 'proxy-failed', error.message);
      assert.equal(error.sent, false);
      return true;
    });
    // More than there are connections for, and each is gone before the proxy is given up.
    await Promise.all(Array.from({ length: 70 }, () => assert.rejects(ask(50), { code: 'timeout' })));
    await until(() => proxy.open === 0, 'no connection to the proxy is left over');
    deaf = false;
    // A busy machine may cut a connection that would come about.
    await until(async () => (await ask(60_000).catch(() => undefined))?.status === 200, 'it is taken up with again');

    deaf = true;
    const closing = createTransport(config, { retry: false });
    const pending = assert.rejects(closing.send({ method: 'GET', path: '/' }), { code: 'closed' });
    const before = proxy.open;
    await until(() => proxy.open > before, 'the proxy is asked for a tunnel');
    await closing[Symbol.asyncDispose]();
    await pending;
    await until(() => proxy.open === before, 'closing the transport closes that connection');
  },
);
