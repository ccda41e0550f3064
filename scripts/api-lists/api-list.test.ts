import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { apiList } from './api-list.ts';
import { listDirectory, packageIndexes } from './packages.ts';

const indexes = packageIndexes();

for (const [name, index] of indexes) {
  const list = readFileSync(path.join(listDirectory, name), 'utf8');

  test(`docs/reference/api/${name} is what the package exports (else: node scripts/api-lists.ts)`, () => {
    assert.equal(list, apiList(index));
  });

  test(`docs/reference/api/${name} has every value that importing the package gives, and no other`, async () => {
    const module = (await import(pathToFileURL(index).href)) as Record<string, unknown>;
    const values = list
      .split('\n')
      .filter((line) => /^(?:class|const|enum|export|function) /u.test(line))
      .map((line) => line.split(' ').at(-1) ?? '');
    assert.deepEqual(values.toSorted(), Object.keys(module).toSorted());
  });
}

test('each entry point of each package has a list, and there is no other list', () => {
  assert.ok(indexes.has('provider-kit.txt') && indexes.has('provider-kit-fake.txt') && indexes.size > 12);
  assert.deepEqual(readdirSync(listDirectory).toSorted(), [...indexes.keys()].toSorted());
});

test('names are listed with what they are, and an export that cannot be read is no silence', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-api-'));
  const list = (index: string): string => {
    writeFileSync(path.join(directory, 'index.ts'), index);
    return apiList(path.join(directory, 'index.ts'));
  };
  try {
    const part =
      'export class A {}\nexport interface B {}\nexport async function c() {}\nexport const d = 1;\nexport type E = 1;\n';
    writeFileSync(path.join(directory, 'part.ts'), part);
    writeFileSync(path.join(directory, 'between.ts'), "export { A as F } from './part.ts';\n");
    assert.equal(
      list(
        "// one\nexport {\n  A,\n  type B,\n  c as g,\n} from './part.ts';\nexport type { A as H } from './part.ts';\nexport { F } from './between.ts';\n",
      ),
      'class A\nclass F\nfunction g\ninterface B\ntype of class H\n',
    );
    assert.equal(list("export { A } from './part.ts';\nexport async function run() {}\n"), 'class A\nfunction run\n');
    for (const unread of ["export * from './part.ts';", 'export const x = 1;', "export { none } from './part.ts';"]) {
      assert.throws(() => list(unread), unread);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
