import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorsOf, linksOf, mapLinks } from './doc-links.ts';

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

test('links are replaced where they stand, and nothing else', () => {
  const page = `[a](b.md), [c](<d.md> "title") and \`[no](b.md)\`

~~~
[no](b.md)
~~~
![i](b.md#x)
`;
  const mapped = mapLinks(page, (target) => `../${target}`);
  assert.equal(
    mapped,
    page.replace('(b.md)', '(../b.md)').replace('<d.md>', '<../d.md>').replace('(b.md#x)', '(../b.md#x)'),
  );
});
