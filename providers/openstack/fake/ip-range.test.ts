import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatAddress, isWithin, parseAddress, parseRange } from './ip-range.ts';

test('what is written is read back, whatever its zeros', () => {
  const group = fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 0xffff }));
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const value = groups.reduce((sum, next) => sum * 65_536n + BigInt(next), 0n);
      const text = formatAddress(6, value);
      assert.ok(isIPv6(text), text);
      assert.deepEqual(parseAddress(text), { family: 6, value });
    }),
  );
});

test('a range knows its addresses; host bits do not matter', () => {
  const range = parseRange('10.0.0.77/24');
  assert.ok(range);
  assert.ok(isWithin(range, '10.0.0.1'));
  assert.ok(!isWithin(range, '10.0.1.1'));
  assert.ok(!isWithin(range, 'fd00::1'));
  assert.equal(parseRange('10.0.0.0/33'), undefined);
  assert.equal(parseRange('10.0.0/8'), undefined);
});
