import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { providerTests } from './provider-tests.ts';

const root = new URL('../../../../', import.meta.url);

/** As GitHub makes anchors of headings. */
function anchorsOf(page: string): readonly string[] {
  return [...page.matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('each test has a name of its own, which begins with its feature', () => {
  const names = providerTests.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { feature, name } of providerTests) assert.ok(name.startsWith(`${feature} / `), name);
});

test('each promise is written where its test says', () => {
  for (const { name, source } of providerTests) {
    const [, file = '', anchor, member] = /^([^ #]+)(?:#(\S+))?(?: (\S+))?$/u.exec(source) ?? [];
    assert.ok(file !== '' && existsSync(new URL(file, root)), `${name}: there is no ${source}`);
    const page = readFileSync(new URL(file, root), 'utf8');
    if (anchor !== undefined) assert.ok(anchorsOf(page).includes(anchor), `${name}: there is no heading ${source}`);
    for (const word of member?.split('.') ?? []) assert.ok(page.includes(word), `${name}: ${file} has no ${word}`);
  }
});
