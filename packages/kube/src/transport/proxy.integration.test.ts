import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { loadConfig } from '../config/load-config.ts';
import { createTransport } from './create-transport.ts';
import { startLocalServer } from './local-server.suite.ts';
import { createTestAuthority } from './test-certificates.suite.ts';
import { isTransportError } from './transport-error.ts';

/** A proxy that tunnels for those who know the password; to `toPort` of this machine, whatever it was asked for. */
async function startProxy(toPort?: number) {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connect', (request, client: Socket) => {
    sockets.add(client);
    client.on('error', () => undefined);
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
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

test('reaches the server through a proxy, certificate checked', { timeout: 60_000 }, async () => {
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

test('reaches the server through the proxy of the environment', { timeout: 60_000 }, async () => {
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

test('says that the proxy is at fault, without its password', { timeout: 60_000 }, async () => {
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
