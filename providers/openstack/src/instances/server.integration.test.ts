import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { serverStates } from './server.ts';

test('docs/instances.md has the table of states', async () => {
  const page = await readFile(new URL('../../docs/instances.md', import.meta.url), 'utf8');
  const rows = Object.entries(serverStates).map(([status, state]) => `| \`${status}\` | ${state} |`);
  const table = ['| Status | The machine is |', '|---|---|', ...rows, ''].join('\n');
  assert.ok(page.includes(`\n${table}\n`), `it is now:\n${table}`);
});
