import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestName, didYouMean } from './closest-name.ts';

test('the nearest name, of which at most a third of the letters differ', () => {
  const known = ['lb-provider', 'lb-method', 'region', 'cloud'];
  const meant = {
    'lb-provder': 'lb-provider',
    lbprovider: 'lb-provider',
    'lb-methods': 'lb-method',
    regoin: 'region',
    clouds: 'cloud',
    'use-octavia': undefined,
    '': undefined,
    [`lb-provider${'r'.repeat(100_000)}`]: undefined,
  };
  for (const [wrong, near] of Object.entries(meant)) assert.equal(closestName(wrong, known), near, wrong.slice(0, 20));
  assert.equal(closestName('ab', ['xb', 'ab', 'ac']), 'ab');
  assert.equal(didYouMean('clod', known), ' (did you mean cloud?)');
  assert.equal(didYouMean('moon', known), '');
});
