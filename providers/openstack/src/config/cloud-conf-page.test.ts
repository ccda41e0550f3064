import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cloudConfPage } from './cloud-conf-page.ts';

test('the page is what the table of keys says (else: node scripts/openstack-cloud-conf-page.ts)', () => {
  assert.equal(readFileSync(new URL('../../docs/cloud-conf.md', import.meta.url), 'utf8'), cloudConfPage());
});
