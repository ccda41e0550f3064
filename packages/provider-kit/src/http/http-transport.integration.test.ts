import assert from 'node:assert/strict';
import { webcrypto, X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { isCloudError } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { HttpTransport, proxiesOf, type HttpTransportOptions, type ReceivedHttp } from './http-transport.ts';

x509.cryptoProvider.set(webcrypto as never);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { signal } = new AbortController();

async function selfSigned(): Promise<{ readonly cert: string; readonly key: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=acme',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: ALGORITHM,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}

async function listening(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function ask(url: string, options: Partial<HttpTransportOptions> = {}): Promise<ReceivedHttp> {
  await using transport = new HttpTransport({ clock: systemClock, ...options });
  return await transport.send({ method: 'POST', url, headers: { 'x-a': '1' }, body: 'hello' }, signal);
}

test(
  'a request goes as it is written, and its answer comes whole; a redirect is an answer',
  { timeout: 60_000 },
  async () => {
    await using server = await listening(
      createServer((request, response) => {
        response.writeHead(302, { location: 'http://elsewhere.example/', 'x-b': ['2', '3'] });
        response.write(`${request.method} ${request.url} ${String(request.headers['x-a'])} `);
        request.pipe(response);
      }),
    );
    const answer = await ask(`http://127.0.0.1:${server.port}/a/b?c=d`);
    assert.deepEqual(
      [answer.status, answer.text, answer.header('location'), answer.header('x-b'), answer.header('none')],
      [302, 'POST /a/b?c=d 1 hello', 'http://elsewhere.example/', '2, 3', undefined],
    );
  },
);

test(
  'nobody there, and a certificate that is not believed, are `unavailable` with the reason',
  { timeout: 60_000 },
  async () => {
    const identity = await selfSigned();
    await using server = await listening(createSecureServer(identity, (_request, response) => response.end('well')));
    const url = `https://127.0.0.1:${server.port}/`;
    assert.equal((await ask(url, { tls: { ca: identity.cert } })).text, 'well');
    assert.equal((await ask(url, { tls: { rejectUnauthorized: false } })).text, 'well');
    const refused = (reason: RegExp) => (error: unknown) =>
      isCloudError(error, 'unavailable') && reason.test(error.message);
    await assert.rejects(ask(url), refused(/cannot be reached: .*certificate/u));
    await assert.rejects(ask(url, { tls: { ca: (await selfSigned()).cert } }), refused(/certificate/u));
    await assert.rejects(ask('http://127.0.0.1:1/'), refused(/ECONNREFUSED/u));
  },
);

test(
  'a certificate is accepted by its thumbprint, also through a proxy, and nothing is sent to a server that shows another',
  { timeout: 60_000 },
  async () => {
    const identity = await selfSigned();
    let heard = 0;
    await using server = await listening(
      createSecureServer(identity, (_request, response) => response.end(`${++heard}`)),
    );
    const proxy = createServer();
    proxy.on('connect', (_request, socket) => {
      socket.on('error', () => {});
      const onward = connect(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      onward.on('error', () => socket.destroy());
    });
    await using listens = await listening(proxy);
    const { fingerprint, fingerprint256 } = new X509Certificate(identity.cert);
    const ways = [
      { url: `https://127.0.0.1:${server.port}/` },
      { url: 'https://acme.example/', proxies: proxiesOf({ HTTPS_PROXY: `http://127.0.0.1:${listens.port}` }) },
    ];
    for (const { url, ...options } of ways) {
      for (const thumbprint of [fingerprint, fingerprint256, fingerprint.replaceAll(':', '').toLowerCase()]) {
        assert.match((await ask(url, { ...options, tls: { thumbprint } })).text, /^\d$/u);
      }
      const before = heard;
      const other = new X509Certificate((await selfSigned()).cert).fingerprint256;
      for (const thumbprint of [other, fingerprint.slice(0, -3), '']) {
        await assert.rejects(
          ask(url, { ...options, tls: { thumbprint } }),
          (error) => isCloudError(error, 'unavailable') && error.message.includes(fingerprint),
        );
      }
      assert.equal(heard, before);
    }
  },
);

test('an answer that does not end is given up, and said so', { timeout: 60_000 }, async () => {
  let sent = 0;
  await using server = await listening(
    createServer((_request, response) => {
      const piece = Buffer.alloc(1_048_576, 'x');
      const send = (): void => {
        while (!response.destroyed && response.write(piece)) sent += 1;
      };
      response.on('drain', send);
      send();
    }),
  );
  const here = `http://127.0.0.1:${server.port}`;
  const tooLong = /^http:\/\/(?:127\.0\.0\.1:\d+|acme\.example) answered with more than 64 MiB$/u;
  for (const [url, options] of [
    [here],
    ['http://acme.example', { proxies: proxiesOf({ HTTP_PROXY: here }) }],
  ] as const) {
    sent = 0;
    await assert.rejects(ask(`${url}/`, options), (error) => {
      return isCloudError(error, 'unavailable') && tooLong.test(error.message);
    });
    assert.ok(sent < 100, `${sent} MiB`);
  }
});

test('a proxy is asked for what it is meant for', { timeout: 60_000 }, async () => {
  const tunnels: string[] = [];
  await using server = await listening(createServer((_request, response) => response.end('well')));
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    const onward = connect(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  proxy.on('request', (request, response) => {
    tunnels.push(request.url ?? '');
    response.end('well');
  });
  await using listens = await listening(proxy);
  const env = { HTTP_PROXY: `http://127.0.0.1:${listens.port}`, no_proxy: 'direct.example' };
  const proxies = proxiesOf(env);
  assert.deepEqual(proxies, { http: env.HTTP_PROXY, https: '', except: 'direct.example,localhost,127.0.0.1,[::1]' });
  assert.equal((await ask('http://acme.example/', { proxies })).text, 'well');
  assert.equal(tunnels.length, 1);
  assert.match(tunnels[0] ?? '', /acme\.example/u);
  assert.equal((await ask(`http://127.0.0.1:${server.port}/`, { proxies })).text, 'well');
  assert.equal(tunnels.length, 1, 'the machine itself is asked directly');
});
