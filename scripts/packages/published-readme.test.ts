import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { linksOf } from '@outrigger/create-provider';
import { publishedReadme } from './published-readme.ts';
import { repository, workspacePackages } from './workspace-packages.ts';

const README = `# x
See [the contract](../../docs/reference/contract.md#routes), [an example](examples/a.ts), [below](#x) and [RFC](https://rfc.example/1).
\`[no](code.md)\`

\`\`\`md
[no](block.md)
\`\`\`
`;

test('a relative link becomes one to the repository at the tag of the release', () => {
  const options = { folder: 'packages/kit', version: '1.2.3', repositoryUrl: 'https://git.example/o' };
  assert.equal(
    publishedReadme(README, options).split('\n')[1],
    'See [the contract](https://git.example/o/blob/v1.2.3/docs/reference/contract.md#routes), [an example](https://git.example/o/blob/v1.2.3/packages/kit/examples/a.ts), [below](#x) and [RFC](https://rfc.example/1).',
  );
  assert.deepEqual(publishedReadme(README, options).split('\n').slice(2), README.split('\n').slice(2));
});

test('where nobody knows the repository, it becomes its text with the path; out of the repository no link leads', () => {
  assert.equal(
    publishedReadme(README, { folder: 'packages/kit', version: '1.2.3' }).split('\n')[1],
    'See the contract (`docs/reference/contract.md`), an example (`packages/kit/examples/a.ts`), [below](#x) and [RFC](https://rfc.example/1).',
  );
  assert.throws(
    () => publishedReadme('[x](../../../x.md)', { folder: 'packages/kit', version: '1.2.3' }),
    /packages\/kit\/README\.md: \.\.\/\.\.\/\.\.\/x\.md leads out of the repository/u,
  );
});

test('no README of a package has a relative link when it is published', () => {
  for (const { folder } of workspacePackages()) {
    const text = readFileSync(path.join(repository, folder, 'README.md'), 'utf8');
    for (const repositoryUrl of [undefined, 'https://git.example/o']) {
      const links = linksOf(publishedReadme(text, { folder, version: '1.2.3', repositoryUrl }));
      assert.deepEqual(
        links.filter((link) => !/^(?:#|https:)/u.test(link)),
        [],
        folder,
      );
    }
  }
});
