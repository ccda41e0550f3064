import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestName } from './closest-name.ts';

test('the name with the fewest other letters is near, of which a third may differ', () => {
  assert.equal(closestName('versoin', ['verbose', 'version']), 'version');
  assert.equal(closestName('foo', ['leader-elect']), undefined);
});

test('where none is near, it is what somebody began to write: three letters of a name, or more', () => {
  const commands = ['completion', 'config', 'conformance', 'docs', 'explain'];
  assert.equal(closestName('conf', commands), 'config', 'the first of two');
  assert.equal(closestName('conform', commands), 'conformance');
  assert.equal(closestName('exp', new Set(commands).values()), 'explain');
  assert.equal(closestName('doc', commands), 'docs');
  assert.equal(closestName('co', commands), undefined);
  assert.equal(closestName('explainer-of-things', commands), undefined);
});
