import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageIndexes } from './packages.ts';

const page = readFileSync(new URL('../../docs/reference/stability.md', import.meta.url), 'utf8');

test('each entry point with a list of public names has a level, and no other has one', () => {
  const rows = [
    ...page.matchAll(/^\| `@outrigger\/([\w/-]+)` \| (stable|beta|alpha|private)\b.*\]\(api\/([\w-]+)\.txt\) \|$/gmu),
  ];
  for (const [, name, , list] of rows) assert.equal(name?.replace('/', '-'), list);
  const packages = [...packageIndexes().keys()].map((file) => path.basename(file, '.txt'));
  assert.deepEqual(new Set(rows.map(([, , , list]) => list)), new Set(packages));
  assert.equal(rows.length, packages.length);
});
