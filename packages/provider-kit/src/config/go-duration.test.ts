import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoDuration } from './go-duration.ts';

test('reads durations as time.ParseDuration does, and nothing else', () => {
  const read = {
    '5s': 5000,
    '1m': 60_000,
    '1m30s': 90_000,
    '1.5h': 5_400_000,
    '.5s': 500,
    '500ms': 500,
    '+3s': 3000,
    '0': 0,
    '1us': 0.001,
  };
  for (const [text, milliseconds] of Object.entries(read)) assert.equal(parseGoDuration(text), milliseconds, text);
  for (const text of ['', '5', '-5s', 's', '5 s', '5sec', '1e3s', '.s', '5s '])
    assert.equal(parseGoDuration(text), undefined, text);
});
