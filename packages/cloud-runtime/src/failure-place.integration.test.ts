import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { failurePlace } from './failure-place.ts';

test('of many modules, the one that was imported last is checked first: what is wrong ends the imports', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'failure-place-'));
  try {
    const files = ['earlier.mjs', 'last.mjs'].map((name) => path.join(folder, name));
    for (const file of files) writeFileSync(file, 'export const a = (;\n');
    const urls = new Set(files.map((file) => pathToFileURL(file).href));
    assert.equal(
      failurePlace(new SyntaxError("Unexpected token ';'"), urls, 'file:///host.js'),
      ` (at ${files[1]}:1:19)`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
