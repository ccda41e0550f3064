import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configPage } from './config-page.ts';

test('the page is what the keys say (else: node scripts/vsphere-config-page.ts)', () => {
  assert.equal(readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8'), configPage());
});
