import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configPage } from './vsphere-config-page-text.ts';

test('the page is what the keys say (else: node scripts/vsphere-config-page.ts)', () => {
  assert.equal(readFileSync(new URL('../providers/vsphere/docs/config.md', import.meta.url), 'utf8'), configPage());
});
