import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { apiCallsPage } from './api-calls-page.suite.ts';

const PAGE = new URL('../../docs/api-calls.md', import.meta.url);

test('docs/api-calls.md is what is counted (else: UPDATE=1 node --test with this file)', async () => {
  const page = await apiCallsPage();
  if (process.env['UPDATE'] === '1') {
    await mkdir(new URL('.', PAGE), { recursive: true });
    await writeFile(PAGE, page);
  }
  assert.equal(await readFile(PAGE, 'utf8'), page);
});
