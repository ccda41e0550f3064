import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { helmValuesPage } from './helm-values-page-text.ts';

test('the page is what the values of the chart say (else: node scripts/helm-values-page.ts)', () => {
  assert.equal(readFileSync(new URL('../docs/reference/helm-values.md', import.meta.url), 'utf8'), helmValuesPage());
});
