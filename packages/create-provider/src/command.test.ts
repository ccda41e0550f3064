import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { docsCommand, lintRepoCommand } from './command.ts';
import type { RepositoryReport } from './lint/lint-repository.ts';
import { temporaryFolder } from './temporary-folder.suite.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: typeof docsCommand, cwd: string, ...args: readonly string[]): Promise<Outcome> {
  const told = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof told): { write(text: string): void } => ({
    write: (text) => void (told[name] += text),
  });
  const io = { stdout: stream('stdout'), stderr: stream('stderr'), env: {}, cwd, signal: new AbortController().signal };
  return { code: await command(args, io), ...told };
}

test('lint-repo ends with 0, and with 1 for a must that is missed; as JSON it is the report', async () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  const good = await run(lintRepoCommand, folder.path, 'acme');
  assert.deepEqual([good.code, good.stderr], [0, '']);
  assert.match(good.stdout, /^must {4}docs +ok/mu);
  rmSync(path.join(directory, 'docs/testing.md'));
  const bad = await run(lintRepoCommand, folder.path, 'acme', '--output=json');
  assert.equal(bad.code, 1);
  const report = JSON.parse(bad.stdout) as RepositoryReport;
  assert.deepEqual([report.name, report.passed, report.directory], ['acme', false, directory]);
  assert.equal(report.findings.find(({ id }) => id === 'docs-testing')?.outcome, 'missed');
});

test('docs collect makes one tree with an index, again and again; links out of the pages lead to the repository', async () => {
  using folder = temporaryFolder();
  folder.create('north', { capabilities: ['dns'] });
  const south = folder.create('south');
  mkdirSync(path.join(south, 'reports'));
  const results = ['passed', 'passed', 'skipped'].map((outcome) => ({ outcome }));
  writeFileSync(
    path.join(south, 'reports/last.json'),
    JSON.stringify({ finished: '2026-11-02T10:00:00Z', results, stopped: '3 of 6' }),
  );
  const card = readFileSync(path.join(south, 'provider.yaml'), 'utf8');
  const experience = 'experience: [https://example.com/a|b]\nconformance: reports/last.json\n';
  writeFileSync(path.join(south, 'provider.yaml'), card.replace('experience: []\n', experience));
  for (let round = 0; round < 2; round++) {
    const { code, stderr, stdout } = await run(docsCommand, folder.path, 'collect', 'south', 'north', '--output=all');
    assert.deepEqual([code, stderr, stdout], [0, '', 'all: 13 pages of 2 providers\n']);
  }
  const index = readFileSync(path.join(folder.path, 'all/README.md'), 'utf8');
  const report = 'https://github.com/example/cloud-provider-south/blob/HEAD/reports/last.json';
  assert.deepEqual(
    index.split('\n').filter((line) => line.startsWith('| [')),
    [
      '| [North](<north/README.md>) | alpha | north-maintainers | nodes, dns | none yet | none yet |',
      `| [South](<south/README.md>) | alpha | south-maintainers | nodes, load-balancers, routes | [2026-11-02: 2 passed, 1 skipped, stopped](<${report}>) | [1](<https://example.com/a%7Cb>) |`,
    ],
  );
  const started = readFileSync(path.join(folder.path, 'all/south/getting-started.md'), 'utf8');
  assert.ok(
    started.includes(
      '(https://github.com/example/cloud-provider-south/blob/HEAD/manifests/cloud-controller-manager.yml)',
    ),
  );
  assert.ok(started.includes('(features.md)'));
});

test('docs collect ends with 1 and names each link that leads nowhere', async () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  appendFileSync(
    path.join(directory, 'docs/features.md'),
    '\n[More](more.md), [part](how-it-works.md#wings), [out](../none), [all](100%.md)\n',
  );
  const { code, stderr } = await run(docsCommand, folder.path, 'collect', 'acme', '--output=all');
  assert.equal(code, 1);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'outrigger docs: acme/features.md: ../none leads nowhere',
    'outrigger docs: acme/features.md: more.md leads nowhere',
    'outrigger docs: acme/features.md: how-it-works.md#wings leads nowhere',
    'outrigger docs: acme/features.md: 100%.md leads nowhere',
  ]);
});

