/** The archive of the plugin as a person gets it, with the real kubectl. No cluster is needed. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { ControlPlaneError, DEFAULT_KUBERNETES, findBinaries } from '@outrigger/testing';
import { parse } from 'yaml';
import { krewManifest, writePluginArchive } from '../scripts/kubectl-plugin/plugin-archive.ts';

const VERSION = '9.8.7';
const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-plugin-'));
/** Where the plugin is unpacked, and the folder of the path in which it is linked, as Krew does both. */
const store = path.join(directory, 'store');
const bin = path.join(directory, 'bin');
let archive = '';

before(async () => {
  archive = await writePluginArchive(directory, VERSION);
  for (const folder of [store, bin]) mkdirSync(folder);
  execFileSync('tar', ['-C', store, '-xzf', archive]);
  for (const name of ['kubectl-outrigger', 'kubectl_complete-outrigger']) {
    symlinkSync(path.join(store, 'bin', name), path.join(bin, name));
  }
});

after(() => rmSync(directory, { recursive: true }));

async function kubectlOrSkip(t: TestContext): Promise<string | undefined> {
  try {
    return (await findBinaries(DEFAULT_KUBERNETES, ['kubectl'])).kubectl.path;
  } catch (error) {
    if (!(error instanceof ControlPlaneError) || process.env['CI'] === 'true') throw error;
    t.skip(error.message.split('\n')[0]);
    return undefined;
  }
}

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], folders: readonly string[]): Outcome {
  const env = { PATH: [...folders, '/usr/bin', '/bin'].join(path.delimiter), HOME: directory };
  return spawnSync(program, [...args], { encoding: 'utf8', env, timeout: 60_000 });
}

test('kubectl lists the plugin, runs its commands, and completes them', async (t) => {
  const kubectl = await kubectlOrSkip(t);
  if (kubectl === undefined) return;
  const folders = [bin, path.dirname(process.execPath)];
  const listed = run(kubectl, ['plugin', 'list'], folders);
  assert.equal(listed.status, 0, listed.stderr);
  assert.ok(listed.stdout.includes(`${bin}/kubectl-outrigger\n`), listed.stdout);
  assert.doesNotMatch(listed.stderr, /outrigger/u);
  assert.match(run(kubectl, ['outrigger', 'version'], folders).stdout, /^Outrigger v/u);
  const status = run(kubectl, ['outrigger', 'status', '--kubeconfig=none'], folders);
  assert.deepEqual([status.status, status.stdout], [1, '']);
  assert.match(status.stderr, /^outrigger status: .*--kubeconfig=none: there is no such file\n/u);
  assert.match(run(kubectl, ['__complete', 'outrigger', 'sta'], folders).stdout, /^status\tShows .*\n:4\n$/u);
});

test('without Node, and with one that is too old, it is one line that says what is needed', () => {
  const old = path.join(directory, 'old');
  mkdirSync(old);
  writeFileSync(path.join(old, 'node'), '#!/bin/sh\necho v22.19.0\n', { mode: 0o755 });
  const plugin = path.join(bin, 'kubectl-outrigger');
  const outcome = run(plugin, ['version'], [old]);
  assert.deepEqual(
    [outcome.status, outcome.stdout, outcome.stderr],
    [1, '', 'kubectl-outrigger: Node 24 or later is needed on the path, and there is 22.19.0: https://nodejs.org\n'],
  );
});

test('the manifest for Krew names the archive by its digest, and a program that is in it', () => {
  const template = readFileSync(new URL('../deploy/krew/outrigger.yaml', import.meta.url), 'utf8');
  const bytes = readFileSync(archive);
  const text = krewManifest({ template, releaseUrl: 'https://git.example/outrigger/releases/v9.8.7/', archive: bytes });
  const { apiVersion, kind, metadata, spec } = parse(text) as {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly homepage: string;
      readonly version: string;
      readonly shortDescription: string;
      readonly platforms: readonly Readonly<Record<string, string>>[];
    };
  };
  assert.deepEqual(
    [apiVersion, kind, metadata.name],
    ['krew.googlecontainertools.github.com/v1alpha2', 'Plugin', 'outrigger'],
  );
  assert.equal(spec.homepage, 'https://git.example/outrigger');
  assert.match(spec.version, /^v\d+\.\d+\.\d+$/u);
  assert.ok(spec.shortDescription.length <= 50, spec.shortDescription);
  const [platform, ...others] = spec.platforms;
  assert.deepEqual(others, []);
  assert.equal(platform?.['sha256'], createHash('sha256').update(bytes).digest('hex'));
  assert.match(
    platform['uri'] ?? '',
    /^https:\/\/git\.example\/outrigger\/releases\/v9\.8\.7\/kubectl-outrigger-\d+\.\d+\.\d+\.tar\.gz$/u,
  );
  assert.ok(existsSync(path.join(store, platform['bin'] ?? '')));
  assert.doesNotMatch(text, /RELEASE_URL|HOMEPAGE|SHA256|^#/u);
  assert.throws(() => krewManifest({ template, releaseUrl: 'http://git.example', archive: bytes }), /no https URL/u);
});

/** What k9s reads of a plugin; a member that it does not know is an error to it. Those before the bar have to be there. */
const MEMBERS = 'shortCut description scopes command | args background confirm dangerous override overwriteOutput';

test('the plugins for k9s have what it reads, and nothing else', () => {
  const page = readFileSync(new URL('../docs/guides/kubectl-plugin.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /^<!-- k9s plugins -->\n```yaml\n([\s\S]*?)^```$/mu.exec(page) ?? [];
  const { plugins, ...rest } = parse(yaml) as { readonly plugins: Readonly<Record<string, object>> };
  assert.deepEqual(rest, {});
  const [needed = [], known = []] = MEMBERS.split(' | ').map((half) => half.split(' '));
  for (const [name, plugin] of Object.entries(plugins)) {
    const members = Object.keys(plugin);
    assert.deepEqual(
      needed.filter((member) => !members.includes(member)),
      [],
      name,
    );
    assert.deepEqual(
      members.filter((member) => ![...needed, ...known].includes(member)),
      [],
      name,
    );
  }
});
