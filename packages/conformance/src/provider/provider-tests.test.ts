import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerTests } from './provider-tests.ts';

test('each test has a name of its own, which begins with its feature', () => {
  const names = providerTests.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { feature, name } of providerTests) assert.ok(name.startsWith(`${feature} / `), name);
});
