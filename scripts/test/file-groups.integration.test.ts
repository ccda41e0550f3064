import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { groupFiles, writeGroups } from './file-groups.ts';
import type { Totals } from './stage.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'outrigger-groups-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('unit and property tests share processes; what starts programs keeps its own; no file is lost or run twice', () => {
  const files = [
    'a/1.test.ts',
    'a/2.property.test.ts',
    'a/3.integration.test.ts',
    'b/4.contract.test.ts',
    'b/5.test.ts',
  ];
  assert.deepEqual(groupFiles(files, 2), {
    alone: ['a/3.integration.test.ts', 'b/4.contract.test.ts'],
    groups: [['a/1.test.ts', 'a/2.property.test.ts'], ['b/5.test.ts']],
  });
  assert.deepEqual(groupFiles([], 2), { alone: [], groups: [] });
});

test('a group runs the tests of all its files, and a failure names the file and line in which it stands', (t) => {
  const directory = folder(t);
  mkdirSync(join(directory, "it's one"));
  const good = join(directory, "it's one", 'good.test.ts');
  const bad = join(directory, 'bad.test.ts');
  const late = join(directory, 'late.test.ts');
  writeFileSync(good, "import { test } from 'node:test';\ntest('good', () => {});\n");
  writeFileSync(bad, "import { test } from 'node:test';\n\ntest('bad', () => { throw new Error('as it should'); });\n");
  // A file whose body waits must not keep the files after it from being loaded before the run ends.
  writeFileSync(
    late,
    "import { test } from 'node:test';\nawait new Promise((resolve) => setTimeout(resolve, 50));\ntest('late', () => {});\n",
  );
  const counts = join(directory, 'counts');
  const { stdout } = spawnSync(
    process.execPath,
    [
      '--test',
      `--test-reporter=${join(import.meta.dirname, '../test-reporter.ts')}`,
      '--test-reporter-destination=stdout',
      ...writeGroups([[late, bad, good]], directory),
    ],
    {
      encoding: 'utf8',
      cwd: directory,
      env: { PATH: process.env['PATH'], OUTRIGGER_TEST_COUNTS: counts, TEST_TIMES: '1' },
    },
  );
  const { passed, failed, failures } = JSON.parse(readFileSync(counts, 'utf8')) as Required<Totals>;
  assert.deepEqual({ passed, failed }, { passed: 2, failed: 1 });
  assert.equal(failures.length, 1);
  assert.match(failures[0]!, /^FAIL bad\n +bad\.test\.ts:3\n/u);
  assert.match(stdout, /^FAIL bad\n +bad\.test\.ts:3$/m);
  assert.match(stdout, /^ +\d+\.\d s {2}unit-1-of-1\.mjs$/m);
});

test('a group of which a test ends the process has failed, as the tests behind it were not run', (t) => {
  const directory = folder(t);
  const ends = join(directory, 'ends.test.ts');
  const bad = join(directory, 'bad.test.ts');
  writeFileSync(ends, "import { test } from 'node:test';\ntest('ends', () => process.exit(0));\n");
  writeFileSync(bad, "import { test } from 'node:test';\ntest('bad', () => { throw new Error('not hidden'); });\n");
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...writeGroups([[ends, bad]], directory)], {
    encoding: 'utf8',
    cwd: directory,
    env: { PATH: process.env['PATH'] },
  });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /has ended the process/);
});

test('no file has a hook for each test at its top level: there it would be run for the other files of the process too', () => {
  const found = globSync('{packages,providers,distribution,scripts,bench,e2e}/**/*.test.ts', {
    exclude: (path) => path.includes('node_modules'),
  });
  const [files = []] = groupFiles(found, found.length).groups;
  assert.ok(files.length > 100, 'the tests run where the repository is');
  assert.deepEqual(
    files.filter((path) => /^(?:beforeEach|afterEach)\(/mu.test(readFileSync(path, 'utf8'))),
    [],
  );
});
