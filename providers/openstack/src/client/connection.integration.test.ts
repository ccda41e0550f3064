import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { webcrypto } from 'node:crypto';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { isCloudError, type CloudErrorCode } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import type { GlobalConfig } from '../config/cloud-config.ts';
import { readCloudConfig } from '../config/read-cloud-config.ts';
import { connectionOf, type Connection } from './connection.ts';
import { openClient, passwordOf, startScriptedCloud } from './scripted-cloud.suite.ts';

x509.cryptoProvider.set(webcrypto as never);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** An authority, below another one's root if asked for, and what it signs for 127.0.0.1. */
async function createAuthority(
  hasRoot = false,
): Promise<{ readonly ca: string; issue(name: string): Promise<Issued> }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const validity = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
  const root = hasRoot ? await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) : keys;
  const own = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: '01',
    subject: 'CN=authority',
    issuer: hasRoot ? 'CN=root' : 'CN=authority',
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey as never,
    signingKey: root.privateKey as never,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return {
    ca: own.toString('pem'),
    issue: async (name) => {
      const pair = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const certificate = await x509.X509CertificateGenerator.create({
        ...validity,
        serialNumber: '02',
        subject: `CN=${name}`,
        issuer: own.subject,
        signingAlgorithm: ALGORITHM,
        publicKey: pair.publicKey as never,
        signingKey: keys.privateKey as never,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
      });
      const key = await webcrypto.subtle.exportKey('pkcs8', pair.privateKey);
      return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
    },
  };
}

async function withFiles<T>(
  files: Readonly<Record<string, string>>,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'connection-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const code = (wanted: CloudErrorCode, message: RegExp) => (error: unknown) => {
  assert.ok(isCloudError(error, wanted), String(error));
  assert.match(error.message, message);
  return true;
};

test('TLS: the authority of ca-file, a client certificate, tls-insecure', { timeout: 120_000 }, async () => {
  const authority = await createAuthority();
  const other = await createAuthority();
  const server = await authority.issue('server');
  const client = await authority.issue('client');
  const files = {
    'ca.pem': authority.ca,
    'other.pem': other.ca,
    'cert.pem': client.certificate,
    'key.pem': client.key,
  };
  await withFiles(files, async (directory) => {
    const file = (name: string): string => path.join(directory, name);
    await using cloud = await startScriptedCloud(systemClock, {
      cert: server.certificate,
      key: server.key,
      ca: authority.ca,
      requestCert: true,
      rejectUnauthorized: true,
    });
    cloud.script = () => ({ body: { well: true } });
    const ask = async (set: Partial<GlobalConfig>): Promise<unknown> => {
      await using rig = await openClient({ ...passwordOf(cloud), ...set }, systemClock);
      return await rig.client.request(rig.call(), { service: 'compute', operation: 'GET /', method: 'GET', path: '/' });
    };
    const own = { certFile: file('cert.pem'), keyFile: file('key.pem') };
    assert.deepEqual(await ask({ caFile: file('ca.pem'), ...own }), { well: true });
    assert.deepEqual(await ask({ tlsInsecure: true, ...own }), { well: true });
    await assert.rejects(ask({ ...own }), code('unavailable', /cannot be reached: .*certificate/u));
    await assert.rejects(
      ask({ caFile: file('other.pem'), ...own }),
      code('unavailable', /cannot be reached: .*certificate/u),
    );
    await assert.rejects(ask({ caFile: file('ca.pem') }), code('unavailable', /cannot be reached/u));
  });
});

test('TLS: an intermediate authority alone in ca-file, as Go takes it', { timeout: 60_000 }, async () => {
  const authority = await createAuthority(true);
  const { certificate: cert, key } = await authority.issue('server');
  await withFiles({ 'ca.pem': authority.ca }, async (directory) => {
    await using cloud = await startScriptedCloud(systemClock, { cert, key });
    cloud.script = () => ({ body: { well: true } });
    await using rig = await openClient({ ...passwordOf(cloud), caFile: path.join(directory, 'ca.pem') }, systemClock);
    const request = { service: 'compute', operation: 'GET /', method: 'GET', path: '/' } as const;
    assert.deepEqual(await rig.client.request(rig.call(), request), { well: true });
  });
});

