import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ADDITIONAL_FOLDERS, CAPABILITIES } from '../create/capabilities.ts';
import { temporaryFolder } from '../temporary-folder.suite.ts';
import { lintRepository, type Finding } from './lint-repository.ts';
import { renderReport } from './render-report.ts';
import { REQUIREMENTS } from './requirements.ts';

/** What its author and time bring. */
const NOT_YET = ['owners', 'conformance-report', 'experience-reports'];

function missedIn(directory: string): readonly string[] {
  return lintRepository(directory).findings.flatMap(({ id, outcome }) => (outcome === 'missed' ? [id] : []));
}

function findingOf(directory: string, id: string): Finding {
  const found = lintRepository(directory).findings.find((finding) => finding.id === id);
  assert.ok(found, id);
  return found;
}

function edit(directory: string, file: string, change: (text: string) => string): void {
  const target = path.join(directory, file);
  const text = readFileSync(target, 'utf8');
  const changed = change(text);
  assert.notEqual(changed, text, `${file} is changed`);
  writeFileSync(target, changed);
}

test('a new repository lacks nothing, whatever its capabilities, but people, reports, and what its README alone tells of', () => {
  using folder = temporaryFolder();
  for (const [name, capabilities, empty] of [
    ['all', CAPABILITIES, ADDITIONAL_FOLDERS],
    ['usual', undefined, []],
    ['nodes-alone', [], []],
  ] as const) {
    const directory = folder.create(name, { capabilities });
    assert.deepEqual(missedIn(directory), [...empty, ...NOT_YET], name);
    assert.equal(lintRepository(directory).passed, true);
  }
});

test('a folder whose README stands alone is missed where provider.yaml names it, and nothing is missed where it does not', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme', { capabilities: ['dns'] });
  const { found, outcome } = findingOf(directory, 'dns');
  assert.deepEqual([outcome, found], ['missed', 'provider.yaml names dns, and dns has words alone']);
  writeFileSync(path.join(directory, 'dns/OWNERS'), 'approvers: [ann]\n');
  assert.equal(findingOf(directory, 'dns').outcome, 'missed');
  mkdirSync(path.join(directory, 'dns/webhook'));
  writeFileSync(path.join(directory, 'dns/webhook/main.go'), 'package main\n');
  assert.deepEqual([findingOf(directory, 'dns').outcome, findingOf(directory, 'dns').found], ['met', '1 files']);
  rmSync(path.join(directory, 'dns/webhook'), { recursive: true });
  edit(directory, 'provider.yaml', (text) => text.replace(/^additional:\n.*$/mu, 'additional: []'));
  assert.equal(findingOf(directory, 'provider-card').outcome, 'met');
  assert.equal(findingOf(directory, 'dns').outcome, 'met');
});

/** A repository with one thing less: by the requirement that has to name it. */
const MUTANTS: Readonly<Record<string, (directory: string) => void>> = {
  'repository-name': (at) =>
    edit(at, 'provider.yaml', (text) => text.replace('example/cloud-provider-acme', 'kubernetes/acme-ccm')),
  'cloud-controller-manager': (at) => rmSync(path.join(at, 'cloud-controller-manager'), { recursive: true }),
  docs: (at) => rmSync(path.join(at, 'docs'), { recursive: true }),
  'docs-cloud-controller-manager': (at) => rmSync(path.join(at, 'docs/cloud-controller-manager.md')),
  'docs-testing': (at) => writeFileSync(path.join(at, 'docs/testing.md'), '# Testing\n\nTo do.\n'),
  'makefile-test': (at) => edit(at, 'Makefile', (text) => text.replace(/^test:/mu, 'check:')),
  'docs-getting-started': (at) => rmSync(path.join(at, 'docs/getting-started.md')),
  'docs-features': (at) => rmSync(path.join(at, 'docs/features.md')),
  'docs-how-it-works': (at) => rmSync(path.join(at, 'docs/how-it-works.md')),
  'docs-migration': (at) => edit(at, 'provider.yaml', (text) => text.replace("name: 'acme'", 'name: vsphere')),
  'docs-collectable': (at) => appendFileSync(path.join(at, 'docs/features.md'), '\n[More](more.md)\n'),
  dns: (at) => rmSync(path.join(at, 'dns/driver.go')),
  cni: (at) => rmSync(path.join(at, 'cni'), { recursive: true }),
  csi: (at) => rmSync(path.join(at, 'csi'), { recursive: true }),
  flex: (at) => rmSync(path.join(at, 'flex/README.md')),
  installer: (at) => writeFileSync(path.join(at, 'installer/README.md'), '# Installer\n'),
  manifests: (at) => writeFileSync(path.join(at, 'manifests/cloud-controller-manager.yml'), 'kind: Secret\n'),
  ci: (at) => edit(at, '.github/workflows/test.yml', (text) => text.replace('make test', 'true')),
  owners: (at) => writeFileSync(path.join(at, 'OWNERS'), 'reviewers: [ann]\n'),
  'provider-card': (at) => edit(at, 'provider.yaml', (text) => text.replace('maturity: alpha', 'maturity: fine')),
  'conformance-report': (at) => appendFileSync(path.join(at, 'provider.yaml'), 'conformance: reports/none.json\n'),
  'experience-reports': (at) => void at,
};

