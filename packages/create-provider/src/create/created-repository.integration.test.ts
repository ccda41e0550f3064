/** Repositories as they are created, with the packages of the workspace in place of installed ones: their own checks have to pass. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../temporary-folder.suite.ts';
import type { Capability } from './capabilities.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function make(directory: string, ...args: readonly string[]): Promise<Outcome> {
  // Whoever runs tests in a test is not told of them by Node: what it tells its own runs by must not be handed on.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { cwd: directory, env: { ...env, MAKEFLAGS: '' }, timeout: 480_000 };
  return new Promise((resolve) => {
    execFile('make', [...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 255), output: stdout + stderr });
    });
  });
}

// With all capabilities it is the template itself, whose tests run as all others.
for (const capabilities of [[], ['volumes']] satisfies Capability[][]) {
  test(`with nodes${capabilities.map((one) => `, ${one}`).join('')}: its types are right and its tests pass`, async () => {
    using folder = temporaryFolder();
    const directory = folder.create('acme', { capabilities });
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
    const { code, output } = await make(directory, 'test', 'INSTALLED=', 'ARTIFACTS=artifacts');
    assert.equal(code, 0, output);
    const passed = Number(/^ℹ pass (\d+)$/mu.exec(output)?.[1]);
    assert.ok(passed > 25, output);
    assert.ok(existsSync(path.join(directory, 'artifacts/junit_provider.xml')));
  });
}

test('its own program lints it, and has no word that does not exist', async () => {
  using folder = temporaryFolder();
  const directory = folder.create('acme');
  symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  const { code, output } = await make(directory, 'lint-repo', 'INSTALLED=');
  assert.equal(code, 0, output);
  assert.match(output, /^acme: passed; of what a repository must have 0 missed/mu);
});

interface ManifestDocument {
  readonly kind: string;
  readonly rules?: unknown;
  readonly spec?: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: string[] }[] } };
  };
}

function documentsIn(text: string): readonly ManifestDocument[] {
  return parseAllDocuments(text).map((document) => document.toJS() as ManifestDocument);
}

for (const capabilities of [[], ['routes']] satisfies Capability[][]) {
  test(`with nodes${capabilities.map((one) => `, ${one}`).join('')}: its manifest has the flags of its capabilities, and the roles for those flags`, () => {
    using folder = temporaryFolder();
    const directory = folder.create('acme', { capabilities });
    const manifest = documentsIn(readFileSync(path.join(directory, 'manifests/cloud-controller-manager.yml'), 'utf8'));
    const args = manifest.flatMap(({ kind, spec }) =>
      kind === 'Deployment' ? (spec?.template.spec.containers.flatMap(({ args }) => args) ?? []) : [],
    );
    // A route controller without the range does not start.
    assert.equal(
      args.some((arg) => arg.startsWith('--cluster-cidr=')),
      capabilities.length > 0,
    );
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
    const flags = args.filter((arg) => !arg.startsWith('--cloud-config='));
    const printed = execFileSync(process.execPath, ['cloud-controller-manager/main.ts', 'rbac', ...flags], {
      cwd: directory,
      env: { ...process.env, OUTRIGGER_PROGRAM: 'outrigger' },
      encoding: 'utf8',
    });
    const rulesOf = (documents: readonly ManifestDocument[]): unknown => documents.flatMap(({ rules }) => rules ?? []);
    assert.deepEqual(rulesOf(manifest), rulesOf(documentsIn(printed)));
  });
}