test('no symbolic link brings what is outside of a repository into the tree or the report; one within it is followed', async () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  const docs = path.join(directory, 'docs');
  const outside = path.join(folder.path, 'private');
  renameSync(docs, outside);
  writeFileSync(path.join(outside, 'id_rsa'), 'KEY');
  symlinkSync(outside, docs);
  const refused = await run(docsCommand, folder.path, 'collect', 'acme', '--output=all');
  assert.deepEqual([refused.code, existsSync(path.join(folder.path, 'all'))], [1, false]);
  assert.match(
    refused.stderr,
    /acme: there is no docs\/README\.md, .*a symbolic link out of the repository is not followed/u,
  );
  const linted = await run(lintRepoCommand, folder.path, 'acme', '--output=json');
  assert.deepEqual(
    (JSON.parse(linted.stdout) as RepositoryReport).findings.flatMap(({ id, outcome }) =>
      id.startsWith('docs-') && outcome === 'met' ? [id] : [],
    ),
    [],
  );
  rmSync(docs);
  renameSync(outside, path.join(directory, 'pages'));
  symlinkSync('pages', docs);
  writeFileSync(path.join(folder.path, 'secret.txt'), 'KEY');
  for (const name of ['page.md', 'data.txt']) symlinkSync(path.join(folder.path, 'secret.txt'), path.join(docs, name));
  const taken = await run(docsCommand, folder.path, 'collect', 'acme', '--output=all');
  assert.deepEqual([taken.code, taken.stderr], [0, '']);
  const collected = readdirSync(path.join(folder.path, 'all/acme'));
  assert.ok(collected.includes('README.md') && !collected.includes('page.md') && !collected.includes('data.txt'));
  // The repository itself may be reached by one.
  symlinkSync('acme', path.join(folder.path, 'link'));
  assert.equal((await run(docsCommand, folder.path, 'collect', 'link', '--output=all')).code, 0);
});

test('docs collect removes what it has made, and nothing else', async () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  const output = path.join(folder.path, 'all');
  const collect = (): Promise<Outcome> => run(docsCommand, folder.path, 'collect', 'acme', '--output=all');
  mkdirSync(output);
  for (const index of [
    '{ "name": "mine" }',
    '{ "providers": ["acme"] }',
    '{ "providers": [{ "card": { "name": ".." } }] }',
  ]) {
    writeFileSync(path.join(output, 'index.json'), index);
    const { code, stderr } = await collect();
    assert.equal(code, 1, index);
    assert.match(stderr, /all holds something else/u);
  }
  rmSync(output, { recursive: true });
  assert.equal((await collect()).code, 0);
  writeFileSync(path.join(output, 'acme/old.md'), '');
  writeFileSync(path.join(output, 'notes.txt'), 'mine');
  appendFileSync(path.join(directory, 'provider.yaml'), 'conformance: reports/none.json\n');
  const failed = await collect();
  assert.match(failed.stderr, /reports\/none\.json is no report/u);
  assert.ok(existsSync(path.join(output, 'acme/old.md')), 'a run that fails has changed nothing');
  writeFileSync(path.join(directory, 'provider.yaml'), 'name: acme\nmaturity: alpha\nmaintainers: [a]\n');
  assert.equal((await collect()).code, 0);
  assert.ok(!existsSync(path.join(output, 'acme/old.md')));
  assert.equal(readFileSync(path.join(output, 'notes.txt'), 'utf8'), 'mine');
  folder.create('other');
  mkdirSync(path.join(output, 'other'));
  assert.match(
    (await run(docsCommand, folder.path, 'collect', 'acme', 'other', '--output=all')).stderr,
    /all holds something else/u,
  );
});

test('what is wrong is one line and exit code 1; what somebody else has put there stays', async () => {
  using folder = temporaryFolder();
  folder.create('acme');
  const twin = folder.create('twin');
  writeFileSync(path.join(twin, 'provider.yaml'), 'name: acme\nmaturity: alpha\nmaintainers: [a]\n');
  const bare = folder.create('bare');
  rmSync(path.join(bare, 'provider.yaml'));
  const wide = folder.create('wide');
  writeFileSync(path.join(wide, 'provider.yaml'), 'name: ../wide\nmaturity: alpha\nmaintainers: [a]\n');
  for (const [command, args, message] of [
    [lintRepoCommand, [], /usage: outrigger lint-repo DIR/u],
    [lintRepoCommand, ['nowhere'], /there is no folder .*nowhere/u],
    [lintRepoCommand, ['acme', '--output=xml'], /--output=xml: must be text or json/u],
    [lintRepoCommand, ['acme', '--loud'], /--loud/u],
    [docsCommand, ['gather'], /usage: outrigger docs collect/u],
    [docsCommand, ['collect', 'acme'], /--output is not set/u],
    [docsCommand, ['collect', '--output=all'], /name at least one repository/u],
    [docsCommand, ['collect', 'acme', 'twin', '--output=all'], /two repositories have the provider acme/u],
    [docsCommand, ['collect', 'bare', '--output=all'], /bare: there is no provider\.yaml/u],
    [docsCommand, ['collect', 'wide', '--output=all'], /wide: provider\.yaml: name must be lower-case/u],
    [docsCommand, ['collect', 'acme', '--output=twin'], /twin holds something else/u],
  ] as const) {
    const { code, stderr, stdout } = await run(command, folder.path, ...args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, /^outrigger (?:docs|lint-repo): [^\n]+\n$/u);
    assert.match(stderr, message);
  }
  assert.ok(existsSync(path.join(twin, 'Makefile')) && !existsSync(path.join(folder.path, 'all')));
  for (const command of [lintRepoCommand, docsCommand]) {
    assert.match((await run(command, folder.path, '--help')).stdout, /^outrigger (?:docs|lint-repo) /u);
  }
});
