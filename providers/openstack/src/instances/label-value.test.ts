import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isLabelValue, labelValueOf } from './label-value.ts';

test('zones and regions become label values', () => {
  for (const [text, want] of [
    ['nova', 'nova'],
    ['Availability Zone 1', 'Availability-Zone-1'],
    ['eu/central: 1', 'eu-central-1'],
    ['-_.az.', 'az'],
    ['Zürich', 'Z-rich'],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
    ['€', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
  ] as const) {
    assert.equal(labelValueOf(text), want);
  }
});

test('property: what comes out is a label value, and a label value stays as it is', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 80, unit: fc.constantFrom('a', 'Z', '0', '-', '_', '.', ' ', '/', 'ü') }),
      (text) => {
        const value = labelValueOf(text);
        assert.ok(value === undefined || isLabelValue(value));
        if (isLabelValue(text)) assert.equal(value, text);
      },
    ),
  );
});
