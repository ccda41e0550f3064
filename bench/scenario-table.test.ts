import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countMissed, mergeRounds, renderHarm, renderScenarios, type Measured } from './scenario-table.ts';

const measured: Measured = {
  scenario: 'newborn',
  figures: [
    { what: 'deleted', value: 0, atMost: 0 },
    { what: 'calls', value: 9, atMost: 8 },
    { what: 'last', value: 1.234, unit: 's', atMost: 4 },
    { what: 'nothing', value: Number.NaN, unit: 's', atMost: 4 },
    { what: 'shown', value: 3 },
    { what: 'killed', value: 10, atLeast: 10 },
    { what: 'ratio', value: 0.8912345, atLeast: 0.9 },
    { what: 'no ratio', value: Number.NaN, atLeast: 0.9 },
  ],
  upstream: [
    {
      subject: 'tuned',
      figures: [
        { what: 'deleted', value: 50, atMost: 0 },
        { what: 'calls', value: 1_234, atMost: 8 },
        { what: 'last', value: 5.5, unit: 's', atMost: 4 },
        { what: 'nothing', value: 1, unit: 's', atMost: 4 },
      ],
    },
    { subject: 'default', figures: [{ what: 'shown', value: 1 }], unfinished: 'not done within 300 s' },
  ],
};

test('each figure has a row: met, missed or only shown, beside upstream, with its multiple, where that was measured', () => {
  assert.deepEqual(renderScenarios([measured]).split('\n'), [
    '| scenario | figure | outrigger | must be |  | tuned | default |',
    '|---|---|---:|---:|---|---:|---:|',
    '| newborn | deleted | 0 | ≤ 0 | met | 50 | – |',
    '| newborn | calls | 9 | ≤ 8 | MISSED | 1234 (137 x) | – |',
    '| newborn | last | 1.23 s | ≤ 4 s | met | 5.50 s (4.5 x) | – |',
    '| newborn | nothing | NaN s | ≤ 4 s | MISSED | 1.00 s | – |',
    '| newborn | shown | 3 |  |  | – | 1 (0.3 x) |',
    '| newborn | killed | 10 | ≥ 10 | met | – | – |',
    '| newborn | ratio | 0.891 | ≥ 0.9 | MISSED | – | – |',
    '| newborn | no ratio | NaN | ≥ 0.9 | MISSED | – | – |',
    '',
    'Not to the end:',
    'newborn: not done within 300 s (default)',
  ]);
  assert.equal(countMissed([measured]), 4);
});

test('what must not be done at all is named with who did it', () => {
  assert.deepEqual(renderHarm([measured]), ['tuned: newborn: deleted: 50']);
  const figures = [{ what: 'leaked', value: 2, atMost: 0 }];
  assert.deepEqual(renderHarm([{ scenario: 'services', figures, upstream: [] }]), ['outrigger: services: leaked: 2']);
});

test('of several rounds: the median of the seconds, the worst of everything else', () => {
  const round = (seconds: number, count: number): Measured['figures'] => [
    { what: 'time', value: seconds, unit: 's', atMost: 4 },
    { what: 'calls', value: count, atMost: 8 },
    { what: 'killed', value: count, atLeast: 1 },
  ];
  assert.deepEqual(mergeRounds([round(1, 5), round(9, 7), round(2, 6)]), [
    { what: 'time', value: 2, unit: 's', atMost: 4 },
    { what: 'calls', value: 7, atMost: 8 },
    { what: 'killed', value: 5, atLeast: 1 },
  ]);
  assert.deepEqual(mergeRounds([round(1, 5), []]), round(1, 5), 'a round that did not come to its end');
});
