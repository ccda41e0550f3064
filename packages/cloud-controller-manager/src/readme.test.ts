import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

test('the example of the README is the distribution that is shipped', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const source = readFileSync(
    new URL('../../../distribution/src/cloud-controller-manager.ts', import.meta.url),
    'utf8',
  );
  assert.equal(/```ts\n([\s\S]*?)```/u.exec(readme)?.[1], source);
});
