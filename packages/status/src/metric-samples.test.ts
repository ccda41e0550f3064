import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSamples } from './metric-samples.ts';

const page = String.raw`# HELP a_total What it counts
# TYPE a_total counter
a_total{code="ok",path="a\"b\\c\nd"} 3
a_total{code="no",path=""} 4 1700000000000
plain 1.5e3
wait_bucket{le="+Inf"} 7
least -Inf
broken{ 1
`;

test('samples have their name, labels with what was escaped, and value; what is none is left out', () => {
  const samples = new MetricSamples(page);
  assert.deepEqual(samples.of('a_total'), [
    { name: 'a_total', labels: { code: 'ok', path: 'a"b\\c\nd' }, value: 3 },
    { name: 'a_total', labels: { code: 'no', path: '' }, value: 4 },
  ]);
  assert.deepEqual([samples.sum('plain'), samples.sum('wait_bucket', { le: '+Inf' })], [1500, 7]);
  assert.deepEqual([samples.sum('a_total'), samples.sum('a_total', { code: 'no' }), samples.sum('none')], [7, 4, 0]);
  assert.equal(samples.of('least')[0]?.value, -Infinity);
  assert.deepEqual(samples.valuesOf('a_total', 'code'), ['no', 'ok']);
  assert.deepEqual([samples.hasAny('a_'), samples.hasAny('broken')], [true, false]);
});
