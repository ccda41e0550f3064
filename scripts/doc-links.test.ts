import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brokenLinks, linksOf } from '@outrigger/create-provider';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILT = new Set(['node_modules', '.outrigger', '.git', 'dist', 'coverage']);
const pages = globSync('**/*.md', { cwd: root, exclude: (path) => BUILT.has(path.split('/').at(-1) ?? '') });

test('every relative link leads to a file, and to a heading in it', () => {
  assert.ok(pages.length > 40, `${pages.length} pages are found`);
  assert.deepEqual(brokenLinks(root, pages), []);
});

test('every page of docs/ is linked from the README.md of its directory, or of the next one above that has one', () => {
  const missing = pages.filter((page) => {
    if (!page.startsWith('docs/') || page === 'docs/README.md') return false;
    let directory = dirname(page);
    while (page === `${directory}/README.md` || !pages.includes(`${directory}/README.md`))
      directory = dirname(directory);
    const index = readFileSync(join(root, directory, 'README.md'), 'utf8');
    return !linksOf(index).some((link) => join(directory, link) === page);
  });
  assert.deepEqual(missing, []);
});
