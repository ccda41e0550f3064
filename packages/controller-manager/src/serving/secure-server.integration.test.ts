import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { silentLogger, systemClock, type Logger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { CertificateError } from './certificate-files.ts';
import { textAnswer, type HttpApp } from './http-app.ts';
import { startSecureServer } from './secure-server.ts';
import { makeSelfSignedCertificate } from './self-signed-certificate.ts';

const app: HttpApp = async ({ path }) => (path === '/healthz' ? textAnswer('ok') : textAnswer('', 404));
const base = { app, bindAddress: '127.0.0.1', clock: systemClock, logger: silentLogger, port: 0 } as const;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly fingerprint: string;
}

function ask(url: string, ca?: string, servername?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const named = servername === undefined ? {} : { servername };
    const options = { agent: false, ...named, ...(ca === undefined ? { rejectUnauthorized: false } : { ca }) } as const;
    get(`${url}/healthz`, options, (response) => {
      const fingerprint = (response.socket as TLSSocket).getPeerCertificate().fingerprint256;
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, fingerprint }));
    }).on('error', reject);
  });
}

test('serves over TLS with a certificate of its own making', async () => {
  await using server = await startSecureServer(base);
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/u);
  const answer = await ask(server.url);
  assert.deepEqual([answer.status, answer.body], [200, 'ok']);
});

