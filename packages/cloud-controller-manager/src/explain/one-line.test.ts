import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonText, oneLine } from './one-line.ts';

const hostile = 'a\u001B]0;owned\u0007\u009B2J\u007Fb\r\nc\u202Ed\u2069e\u200Ff\u061Cg';

test('a line has neither line ends, nor escape sequences, nor what turns its direction', () => {
  assert.equal(oneLine(hostile), 'a ]0;owned 2J b c d e f g');
});

test('JSON is the same to a program, and tells a terminal nothing', () => {
  const text = jsonText({ [hostile]: [hostile, 'ä ☃ 😀'] });
  assert.deepEqual(JSON.parse(text), { [hostile]: [hostile, 'ä ☃ 😀'] });
  assert.doesNotMatch(text, /[^\P{Cc}\n]|\p{Bidi_Control}/u);
  assert.match(text, /^\{\n {2}"a\\u001b.*ä ☃ 😀"\n {2}\]\n\}\n$/su);
});
