/** A provider's repository as its author gets it: created by the tarball of create-provider, with the tarballs of all packages, outside of the tree. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { makePackages } from './make-packages.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-created-'));
const packages = path.join(directory, 'packages');
const repository = path.join(directory, 'acme');

after(() => rmSync(directory, { recursive: true }));

before(async () => {
  const tarballs = makePackages({ output: packages });
  const creator = path.join(directory, 'creator');
  mkdirSync(creator);
  writeFileSync(path.join(creator, 'package.json'), '{ "private": true }\n');
  const own = tarballs.find(({ name }) => name === '@outrigger/create-provider');
  assert.ok(own);
  await done(creator, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', own.file]);
  const program = path.join(creator, 'node_modules/.bin/create-provider');
  const output = await done(directory, program, [
    'acme',
    '--load-balancers',
    '--routes',
    '--volumes',
    `--packages=${packages}`,
  ]);
  assert.match(output, /^acme: \d+ files, with nodes, load-balancers, routes, volumes$/mu);
  await done(repository, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']);
});

/** What it says. Fails with that where it does not end with 0. */
function done(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const path = `${process.execPath.replace(/\/node$/u, '')}:${env['PATH']}`;
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...env, PATH: path, MAKEFLAGS: '' }, timeout: 300_000 };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new assert.AssertionError({ message: `${command} ${args.join(' ')}:\n${stdout}${stderr}` }));
    });
  });
}

test('make test passes at once, without a network', async () => {
  const output = await done(repository, 'make', ['test', 'INSTALLED=']);
  assert.ok(Number(/^ℹ pass (\d+)$/mu.exec(output)?.[1]) > 70, output);
  assert.match(output, /^ℹ fail 0$/mu);
});

test('its program lints it', async () => {
  const output = await done(repository, 'make', ['lint-repo', 'INSTALLED=']);
  assert.match(output, /^acme: passed; of what a repository must have 0 missed/mu);
});

test('its conformance run ends well, and its report is what the index of providers lacks', async () => {
  const output = await done(repository, 'make', ['conformance', 'INSTALLED=']);
  assert.match(output, / \d+ passed in /u);
  const card = path.join(repository, 'provider.yaml');
  writeFileSync(card, readFileSync(card, 'utf8').replace('# conformance: ', 'conformance: '));
  const linted = await done(repository, 'make', ['lint-repo', 'INSTALLED=']);
  assert.match(linted, /^should {2}conformance-report +ok +reports\/report\.json$/mu);
});

test('compiled, as in its image, the program is there with its provider', async () => {
  await done(repository, 'make', ['build', 'INSTALLED=']);
  assert.match(await done(repository, 'node', ['dist/main.js', '--version']), /^Outrigger v/u);
  writeFileSync(path.join(repository, 'cloud.yaml'), 'endpoint: nowhere\ntoken: x\n');
  const args = ['dist/main.js', '--cloud-provider=acme', '--cloud-config=cloud.yaml', '--kubeconfig=/does/not/exist'];
  await assert.rejects(done(repository, 'node', args), /cloud\.yaml:1: endpoint must be/u);
});
