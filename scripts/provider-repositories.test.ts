/** The providers of this repository are what is asked of a provider's repository, and their pages can be collected. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { collectDocs, lintRepository } from '@outrigger/create-provider';

const root = fileURLToPath(new URL('..', import.meta.url));
const providers = globSync('providers/*/package.json', { cwd: root }).map((file) =>
  path.join(root, path.dirname(file)),
);

test('each provider has what a repository of a provider must have and should have', () => {
  assert.ok(providers.length >= 2);
  for (const directory of providers) {
    const { findings, passed } = lintRepository(directory);
    assert.equal(passed, true, directory);
    const missed = findings.filter(({ outcome }) => outcome === 'missed').map(({ id }) => id);
    // What users write of it comes with time; a report is made by a run, and not kept here.
    assert.deepEqual(missed, ['conformance-report', 'experience-reports'], directory);
  }
});

test('their pages make one tree without a broken link', () => {
  const output = mkdtempSync(path.join(tmpdir(), 'outrigger-docs-'));
  try {
    const { broken, pages } = collectDocs({ repositories: providers, output });
    assert.deepEqual(broken, []);
    assert.ok(pages.includes('openstack/load-balancers.md') && existsSync(path.join(output, 'memory/README.md')));
    assert.match(
      readFileSync(path.join(output, 'README.md'), 'utf8'),
      /^\| \[OpenStack\]\(<openstack\/README\.md>\) \| alpha \|/mu,
    );
  } finally {
    rmSync(output, { recursive: true });
  }
});

test('every page of a provider is linked from the first one or from a page that is', () => {
  for (const directory of providers) {
    const index = readFileSync(path.join(directory, 'docs/README.md'), 'utf8');
    const pages = globSync('*.md', { cwd: path.join(directory, 'docs') }).filter((page) => page !== 'README.md');
    assert.deepEqual(
      pages.filter((page) => !index.includes(`(${page}`)),
      [],
      directory,
    );
  }
});
