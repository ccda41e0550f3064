import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { sizeOfJson } from './json-size.ts';

const size = (text: string): readonly number[] => {
  const { depth, values } = sizeOfJson(Buffer.from(text));
  return [values, depth];
};

test('what is in a string counts as nothing', () => {
  assert.deepEqual(size('1'), [1, 0]);
  assert.deepEqual(size('{"a":[1,2]}'), [5, 2]);
  assert.deepEqual(size(String.raw`["[{,:\\","\"[[",["\\\\"]]`), [5, 2]);
  assert.deepEqual(size('["unended, [[['), [2, 1]);
  assert.deepEqual(size('[[]],[]'), [5, 2]);
});

test('no value of any JSON is missed, nor how deep it is', () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 1
      : 1 +
        Object.values(value).reduce<number>(
          (sum, one) => sum + count(one),
          Array.isArray(value) ? 0 : Object.keys(value).length,
        );
  const depthOf = (value: unknown): number =>
    typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { depth, values } = sizeOfJson(Buffer.from(JSON.stringify(value)));
      assert.equal(depth, depthOf(value));
      // An array of one is a bracket; what is in it is not counted by itself.
      assert.ok(2 * values >= count(value));
    }),
  );
});

test('a string with many escapes takes no time that grows faster than it', () => {
  assert.deepEqual(size(`"${'\\\\'.repeat(1 << 20)}"`), [1, 0]);
  assert.deepEqual(size(`"${'\\"'.repeat(1 << 20)}"`), [1, 0]);
});
