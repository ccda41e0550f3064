import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectorsOf } from './promql-selectors.ts';

test('selectors have the labels of their matchers and of every grouping around them', () => {
  assert.deepEqual(selectorsOf('sum by (le, a) (rate(x_bucket{job="j", b!~"c|d"}[5m])) / on (a) max(y) > 0.1'), [
    {
      metric: 'x_bucket',
      matchers: [
        { label: 'job', operator: '=', value: 'j' },
        { label: 'b', operator: '!~', value: 'c|d' },
      ],
      labels: ['job', 'b', 'le', 'a'],
    },
    { metric: 'y', matchers: [], labels: [] },
  ]);
});

test('a label that the query makes need not be there', () => {
  const [selector] = selectorsOf('sum by (part, c) (label_replace(x, "part", "any", "", ""))');
  assert.deepEqual(selector?.labels, ['c']);
});

for (const wrong of ['sum by (a (x)', 'rate(x[5m]', 'x{a=b}', '1 + 1', '{a="b"}']) {
  test(`${wrong} is refused`, () => {
    assert.throws(() => selectorsOf(wrong), SyntaxError);
  });
}