test('the certificate of its own making is valid for the address and for localhost', async () => {
  const certificate = await makeSelfSignedCertificate(systemClock, ['node-1.example']);
  const parsed = new X509Certificate(certificate.cert);
  assert.equal(parsed.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(parsed.checkHost('node-1.example'), 'node-1.example');
  assert.ok(parsed.verify(parsed.publicKey));
});

test('serves plain HTTP only when told to, and ends open connections when closed', async () => {
  const server = await startSecureServer({ ...base, tls: 'plain' });
  assert.match(server.url, /^http:/u);
  assert.equal(await (await fetch(`${server.url}/healthz`)).text(), 'ok');
  await server[Symbol.asyncDispose]();
  await assert.rejects(fetch(`${server.url}/healthz`));
});

test('an idle connection is kept longer than Go keeps it, so that no request comes into one that is being closed', async () => {
  await using server = await startSecureServer({ ...base, tls: 'plain' });
  const { headers } = await fetch(`${server.url}/healthz`);
  const [, seconds] = /^timeout=(\d+)$/u.exec(headers.get('keep-alive') ?? '') ?? [];
  assert.ok(Number(seconds) > 90, `${seconds} s`);
});

test('a port in use is one clear line', async () => {
  await using server = await startSecureServer({ ...base, tls: 'plain' });
  const port = Number(new URL(server.url).port);
  await assert.rejects(startSecureServer({ ...base, port, tls: 'plain' }), {
    code: 'cannot-listen',
    message: new RegExp(`^cannot listen on 127\\.0\\.0\\.1 port ${port}: the port is in use`, 'u'),
  });
});

test('a second listener names its own flags', async () => {
  await using server = await startSecureServer({ ...base, tls: 'plain' });
  const port = Number(new URL(server.url).port);
  const second = { ...base, port, flagPrefix: 'webhook-' } as const;
  await assert.rejects(startSecureServer({ ...second, tls: 'plain' }), {
    message: /see --webhook-bind-address and --webhook-secure-port$/u,
  });
  const missing = { certFile: '/nonexistent/tls.crt', keyFile: '/nonexistent/tls.key' };
  await assert.rejects(startSecureServer({ ...second, tls: missing }), {
    message: '--webhook-tls-cert-file: /nonexistent/tls.crt: there is no such file',
  });
});

test('certificate files are served, read again when renewed, and kept when what is new is broken', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-tls-'));
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  const clock = new FakeClock();
  try {
    const [first, second] = [
      await makeSelfSignedCertificate(systemClock, []),
      await makeSelfSignedCertificate(systemClock, []),
    ];
    await writeFile(files.certFile, first.cert);
    await writeFile(files.keyFile, first.key);
    await using server = await startSecureServer({ ...base, clock, tls: files });
    const before = await ask(server.url, first.cert);
    await writeFile(files.keyFile, 'half a fi');
    await clock.advance(60_000);
    assert.equal((await ask(server.url, first.cert)).fingerprint, before.fingerprint);
    await writeFile(files.certFile, second.cert);
    await writeFile(files.keyFile, second.key);
    let renewed = '';
    // The files are read on the thread pool, which no clock moves.
    while (renewed === '' || renewed === before.fingerprint) {
      await clock.advance(60_000);
      renewed = (await ask(server.url)).fingerprint;
    }
    assert.notEqual(renewed, before.fingerprint);
    assert.equal((await ask(server.url, second.cert)).status, 200);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('what is shown for a name is told without its key, and when the first of all expires', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-tls-'));
  const metrics = new PrometheusMetrics();
  const DAY_MS = 86_400_000;
  try {
    const [own, named] = [
      await makeSelfSignedCertificate(systemClock, []),
      await makeSelfSignedCertificate(new FakeClock(systemClock.now() - 300 * DAY_MS), ['a.kube-system.svc']),
    ];
    // One file of both is common.
    const pair = async (name: string, { cert, key }: typeof own): Promise<{ certFile: string; keyFile: string }> => {
      const file = join(directory, name);
      await writeFile(file, `${key}${cert}`);
      return { certFile: file, keyFile: file };
    };
    await using server = await startSecureServer({
      ...base,
      metrics,
      flagPrefix: 'webhook-',
      tls: await pair('own.pem', own),
      named: [
        { ...(await pair('named.pem', named)), names: ['*.kube-system.svc'] },
        // By the names in its certificate.
        { ...(await pair('other.pem', named)), names: [] },
      ],
    });
    for (const name of ['', '\0', 'a b', 'ä'.repeat(300)]) {
      assert.equal(server.certificateFor(name).trim(), own.cert.trim(), JSON.stringify(name));
    }
    assert.equal(server.certificateFor('a.kube-system.svc').trim(), named.cert.trim());
    assert.equal(server.certificateFor('a.default.svc').trim(), own.cert.trim());
    assert.equal(
      (await ask(server.url, undefined, 'a.kube-system.svc')).fingerprint,
      new X509Certificate(server.certificateFor('a.kube-system.svc')).fingerprint256,
    );
    const expires = Number(new X509Certificate(named.cert).validToDate) / 1000;
    assert.match(
      await metrics.render(),
      new RegExp(
        `^outrigger_serving_certificate_expiration_timestamp_seconds\\{listener="webhook"\\} ${expires}$`,
        'mu',
      ),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a certificate that may come later is waited for without a warning, and served from then on', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-tls-'));
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  const clock = new FakeClock();
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
  try {
    const mine = await makeSelfSignedCertificate(systemClock, []);
    await using server = await startSecureServer({ ...base, clock, logger, tls: { ...files, mayComeLater: true } });
    await assert.rejects(ask(server.url, mine.cert), 'one of its own making');
    await clock.advance(60_000);
    await writeFile(files.certFile, mine.cert);
    await writeFile(files.keyFile, 'half a fi');
    // Its key is another matter: what is there and cannot be served is told.
    while (warnings.length === 0) {
      await clock.advance(60_000);
      await new Promise(setImmediate);
    }
    assert.deepEqual(warnings, ['Changed file rejected; the previous content stays in effect']);
    await writeFile(files.keyFile, mine.key);
    const wanted = new X509Certificate(mine.cert).fingerprint256;
    while ((await ask(server.url)).fingerprint !== wanted) await clock.advance(60_000);
    assert.equal((await ask(server.url, mine.cert)).status, 200);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a certificate that may come later and is there is served at once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-tls-'));
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key'), mayComeLater: true };
  try {
    const mine = await makeSelfSignedCertificate(systemClock, []);
    await writeFile(files.certFile, mine.cert);
    await writeFile(files.keyFile, mine.key);
    await using server = await startSecureServer({ ...base, tls: files });
    assert.equal((await ask(server.url, mine.cert)).status, 200);
    await writeFile(files.keyFile, 'no key');
    await assert.rejects(startSecureServer({ ...base, tls: files }), CertificateError);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a certificate that cannot be served names flag and file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-tls-'));
  const [certFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  try {
    await assert.rejects(startSecureServer({ ...base, tls: { certFile, keyFile } }), (error: unknown) => {
      assert.ok(error instanceof CertificateError);
      assert.equal(error.message, `--tls-cert-file: ${certFile}: there is no such file`);
      return true;
    });
    await writeFile(certFile, 'no PEM');
    await writeFile(keyFile, 'no PEM');
    await assert.rejects(
      startSecureServer({ ...base, tls: { certFile, keyFile } }),
      /tls\.crt: no PEM block CERTIFICATE$/u,
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('callers that ask for a name get the certificate of that name, which is read again too', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-sni-'));
  const file = (name: string): string => join(directory, name);
  const clock = new FakeClock();
  const put = async (name: string): Promise<string> => {
    const { cert, key } = await makeSelfSignedCertificate(systemClock, [`${name}.example`]);
    await writeFile(file(`${name}.crt`), cert);
    await writeFile(file(`${name}.key`), key);
    return new X509Certificate(cert).fingerprint256;
  };
  try {
    const [one, two] = [await put('one'), await put('two')];
    await using server = await startSecureServer({
      ...base,
      clock,
      named: [
        { certFile: file('one.crt'), keyFile: file('one.key'), names: ['*.example.com', 'example.com'] },
        { certFile: file('two.crt'), keyFile: file('two.key'), names: [] },
      ],
    });
    const shown = async (servername: string): Promise<string> =>
      (await ask(server.url, undefined, servername)).fingerprint;
    for (const name of ['a.example.com', 'example.com', 'A.EXAMPLE.COM']) assert.equal(await shown(name), one, name);
    assert.equal(await shown('two.example'), two);
    for (const name of ['a.b.example.com', 'other.org', 'notexample.com'])
      assert.ok(![one, two].includes(await shown(name)), name);
    const renewed = await put('one');
    let now = one;
    // The files are read on the thread pool, which no clock moves.
    while (now === one) {
      await clock.advance(10_000);
      now = await shown('example.com');
    }
    assert.equal(now, renewed);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a certificate and the key of another one are refused', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-tls-'));
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  try {
    await writeFile(files.certFile, (await makeSelfSignedCertificate(systemClock, [])).cert);
    await writeFile(files.keyFile, (await makeSelfSignedCertificate(systemClock, [])).key);
    await assert.rejects(startSecureServer({ ...base, tls: files }), { code: 'serving-certificate' });
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the lowest TLS version is what it is set to', async () => {
  const settings = { minVersion: 'VersionTLS13', cipherSuites: [], curvePreferences: [29] } as const;
  await using server = await startSecureServer({ ...base, settings });
  const { port } = new URL(server.url);
  const attempt = (maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false, maxVersion }, () => {
        resolve(socket.getProtocol() ?? '');
        socket.destroy();
      });
      socket.on('error', () => resolve('refused'));
    });
  assert.equal(await attempt('TLSv1.2'), 'refused');
  assert.equal(await attempt('TLSv1.3'), 'TLSv1.3');
});

test('with TLS 1.2 no other cipher suite than those that are named is spoken', async () => {
  const settings = {
    minVersion: 'VersionTLS12',
    cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
    curvePreferences: [],
  } as const;
  await using server = await startSecureServer({ ...base, settings });
  await using any = await startSecureServer({ ...base, settings: { ...settings, cipherSuites: [] } });
  const spoken = ({ url }: { readonly url: string }, ciphers: string): Promise<string> =>
    new Promise((resolve) => {
      const options = {
        host: '127.0.0.1',
        port: Number(new URL(url).port),
        rejectUnauthorized: false,
        ciphers,
      } as const;
      const socket = connect({ ...options, maxVersion: 'TLSv1.2' }, () => {
        resolve(socket.getCipher().name);
        socket.destroy();
      });
      socket.on('error', () => resolve('refused'));
    });
  const [named, other] = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'];
  assert.equal(await spoken(server, `${other}:${named}`), named);
  assert.equal(await spoken(server, other), 'refused');
  assert.equal(await spoken(any, other), other);
});

const open = (port: number): Socket => connect({ host: '127.0.0.1', port, rejectUnauthorized: false });

/** All that comes back until the server ends the connection, which this side leaves open. */
function heard(socket: Socket, said: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    // The server may end the connection amid what is sent.
    socket.on('error', () => {});
    socket.write(said);
  });
}

test('a request whose headers do not end is refused, and the next caller is served', async () => {
  await using server = await startSecureServer(base);
  const socket = open(Number(new URL(server.url).port));
  const said = `GET /healthz HTTP/1.1\r\nhost: a\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(100)}`;
  assert.match(await heard(socket, said), /^(?:HTTP\/1\.1 431 |$)/u);
  assert.equal((await ask(server.url)).status, 200);
});

const echo: HttpApp = async (request) =>
  request.path === '/echo' ? textAnswer(await text(request.incoming).catch(() => '')) : app(request);
const openWithoutHandshake = (port: number): Socket => connectPlain({ host: '127.0.0.1', port });

// They wait, and so beside each other.
describe('who does not go on', { concurrency: true }, () => {
  for (const { answer, by, said, what } of [
    { what: 'no request', by: open, said: '', answer: /^HTTP\/1\.1 408 / },
    { what: 'half of the headers', by: open, said: 'GET /healthz HTTP/1.1\r\nhost: a\r\n', answer: /^HTTP\/1\.1 408 / },
    {
      what: 'half of the body',
      by: open,
      said: 'PUT /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab',
      answer: /^HTTP\/1\.1 408 /,
    },
    { what: 'no handshake', by: openWithoutHandshake, said: '', answer: /^$/ },
  ]) {
    // Without the server's own limit they are ended too, by Node's: after one minute to five. A handshake has a third of it, on a
    // busy machine too.
    test(`who sends ${what} is not waited for, and the next caller is served`, { timeout: 55_000 }, async () => {
      await using server = await startSecureServer({ ...base, app: echo, requestTimeoutMs: 18_000 });
      assert.match(await heard(by(Number(new URL(server.url).port)), said), answer);
      assert.equal((await ask(server.url)).status, 200);
    });
  }
});
