import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InternedStrings } from './interned-strings.ts';

test('texts of one length, more than are kept, come out as what they are, each time', () => {
  const strings = new InternedStrings();
  const texts = Array.from({ length: 10_000 }, (_, index) => `node-${String(index).padStart(5, '0')}`);
  for (let round = 0; round < 2; round++) {
    for (const text of texts) {
      const bytes = Buffer.from(`<${text}>`);
      assert.equal(strings.read(bytes, 1, bytes.length - 1), text);
    }
  }
});
