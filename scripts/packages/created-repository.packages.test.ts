/**
 * A provider's repository as its author gets it: created by the tarball of create-provider, with the tarballs of all packages, outside of
 * the tree; then cloned, as CI and whoever builds the image have it. The lines of its workflow and of its Dockerfile are run as they stand.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { runDockerfile } from '../image/run-dockerfile.suite.ts';
import { makePackages } from './make-packages.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-created-'));
const repository = path.join(directory, 'clone/acme');

after(() => rmSync(directory, { recursive: true }));

before(async () => {
  const packages = path.join(directory, 'packages');
  const tarballs = makePackages({ output: packages });
  const creator = path.join(directory, 'creator');
  mkdirSync(creator);
  writeFileSync(path.join(creator, 'package.json'), '{ "private": true }\n');
  const own = tarballs.find(({ name }) => name === '@outrigger/create-provider');
  assert.ok(own);
  await done(creator, 'npm', ['install', own.file]);
  const program = path.join(creator, 'node_modules/.bin/create-provider');
  const output = await done(directory, program, [
    'acme',
    '--load-balancers',
    '--routes',
    '--volumes',
    `--packages=${packages}`,
  ]);
  assert.match(output, /^acme: \d+ files, with nodes, load-balancers, routes, volumes$/mu);
  const author = path.join(directory, 'acme');
  const git = ['-c', 'user.name=Author', '-c', 'user.email=author@example.com', '-c', 'init.defaultBranch=main'];
  await done(author, 'git', [...git, 'init', '--quiet']);
  await done(author, 'git', [...git, 'add', '--all']);
  await done(author, 'git', [...git, 'commit', '--quiet', '--message=Created']);
  await done(directory, 'git', ['clone', '--quiet', author, repository]);
  // Nothing of it is needed any more.
  for (const folder of [packages, creator, author]) rmSync(folder, { recursive: true });
});

/** What a program of the repository needs; its first Node is the one that runs this. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const PATH = `${process.execPath.replace(/\/node$/u, '')}:${env['PATH']}`;
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  return { ...env, ...npm, npm_config_loglevel: 'error', PATH, MAKEFLAGS: '' };
}

/** What it says. Fails with that where it does not end with 0. */
function done(cwd: string, command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: environment(), timeout: 1_200_000 };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new assert.AssertionError({ message: `${command} ${args.join(' ')}:\n${stdout}${stderr}` }));
    });
  });
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

/** The one line of its workflow that makes `target`, run as it stands. */
async function step(target: string): Promise<string> {
  const workflow = parse(readFileSync(path.join(repository, '.github/workflows/test.yml'), 'utf8')) as Workflow;
  const lines = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  assert.deepEqual(
    lines.map((line) => line.split(' ', 2).join(' ')),
    ['make test', 'make conformance', 'make lint-repo'],
  );
  return await done(repository, '/bin/sh', ['-e', '-c', lines.find((line) => line.includes(target)) ?? 'false']);
}

test('in a clone, with nothing beside it: make test, as its workflow has it, passes at once', async () => {
  const output = await step('make test');
  assert.ok(Number(/^ℹ pass (\d+)$/mu.exec(output)?.[1]) > 70, output);
  assert.match(output, /^ℹ fail 0$/mu);
  assert.match(readFileSync(path.join(repository, 'artifacts/junit_provider.xml'), 'utf8'), /<testcase /u);
});

test('its conformance run ends well, with the report in the folder that the workflow keeps', async () => {
  assert.match(await step('make conformance'), / \d+ passed in /u);
  assert.ok(existsSync(path.join(repository, 'artifacts/conformance/report.json')));
});

test('its program lints it, and the report is what the index of providers lacks', async () => {
  assert.match(await step('make lint-repo'), /^acme: passed; of what a repository must have 0 missed/mu);
  cpSync(path.join(repository, 'artifacts/conformance'), path.join(repository, 'reports'), { recursive: true });
  const card = path.join(repository, 'provider.yaml');
  writeFileSync(card, readFileSync(card, 'utf8').replace('# conformance: ', 'conformance: '));
  assert.match(await step('make lint-repo'), /^should {2}conformance-report +ok +reports\/report\.json$/mu);
});

test('what its Dockerfile makes of the clone is the program with its provider, and without what only tests need', async () => {
  const { entrypoint, root, user } = runDockerfile({
    text: readFileSync(path.join(repository, 'cloud-controller-manager/Dockerfile'), 'utf8'),
    context: repository,
    output: path.join(directory, 'image'),
    env: environment(),
  });
  assert.equal(user, '65532:65532');
  const [program = '', ...args] = (entrypoint ?? []).map((word) =>
    word.startsWith('/') ? path.join(root, word) : word,
  );
  assert.match(await done(root, program, [...args, '--version']), /^Outrigger v/u);
  writeFileSync(path.join(root, 'cloud.yaml'), 'endpoint: nowhere\ntoken: x\n');
  const flags = ['--cloud-provider=acme', '--cloud-config=cloud.yaml', '--kubeconfig=/does/not/exist'];
  await assert.rejects(done(root, program, [...args, ...flags]), /cloud\.yaml:1: endpoint must be/u);
  const lint = done(root, program, [...args, 'lint-repo', '.']);
  await assert.rejects(lint, /npm install --save-dev @outrigger\/create-provider/u);
});
