import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { askProgram } from './fake-services.suite.ts';

test('install puts the executable, its names and the configuration onto the node, and again when they are there', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-install-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (...names: readonly string[]): string => path.join(folder, ...names);
  mkdirSync(at('from', '..data'), { recursive: true });
  writeFileSync(at('self'), 'first');
  writeFileSync(at('from', '..data', 'ecr.yml'), 'providers');
  symlinkSync('..data/ecr.yml', at('from', 'ecr.yml'));
  writeFileSync(at('from', 'image-credentials.yaml'), 'timeout: 10s\n');
  writeFileSync(at('from', 'notes.txt'), 'no');
  const args = ['install', `--bin-dir=${at('bin')}`, `--config-dir=${at('etc')}`, `--from=${at('from')}`];
  for (const text of ['first', 'second']) {
    writeFileSync(at('self'), text);
    const { code, stderr } = await askProgram(args, { self: at('self') });
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(readFileSync(at('bin', 'outrigger-image-credentials-ecr'), 'utf8'), text);
  }
  assert.equal(statSync(at('bin', 'outrigger-image-credentials')).mode & 0o777, 0o755);
  assert.ok(lstatSync(at('bin', 'outrigger-image-credentials-acr')).isSymbolicLink());
  assert.equal(readFileSync(at('etc', 'credential-providers', 'ecr.yml'), 'utf8'), 'providers');
  assert.ok(lstatSync(at('etc', 'credential-providers', 'ecr.yml')).isFile());
  assert.deepEqual(readdirSync(at('etc')).toSorted(), ['credential-providers', 'image-credentials.yaml']);
  assert.deepEqual(readdirSync(at('etc', 'credential-providers')), ['ecr.yml']);
});

const providersOf = (...names: readonly string[]): string =>
  JSON.stringify({ kind: 'CredentialProviderConfig', providers: names.map((name) => ({ name })) });

test('a kubelet never finds a provider in two files: what is replaced goes, and what is not its own is left and told', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-install-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (...names: readonly string[]): string => path.join(folder, ...names);
  const ecr = 'outrigger-image-credentials-ecr';
  mkdirSync(at('from'));
  writeFileSync(at('self'), 'program');
  writeFileSync(at('from', 'ecr.yml'), providersOf(ecr));
  const args = ['install', `--bin-dir=${at('bin')}`, `--config-dir=${at('etc')}`, `--from=${at('from')}`];
  const installs = () => askProgram(args, { self: at('self') });
  const onNode = () => readdirSync(at('etc', 'credential-providers')).toSorted();
  assert.equal((await installs()).code, 0);
  writeFileSync(at('etc', 'credential-providers', 'acme.yml'), providersOf('acme', 'outrigger-image-credentials-gcr'));
  writeFileSync(at('etc', 'credential-providers', 'no.yaml'), '[{');

  rmSync(at('from', 'ecr.yml'));
  writeFileSync(at('from', 'ecr-service-accounts.yml'), providersOf(ecr));
  const { code, stdout } = await installs();
  assert.equal(code, 0);
  assert.match(
    stdout,
    /ecr\.yml: removed, as the kubelet takes outrigger-image-credentials-ecr from one file alone\n/u,
  );
  assert.deepEqual(onNode(), ['acme.yml', 'ecr-service-accounts.yml', 'no.yaml']);

  writeFileSync(at('from', 'gcr.yml'), providersOf('outrigger-image-credentials-gcr'));
  const foreign = await installs();
  assert.equal(foreign.code, 1);
  assert.match(foreign.stderr, /gcr\.yml and \S+acme\.yml both name the provider outrigger-image-credentials-gcr/u);
  writeFileSync(at('from', 'gcr.yml'), providersOf(ecr));
  assert.match((await installs()).stderr, /ecr-service-accounts\.yml and gcr\.yml both name the provider/u);
  assert.deepEqual(onNode(), ['acme.yml', 'ecr-service-accounts.yml', 'no.yaml']);
});

test('where it cannot write, it says so', async () => {
  const args = ['install', '--bin-dir=/dev/null/bin', '--config-dir=/dev/null/etc'];
  const { code, stderr } = await askProgram(args, { self: '/nowhere' });
  assert.equal(code, 1);
  assert.match(stderr, /^outrigger-image-credentials install: configuration: cannot be installed: ENOTDIR/u);
  assert.match((await askProgram(['install'], {})).stderr, /usage: install needs --bin-dir and --config-dir/u);
});
