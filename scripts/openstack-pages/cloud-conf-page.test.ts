import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cloudConfMeanings } from './cloud-conf-meanings.ts';
import { cloudConfPage } from './cloud-conf-page.ts';

test('the page is what the table of keys says (else: node scripts/openstack-cloud-conf-page.ts)', () => {
  assert.equal(
    readFileSync(new URL('../../providers/openstack/docs/cloud-conf.md', import.meta.url), 'utf8'),
    cloudConfPage(),
  );
});

test('each key says what it means, and nothing is said of a key that there is not', () => {
  const rows = cloudConfPage()
    .split('\n')
    .filter((line) => /\| (served|own) \|/u.test(line));
  assert.equal(Object.values(cloudConfMeanings).flatMap((section) => Object.keys(section)).length, rows.length);
  for (const row of rows) assert.doesNotMatch(row, /\| {2,}\|$/u, row);
});
