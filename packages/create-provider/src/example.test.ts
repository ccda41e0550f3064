import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { begin } from './example.ts';
import { temporaryFolder } from './temporary-folder.suite.ts';

test('the example of the README is a file that compiles, and does what it says', () => {
  const source = readFileSync(new URL('example.ts', import.meta.url), 'utf8');
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown, source.replace("'./index.ts'", "'@outrigger/create-provider'"));
  using folder = temporaryFolder();
  assert.deepEqual(begin(path.join(folder.path, 'acme')), ['owners', 'conformance-report', 'experience-reports']);
});
