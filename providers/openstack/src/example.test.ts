import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createNorth } from './example.ts';

test('the example of the README is a file that compiles, and makes a provider', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const source = readFileSync(new URL('example.ts', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown, source.replace("'./index.ts'", "'@outrigger/provider-openstack'"));
  assert.equal(createNorth().name, 'north');
});
