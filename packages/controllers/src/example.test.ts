import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { planNewNode } from './example.ts';

test('the example of the README is the file that compiles, and it plans the status first and the taint last', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const source = readFileSync(new URL('./example.ts', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown?.trim(), source.replaceAll("'./index.ts'", "'@outrigger/controllers'").trim());
  const plan = planNewNode();
  assert.deepEqual(plan.kind === 'act' && plan.actions.map(({ kind }) => kind), ['patch-status', 'patch-object']);
});
