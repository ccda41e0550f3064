import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { linksOf } from '@outrigger/create-provider';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const rows = read('../docs/reference/never.md')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, number = '']) => /^\d+$/u.test(number));

test('the page has the promises of the principles, each as it is written there', () => {
  const principles = [...read('../docs/principles.md').matchAll(/^(\d+)\. (.+)$/gmu)];
  assert.ok(principles.length >= 10);
  assert.deepEqual(
    rows.map(([, number, promise]) => [number, promise]),
    principles.map(([, number, promise]) => [number, promise]),
  );
});

test('each promise has a property test, which makes up its inputs, and a test with faults', () => {
  for (const [, number, , properties = '', faults = ''] of rows) {
    assert.ok(linksOf(properties).length > 0, `${number} has a property`);
    assert.ok(linksOf(faults).length > 0, `${number} has a test with faults`);
    for (const link of linksOf(properties)) {
      const source = read(`../docs/reference/${link}`);
      assert.match(source, /from 'fast-check'/u, `${link} has properties`);
      assert.match(source, /fc\.assert\(/u, `${link} has properties`);
    }
  }
});
