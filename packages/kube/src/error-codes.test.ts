import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

/** A `code` of a class: a literal, a union of them, or the name of a union type in the same file. */
function codesIn(text: string): readonly string[] {
  const source = text.replaceAll(/\/\*[^]*?\*\//g, '');
  const declared = [...source.matchAll(/readonly code(?:: ([^=;]+))?(?: = ('[^']+'))?;/g)];
  return declared.flatMap(([, type = '', value]) => {
    const union = type.endsWith('ErrorCode') ? source.match(new RegExp(`type ${type} =([^;]+);`))?.[1] : type;
    const literals = value ?? union ?? '';
    return Array.from(literals.matchAll(/'([a-z-]+)'/g), (match) => match[1] ?? '');
  });
}

test('the reference page lists every error code of the package, and no other', async () => {
  const codes = new Set<string>();
  for await (const path of glob('**/*.ts', { cwd: import.meta.dirname })) {
    if (/\.(?:test|suite)\.ts$/.test(path)) continue;
    for (const code of codesIn(await readFile(`${import.meta.dirname}/${path}`, 'utf8'))) codes.add(code);
  }
  const page = await readFile(new URL('../../../docs/reference/kube-errors.md', import.meta.url), 'utf8');
  const listed = Array.from(page.matchAll(/^\| `([a-z-]+)` \|/gm), (match) => match[1]);
  assert.ok(codes.size > 30);
  assert.equal(new Set(listed).size, listed.length);
  assert.deepEqual(new Set(listed), codes);
});
