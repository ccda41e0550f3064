import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { annotationsPage } from './annotations-page.ts';

test('the page of annotations is the one that is generated', () => {
  const page = readFileSync(new URL('../../providers/aws/docs/annotations.md', import.meta.url), 'utf8');
  assert.equal(page, annotationsPage(), 'run `node scripts/aws-annotations-page.ts`');
});
