import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { acquireBuildLock } from './build-lock.ts';
import { downloadBinary } from './download-binaries.ts';
import { findBinaries, type BinaryMaker } from './find-binaries.ts';
import { RELEASES } from './releases.ts';
import { runCommand } from './run-command.ts';

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function fakeApiServer(path: string, version: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho Kubernetes ${version}\n`);
  await chmod(path, 0o755);
}

test('KUBEBUILDER_ASSETS comes before PATH before the cache, and another version is passed over', async (t) => {
  const root = await temporary(t);
  const version = RELEASES['1.37'].kubernetes;
  const assets = join(root, 'assets', 'kube-apiserver');
  const onPath = join(root, 'bin', 'kube-apiserver');
  const cached = join(root, 'cache', 'outrigger', 'control-plane', version, 'kube-apiserver');
  const env = {
    KUBEBUILDER_ASSETS: join(root, 'assets'),
    PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
    XDG_CACHE_HOME: join(root, 'cache'),
  };
  const find = async (onlyCache = false): Promise<string> => {
    const found = await findBinaries('1.37', ['kube-apiserver'], { env, makers: [], onlyCache });
    return found['kube-apiserver'].source;
  };
  await assert.rejects(find(), { code: 'control-plane-missing' });
  await fakeApiServer(cached, version);
  assert.equal(await find(), 'cache');
  await fakeApiServer(onPath, version);
  assert.equal(await find(), 'PATH');
  await fakeApiServer(assets, version);
  assert.equal(await find(), 'KUBEBUILDER_ASSETS');
  assert.equal(await find(true), 'cache');
  await fakeApiServer(assets, 'v1.37.0');
  await fakeApiServer(onPath, 'v1.37.1-beta.0');
  assert.equal(await find(), 'cache');
});

test('what is missing is made by the first way that works; the error names every way that did not', async (t) => {
  const env = { XDG_CACHE_HOME: await temporary(t), PATH: '' };
  const download: BinaryMaker = { source: 'download', make: () => Promise.reject(new Error('offline')) };
  const build: BinaryMaker = { source: 'build', make: ({ destination }) => fakeApiServer(destination, 'any') };
  await assert.rejects(findBinaries('1.34', ['kubectl'], { env, makers: [download] }), {
    code: 'control-plane-missing',
    message: /no kubectl v1\.34.*download: offline/,
  });
  const found = await findBinaries('1.34', ['kubectl'], { env, makers: [download, build] });
  assert.equal(found.kubectl.source, 'build');
  assert.equal((await findBinaries('1.34', ['kubectl'], { env, makers: [] })).kubectl.source, 'cache');
});

test('two that need the same program at once: one makes it, the other finds it', async (t) => {
  const env = { XDG_CACHE_HOME: await temporary(t), PATH: '' };
  let made = 0;
  const build: BinaryMaker = {
    source: 'build',
    make: async ({ destination }) => {
      made++;
      await fakeApiServer(destination, 'any');
    },
  };
  const sources = await Promise.all(
    [1, 2].map(async () => (await findBinaries('1.37', ['etcd'], { env, makers: [build] })).etcd.source),
  );
  assert.deepEqual(sources.sort(), ['build', 'cache']);
  assert.equal(made, 1);
});

test('the lock of a process that has died is taken over', async (t) => {
  const path = join(await temporary(t), 'lock');
  await writeFile(path, '4194305\n');
  await using _lock = await acquireBuildLock(path, { clock: systemClock });
  assert.equal(await readFile(path, 'utf8'), `${process.pid}\n`);
});

test('a download counts only with its published checksum, and leaves nothing half done', async (t) => {
  const program = Buffer.from('#!/bin/sh\n');
  let sum = createHash('sha256').update(program).digest('hex');
  const server = createServer((request, response) => {
    const path = `/release/${RELEASES['1.37'].kubernetes}/bin/linux/amd64/kubectl`;
    if (request.url === `${path}.sha256`) response.end(sum);
    else if (request.url === path) response.end(program);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const directory = join(await temporary(t), 'v1');
  const options = {
    release: RELEASES['1.37'],
    destination: join(directory, 'kubectl'),
    clock: systemClock,
    sites: { kubernetes: `${base}/release`, etcd: `${base}/etcd` },
    platform: { os: 'linux', arch: 'amd64' },
  };
  await downloadBinary({ ...options, component: 'kubectl' });
  assert.deepEqual(await readFile(options.destination), program);
  await rm(directory, { recursive: true });
  sum = 'f'.repeat(64);
  await assert.rejects(downloadBinary({ ...options, component: 'kubectl' }), /SHA-256 is .*published is fff/);
  await assert.rejects(downloadBinary({ ...options, component: 'etcd' }), /404/);
  assert.deepEqual(await readdir(directory).catch(() => []), []);
  const darwin = { os: 'darwin', arch: 'arm64' };
  await assert.rejects(downloadBinary({ ...options, component: 'etcd', platform: darwin }), /not published for darwin/);
});

test('etcd comes out of its archive', async (t) => {
  const root = await temporary(t);
  const { etcd } = RELEASES['1.37'];
  const name = `etcd-${etcd}-linux-amd64`;
  await mkdir(join(root, name));
  await writeFile(join(root, name, 'etcd'), 'program');
  await runCommand('tar', ['-czf', join(root, 'archive'), '-C', root, name]);
  const archive = await readFile(join(root, 'archive'));
  const sum = createHash('sha256').update(archive).digest('hex');
  const server = createServer((request, response) => {
    if (request.url === `/${etcd}/SHA256SUMS`) response.end(`${'0'.repeat(64)}  other\n${sum}  ${name}.tar.gz\n`);
    else if (request.url === `/${etcd}/${name}.tar.gz`) response.end(archive);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const destination = join(root, 'cache', 'etcd');
  await downloadBinary({
    component: 'etcd',
    release: RELEASES['1.37'],
    destination,
    clock: systemClock,
    sites: { kubernetes: base, etcd: base },
    platform: { os: 'linux', arch: 'amd64' },
  });
  assert.equal(await readFile(destination, 'utf8'), 'program');
  assert.deepEqual(await readdir(dirname(destination)), ['etcd']);
});
