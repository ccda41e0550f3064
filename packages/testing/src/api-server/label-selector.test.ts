import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseLabelSelector } from './label-selector.ts';
import { StatusError } from './status-error.ts';

const word = fc.stringMatching(/^[a-z]([a-z0-9./_-]{0,8}[a-z0-9])?$/);
const labels = fc.dictionary(word, word, { maxKeys: 5 });

test('a selector and its negation never select the same object, and always one of them does', () => {
  fc.assert(
    fc.property(labels, word, fc.array(word, { minLength: 1, maxLength: 4 }), (set, key, values) => {
      const pairs: [string, string][] = [
        [key, `!${key}`],
        [`${key}=${values[0]}`, `${key}!=${values[0]}`],
        [`${key} in (${values.join(',')})`, `${key} notin (${values.join(', ')})`],
      ];
      for (const [yes, no] of pairs) {
        assert.notEqual(parseLabelSelector(yes)?.(set), parseLabelSelector(no)?.(set), `${yes} / ${no}`);
      }
    }),
  );
});

test('requirements joined by commas select what each of them selects', () => {
  fc.assert(
    fc.property(labels, fc.array(word, { minLength: 1, maxLength: 4 }), (set, keys) => {
      const together = parseLabelSelector(keys.join(','))?.(set);
      assert.equal(
        together,
        keys.every((key) => Object.hasOwn(set, key)),
      );
    }),
  );
});

test('any text is parsed or refused with 400, never anything else', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        parseLabelSelector(text);
      } catch (error) {
        assert.ok(error instanceof StatusError && error.code === 400, String(error));
      }
    }),
  );
});

test('nothing selects everything', () => {
  assert.equal(parseLabelSelector(''), undefined);
  assert.equal(parseLabelSelector('  '), undefined);
});
