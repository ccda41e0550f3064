import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClusterCidrs } from './cluster-cidrs.ts';

test('--cluster-cidr is none, one, or one of each family', () => {
  assert.deepEqual(parseClusterCidrs(''), []);
  assert.deepEqual(
    parseClusterCidrs(' 10.0.0.0/8 , fd00::/48').map(({ text }) => text),
    ['10.0.0.0/8', 'fd00::/48'],
  );
  assert.throws(() => parseClusterCidrs('10.0.0.0'), /"10\.0\.0\.0" is not a CIDR range: write it as/);
  for (const text of ['10.0.0.0/8,11.0.0.0/8', 'fd00::/48,fd01::/48', '10.0.0.0/8,fd00::/48,fd01::/48']) {
    assert.throws(() => parseClusterCidrs(text), RangeError, text);
  }
});
