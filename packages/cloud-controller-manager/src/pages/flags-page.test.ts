import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { flagsPage } from './flags-page.ts';

test('the page of the flags is what the flags say (else: node scripts/flags-page.ts)', () => {
  const page = readFileSync(new URL('../../../../docs/reference/flags.md', import.meta.url), 'utf8');
  assert.equal(page, flagsPage());
});
