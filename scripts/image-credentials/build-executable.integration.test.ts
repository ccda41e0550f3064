import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildScript, type BuiltFile } from './build-executable.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-script-'));
after(() => rmSync(folder, { recursive: true }));
let built: BuiltFile;
before(async () => void (built = await buildScript(folder)));

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
  const hangs = setTimeout(() => child.kill('SIGKILL'), 30_000);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  assert.deepEqual(await once(child, 'close'), [1, null]);
  clearTimeout(hangs);
  assert.equal(said, 'outrigger-image-credentials ecr: timeout: no credentials within 1 s\n');
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
