import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { linksOf } from '@outrigger/create-provider';

const page = new URL('../docs/reference/threat-model.md', import.meta.url);
const tables = readFileSync(page, 'utf8')
  .split('\n\n')
  .map((block) => block.split('\n').filter((line) => line.startsWith('|')))
  .filter(([head = '']) => head.endsWith('| Stopped by | Shown by |'));

test('each row of the threat model is shown by files that hold at least one test', () => {
  assert.ok(tables.length >= 7, `${tables.length} tables are found`);
  for (const row of tables.flatMap(([, , ...rows]) => rows)) {
    const [, what = '', , shown = '', ...rest] = row.split('|').map((cell) => cell.trim());
    assert.deepEqual(rest, [''], what);
    const links = linksOf(shown);
    assert.ok(links.length > 0, `what shows it: ${what}`);
    for (const link of links) {
      assert.match(link, /\.test\.ts$/u, what);
      assert.match(
        readFileSync(new URL(link, page), 'utf8'),
        /^\s*(?:await )?test\(/mu,
        `${link} holds a test: ${what}`,
      );
    }
  }
});
