import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import { makeSelfSignedCertificate } from '../../packages/controller-manager/src/serving/self-signed-certificate.ts';
import { shippedNode } from '../image/shipped-node.ts';
import { buildExecutable, buildScript, compileProgram, type BuiltFile } from './build-executable.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-script-'));
after(() => rmSync(folder, { recursive: true }));
let built: BuiltFile;
before(async () => void (built = await buildScript(folder)));

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const REQUEST =
  '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"nginx"}';

test('the script has at most 300 kB, and nothing of the manager in it', () => {
  assert.ok(built.bytes <= 300_000, `${built.bytes} bytes`);
  const text = readFileSync(built.file, 'utf8');
  assert.ok(text.startsWith('#!/usr/bin/env node\n'));
  assert.doesNotMatch(text, /reflector|leaderElection|hono/u);
});

test('it runs by itself, by the name that the kubelet calls it by', () => {
  const link = path.join(folder, 'outrigger-image-credentials-ecr');
  symlinkSync('outrigger-image-credentials.mjs', link);
  const { status, stderr, stdout } = spawnSync(link, ['ecr'], { input: REQUEST, encoding: 'utf8' });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^outrigger-image-credentials ecr: registry-not-allowed: docker\.io is not in ecr\.registries/u);
});

test('it ends in its time although its stdin does not', async () => {
  const config = path.join(folder, 'c.yaml');
  writeFileSync(config, 'timeout: 1s\n');
  const child = spawn(process.execPath, [built.file, 'ecr', `--config=${config}`], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const hangs = setTimeout(() => child.kill('SIGKILL'), 300_000);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  assert.deepEqual(await once(child, 'close'), [1, null]);
  clearTimeout(hangs);
  assert.equal(said, 'outrigger-image-credentials ecr: timeout: no credentials within 1 s\n');
});

test('a token service of a private authority is reached through the proxy, which sees no token', async () => {
  const { cert, key } = await makeSelfSignedCertificate(systemClock, ['tokens.example.com']);
  const service = createSecureServer({ cert, key }, (_, response) => {
    response.end('{"access_token":"exchanged","expires_in":600}');
  });
  const port = await listen(service);
  const seen: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    seen.push(`${request.method} ${request.url}`);
    const tunnel = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    socket.on('data', (chunk: Buffer) => seen.push(chunk.toString('latin1')));
    // A client that refuses the certificate ends its side while the service still writes: the tunnel ends with it.
    pipeline(socket, tunnel, () => {});
    pipeline(tunnel, socket, () => {});
  });
  const [authority, config] = [path.join(folder, 'authority.pem'), path.join(folder, 'exchange.yaml')];
  writeFileSync(authority, cert);
  const exchangeUrl = 'https://tokens.example.com/exchange';
  writeFileSync(config, JSON.stringify({ generic: { registries: { 'registry.example.com': { exchangeUrl } } } }));
  const ask = async (env: NodeJS.ProcessEnv): Promise<string> => {
    const args = [built.file, 'generic', `--config=${config}`];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const image = 'registry.example.com/app';
    child.stdin.end(JSON.stringify({ ...(JSON.parse(REQUEST) as object), image, serviceAccountToken: 'pod-sekret' }));
    await once(child, 'close');
    return said;
  };
  const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
  // In place of what the machine has.
  const proxies = { HTTPS_PROXY: proxyUrl, https_proxy: proxyUrl, NO_PROXY: '', no_proxy: '' };
  assert.match(await ask({ ...proxies, NODE_EXTRA_CA_CERTS: authority }), /"password":"exchanged"/u);
  assert.equal(seen[0], 'CONNECT tokens.example.com:443');
  assert.doesNotMatch(seen.join(''), /pod-sekret/u);
  assert.match(await ask(proxies), /generic: unavailable: the token exchange at \S+ cannot be reached: self-signed/u);
});

test('install --wait stays until it is asked to end, as in a pod, whose stdin is empty', async () => {
  const args = [
    'install',
    `--bin-dir=${path.join(folder, 'bin')}`,
    `--config-dir=${path.join(folder, 'etc')}`,
    '--wait',
  ];
  const child = spawn(process.execPath, [built.file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(line.toString(), `${path.join(folder, 'bin/outrigger-image-credentials')}\n`);
    const first = await Promise.race([
      ended,
      new Promise((resolve) => void setTimeout(() => resolve('it waits'), 500)),
    ]);
    assert.equal(first, 'it waits');
  } finally {
    child.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null]);
});

test('no executable is made of a Node that is not the pinned one', async () => {
  const root = path.join(folder, 'tampered');
  const { name, version } = shippedNode(repository);
  const node = path.join(root, 'node_modules', name);
  mkdirSync(path.join(node, 'bin'), { recursive: true });
  writeFileSync(path.join(node, 'package.json'), JSON.stringify({ version }));
  writeFileSync(path.join(node, 'bin/node'), 'another');
  const output = path.join(folder, 'executable');
  await assert.rejects(
    buildExecutable(output, root),
    /has the SHA-256 [0-9a-f]{64}, and not .*: it is not the Node of/u,
  );
  assert.equal(existsSync(output), false);
});

test('what is put into Node is the same each time, without a folder of this machine', async () => {
  const node = shippedNode(repository);
  const blobs: Buffer[] = [];
  for (const name of ['one', 'two']) {
    const working = path.join(folder, name);
    mkdirSync(working);
    const { blob, inputs } = await compileProgram(working, node);
    blobs.push(blob);
    assert.ok(inputs.includes('packages/image-credentials/src/bin.ts'));
  }
  const [one, two] = blobs as [Buffer, Buffer];
  assert.ok(one.equals(two));
  assert.equal(one.includes(folder), false);
  assert.ok(one.includes('--disable-sigusr1'), 'SIGUSR1 would open the inspector before the program runs');
});