async function connect(lines: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Connection> {
  const text = ['[Global]', 'auth-url = http://h', 'token = t', ...lines].join('\n');
  const environment = { env, workingDirectory: '/', homeDirectory: '/' };
  const config = await readCloudConfig({ text, fileName: 'cloud.conf' }, environment, assert.fail);
  return connectionOf(config, 'cloud.conf', env);
}

test('what is wrong with a file of TLS is said of the key that names it', async () => {
  const authority = await createAuthority();
  const [one, two] = [await authority.issue('one'), await authority.issue('two')];
  await withFiles(
    { 'a.pem': one.certificate, 'a.key': one.key, 'b.key': two.key, 'text.pem': 'hunter2' },
    async (directory) => {
      const refused = (lines: readonly string[], message: RegExp): Promise<void> =>
        assert.rejects(connect(lines.map((line) => line.replaceAll('DIR', directory))), code('configuration', message));
      await refused(
        ['ca-file = DIR/none.pem'],
        /^cloud\.conf: \[Global\] ca-file .*none\.pem cannot be read: ENOENT$/u,
      );
      await refused(['ca-file = DIR/text.pem'], /ca-file .*text\.pem holds no certificate that can be read$/u);
      await refused(['cert-file = DIR/a.pem'], /cert-file and key-file go together/u);
      await refused(['cert-file = DIR/a.pem', 'key-file = DIR/b.key'], /do not fit together/u);
      const connection = await connect([`cert-file = ${directory}/a.pem`, `key-file = ${directory}/a.key`]);
      assert.equal(connection.tls.key, one.key);
    },
  );
});

test('auth-url with a version or without, and what is none', async () => {
  for (const [url, keystone] of [
    ['http://h:5000', 'http://h:5000/v3'],
    ['http://h:5000/', 'http://h:5000/v3'],
    ['http://h:5000/v3', 'http://h:5000/v3'],
    ['http://h:5000/v3/', 'http://h:5000/v3'],
    ['https://h/identity', 'https://h/identity/v3'],
    ['https://h/identity/v2.0/', 'https://h/identity/v3'],
  ] as const) {
    assert.equal((await connect([`auth-url = ${url}`])).keystone, keystone);
  }
  for (const url of ['h:5000', 'ftp://h', '/v3', 'http://me:hunter2@h']) {
    await assert.rejects(connect([`auth-url = ${url}`]), (error) => {
      assert.ok(isCloudError(error, 'configuration') && !error.message.includes('hunter2'));
      return true;
    });
  }
  await assert.rejects(connect(['auth-url =']), code('configuration', /auth-url is needed/u));
});

test('a proxy is asked for what it is for, and never for this machine', async () => {
  const asked: string[] = [];
  await using proxy = await startScriptedCloud(systemClock);
  const tunnels = createServer();
  tunnels.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  tunnels.on('request', (request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(502).end();
  });
  await new Promise<void>((resolve) => tunnels.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = tunnels.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    const env = { https_proxy: url, HTTP_PROXY: url, NO_PROXY: '127.0.0.2' };
    const ask = async (authUrl: string): Promise<unknown> => {
      await using rig = await openClient({ ...passwordOf(proxy), authUrl }, systemClock, { env });
      return await rig.client.connect(rig.call()).catch((error: unknown) => error);
    };
    await ask('https://outside.test/identity');
    assert.deepEqual(asked, ['outside.test:443']);
    // Nobody listens there, and no name has to be looked up for it.
    await ask('https://127.0.0.2:9/identity');
    assert.equal(await ask(`${proxy.origin}/identity`), undefined);
    assert.deepEqual(asked, ['outside.test:443']);
  } finally {
    tunnels.closeAllConnections();
    await new Promise((resolve) => tunnels.close(resolve));
  }
});
