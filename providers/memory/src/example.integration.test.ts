import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { serveThreeNodes } from './example.ts';

test('the example of the README is a file that compiles, and serves three machines', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const source = await readFile(new URL('example.ts', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown, source.replace("'./index.ts'", "'@outrigger/provider-memory'"));
  await using served = await serveThreeNodes(systemClock);
  const answer = await fetch(`${served.endpoint}/instances`);
  assert.equal(((await answer.json()) as { instances: unknown[] }).instances.length, 3);
});
