import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as example from './example.ts';

test('the example of the README is the file that compiles, and it runs', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const source = readFileSync(new URL('./example.ts', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown?.trim(), source.replaceAll("'./index.ts'", "'@outrigger/controller-manager'").trim());
  assert.equal(await example.main(['--greeting=hello'], AbortSignal.abort()), 0);
  await assert.rejects(example.main(['--greting=hello'], AbortSignal.abort()), /did you mean --greeting\?/u);
});
