import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countMissed, renderScenarios, type Measured } from './scenario-table.ts';

const measured: Measured = {
  scenario: 'newborn',
  figures: [
    { what: 'deleted', value: 0, atMost: 0 },
    { what: 'calls', value: 9, atMost: 8 },
    { what: 'last', value: 1.234, unit: 's', atMost: 4 },
    { what: 'nothing', value: Number.NaN, unit: 's', atMost: 4 },
    { what: 'shown', value: 3 },
    { what: 'killed', value: 10, atLeast: 10 },
    { what: 'ratio', value: 0.89, atLeast: 0.9 },
    { what: 'no ratio', value: Number.NaN, atLeast: 0.9 },
  ],
  upstream: [{ what: 'deleted', value: 50, atMost: 0 }],
};

test('each figure has a row: met, missed or only shown, beside upstream where that was measured', () => {
  assert.deepEqual(renderScenarios([measured]).split('\n').slice(2), [
    '| newborn | deleted | 0 | ≤ 0 | met | 50 |',
    '| newborn | calls | 9 | ≤ 8 | MISSED | – |',
    '| newborn | last | 1.23 s | ≤ 4 s | met | – |',
    '| newborn | nothing | NaN s | ≤ 4 s | MISSED | – |',
    '| newborn | shown | 3 |  |  | – |',
    '| newborn | killed | 10 | ≥ 10 | met | – |',
    '| newborn | ratio | 0.89 | ≥ 0.9 | MISSED | – |',
    '| newborn | no ratio | NaN | ≥ 0.9 | MISSED | – |',
  ]);
  assert.equal(countMissed([measured]), 4);
});
