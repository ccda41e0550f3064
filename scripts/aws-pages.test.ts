import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configPage, iamPage } from './aws-pages-text.ts';

for (const [file, page] of [
  ['config.md', configPage],
  ['iam.md', iamPage],
] as const) {
  test(`${file} is what the code says (else: node scripts/aws-pages.ts)`, () => {
    assert.equal(readFileSync(new URL(`../providers/aws/docs/${file}`, import.meta.url), 'utf8'), page());
  });
}
