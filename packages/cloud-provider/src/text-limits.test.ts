import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutText, quote, refuseLonger } from './text-limits.ts';

test('a text over the limit is refused by the name of its place and the limit, and nothing of it is quoted', () => {
  refuseLonger('annotation a', 'x'.repeat(255));
  refuseLonger('annotation a', 'x'.repeat(4_096), 4_096);
  assert.throws(() => refuseLonger('annotation a', 'secret'.repeat(50)), {
    code: 'invalid',
    message: 'annotation a is too long: shorten it to at most 255 characters',
  });
});

test('a quoted text is one line of a bounded length', () => {
  assert.equal(quote('a\n"b"'), '"a\\n\\"b\\""');
  assert.equal(quote('x'.repeat(240_000)), `"${'x'.repeat(255)}…" (240000 characters)`);
});

test('a text that is cut says so, and has no half of a character', () => {
  assert.equal(cutText('abc', 3), 'abc');
  assert.equal(cutText('abcd', 3), 'abc…');
  assert.equal(cutText('ab\u{1f4a5}c', 3), 'ab…');
});
