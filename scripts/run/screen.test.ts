import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrap } from './screen.ts';

test('sentences share a line while they fit into it; none is cut', () => {
  assert.deepEqual(wrap(['one', 'two'], 8), ['one; two']);
  assert.deepEqual(wrap(['one', 'two'], 7), ['one', 'two']);
  assert.deepEqual(wrap(['longer than this', 'two'], 8), ['longer than this', 'two']);
  assert.deepEqual(wrap([], 8), []);
});
