import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anchorsOf, linksOf } from './doc-links.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILT = new Set(['node_modules', '.outrigger', '.git', 'dist', 'coverage']);
const pages = globSync('**/*.md', { cwd: root, exclude: (path) => BUILT.has(path.split('/').at(-1) ?? '') });

test('links are found where they are prose', () => {
  const page = `[a](b.md) and [c](<d.md#e> "title"), ![i](i.png)
\`[no](no.md)\` and \`\` [no](n\`o.md) \`\`

\`\`\`md
[no](no.md)
\`\`\`

| [x](https://example.com/y) |
`;
  assert.deepEqual(linksOf(page), ['b.md', 'd.md#e', 'i.png', 'https://example.com/y']);
});

test('anchors are those of GitHub', () => {
  const page = `# One: two & \`three\`
## [Link](x.md), and more
### Twice
### Twice
<a id="own"></a>
\`\`\`sh
# no heading
\`\`\`
`;
  assert.deepEqual([...anchorsOf(page)], ['own', 'one-two--three', 'link-and-more', 'twice', 'twice-1']);
});

test('every relative link leads to a file, and to a heading in it', () => {
  assert.ok(pages.length > 40, `${pages.length} pages are found`);
  const broken = pages.flatMap((page) => {
    const links = linksOf(readFileSync(join(root, page), 'utf8'));
    return links.filter((link) => !holds(page, link)).map((link) => `${page}: ${link}`);
  });
  assert.deepEqual(broken, []);
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

function holds(page: string, link: string): boolean {
  if (/^[a-z]+:/u.test(link)) return true;
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? join(root, page) : join(root, dirname(page), decodeURIComponent(path));
  if (!existsSync(file) || relative(root, file).startsWith('..')) return false;
  if (anchor === undefined) return true;
  return statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).has(anchor);
}