for (const { id, level, place } of REQUIREMENTS) {
  test(`${id}: a repository without it is told so, with the requirement's own words`, () => {
    using folder = temporaryFolder();
    const directory = folder.create('acme', { capabilities: CAPABILITIES });
    const mutate = MUTANTS[id];
    assert.ok(mutate, `no mutant takes ${id} away`);
    edit(directory, 'OWNERS_ALIASES', (text) => text.replace('[]', '[ann]'));
    assert.ok(!missedIn(directory).includes('owners'));
    for (const additional of ADDITIONAL_FOLDERS) writeFileSync(path.join(directory, additional, 'driver.go'), '');
    mutate(directory);
    const { outcome, quote, source, todo } = findingOf(directory, id);
    assert.deepEqual([outcome, Boolean(quote && source && todo)], ['missed', true]);
    assert.equal(lintRepository(directory).passed, level === 'should');
    // The pages hang together, and what provider.yaml says is needed by others.
    if (place !== undefined && !id.startsWith('docs')) {
      assert.deepEqual(missedIn(directory), [id, ...NOT_YET.filter((one) => one !== 'owners')]);
    }
  });
}

test('a target test runs something by its own commands or by those of the targets that it names; a variable of that name does not', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  for (const [makefile, outcome] of [
    ['test := unit\n', 'missed'],
    ['testing:\n\tnode --test\n', 'missed'],
    ['test:\n\nbuild:\n\ttsc\n', 'missed'],
    ['test: unit # all\n\nunit:\n', 'missed'],
    ['test: unit functional\n\nunit: work\n\tgo test ./...\n', 'met'],
    ['test: ; go test ./...\n', 'met'],
    ['check test: work\n\tgo test ./...\n', 'met'],
    ['.PHONY: test\ntest: setup ## all\n# slow\n\tnode --test\n', 'met'],
  ] as const) {
    writeFileSync(path.join(directory, 'Makefile'), makefile);
    assert.equal(findingOf(directory, 'makefile-test').outcome, outcome, makefile);
  }
});

test('a place that provider.yaml names is met elsewhere, but for a must in the kubernetes organization', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  renameSync(path.join(directory, 'cloud-controller-manager'), path.join(directory, 'src'));
  appendFileSync(path.join(directory, 'provider.yaml'), 'places:\n  cloud-controller-manager: src\n');
  const { found, outcome } = findingOf(directory, 'cloud-controller-manager');
  assert.equal(outcome, 'elsewhere');
  assert.match(found, /^src: \d+ source files$/u);
  assert.equal(lintRepository(directory).passed, true);
  edit(directory, 'provider.yaml', (text) => text.replace('github.com/example', 'github.com/kubernetes'));
  assert.equal(findingOf(directory, 'cloud-controller-manager').outcome, 'missed');
  assert.equal(findingOf(directory, 'repository-name').outcome, 'met');
});

test('places names requirements that have a place; another name is told, and changes nothing', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  appendFileSync(path.join(directory, 'provider.yaml'), 'places:\n  docs: pages\n  doc-testing: docs/features.md\n');
  assert.equal(findingOf(directory, 'docs').outcome, 'met');
  const { found, outcome } = findingOf(directory, 'provider-card');
  assert.equal(outcome, 'missed');
  assert.match(found, /^provider\.yaml: places has no docs; it may have cloud-controller-manager, .*, ci, owners$/u);
});

test('approvers that stand for nobody own nothing', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  const { found, outcome } = findingOf(directory, 'owners');
  assert.deepEqual([outcome, found], ['missed', 'OWNERS_ALIASES has no member for acme-maintainers']);
  rmSync(path.join(directory, 'OWNERS_ALIASES'));
  assert.equal(findingOf(directory, 'owners').outcome, 'met', 'a team, or a name of GitHub');
});

test('YAML whose keys are mappings costs little, and is neither a manifest nor names owners', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  for (const file of ['manifests/a.yaml', 'OWNERS', 'OWNERS_ALIASES'])
    writeFileSync(path.join(directory, file), `${'{['.repeat(256)}${']}'.repeat(256)}`);
  const { user, system } = process.cpuUsage();
  assert.equal(findingOf(directory, 'owners').found, 'it has no approvers');
  const used = process.cpuUsage();
  const ms = (used.user - user + used.system - system) / 1_000;
  assert.ok(ms < 3_000, `${ms} ms`);
});

test('a page may link to a file of the checkout around it, and not out of that', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  appendFileSync(path.join(directory, 'docs/features.md'), '\n[Above](../../above.md)\n');
  writeFileSync(path.join(folder.path, 'above.md'), '# Above\n');
  assert.equal(findingOf(directory, 'docs-collectable').outcome, 'missed');
  mkdirSync(path.join(folder.path, '.git'));
  assert.equal(findingOf(directory, 'docs-collectable').outcome, 'met');
});

test('what is printed has a line for each requirement, and of what is missed its words, its source and what to do', () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  rmSync(path.join(directory, 'Makefile'));
  const text = renderReport(lintRepository(directory));
  assert.match(
    text,
    /^must {4}makefile-test +MISSED +there is no Makefile\n +asked for: A Makefile with a test entrypoint to run the provider tests\.\n +by: KEP-2392.*\n +to do: add a target test/mu,
  );
  assert.match(text, /^should {2}csi +- +provider\.yaml names no csi$/mu);
  assert.match(text, /\nacme: FAILED; of what a repository must have 1 missed, of what it should have 3\n$/u);
});
