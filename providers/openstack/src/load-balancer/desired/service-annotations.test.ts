import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotationTable, type AnnotationRow } from './annotation-table.ts';
import { readAnnotations } from './service-annotations.ts';
import { annotated, idOf } from './tree-inputs.suite.ts';

const rows: readonly AnnotationRow[] = Object.values(annotationTable);

test('what is not set is undefined, and foreign annotations are not read', () => {
  const values = readAnnotations({ 'example.com/x': 'y' });
  assert.deepEqual(
    Object.values(values),
    rows.map(() => undefined),
  );
});

test('each kind of value', () => {
  const set = {
    internal: 'false',
    connectionLimit: '+7',
    subnetId: idOf('S').toUpperCase(),
    class: 'gold',
    lbMethod: 'SOURCE_IP',
  };
  const { internal, connectionLimit, subnetId, class: className, lbMethod } = readAnnotations(annotated(set));
  assert.deepEqual(
    [internal, connectionLimit, subnetId, className, lbMethod],
    [false, 7, idOf('S'), 'gold', 'SOURCE_IP'],
  );
});

test('an empty value is no value, but for text: there it undoes the config', () => {
  for (const [key, row] of Object.entries(annotationTable) as [string, AnnotationRow][]) {
    const values: Readonly<Record<string, unknown>> = readAnnotations({ [row.name]: '' });
    const text = row.values === 'string' || row.values === 'uuid';
    assert.equal(values[key], text && !row.written ? '' : undefined, key);
  }
});

const badValuesOf = (row: AnnotationRow): readonly string[] => {
  if (row.values === 'string') return [];
  if (row.values === 'uuid') return ['x', 'my-network', idOf('S').replaceAll('-', '')];
  return row.values === 'integer' ? ['x', '1.5', '1e3', ' 1', '0x1', '60s', '9'.repeat(40)] : ['x', 'True', ' ', 'yes'];
};

test('a value that is none is passed over where CPO takes the default, with one warning that names annotation and value', () => {
  const lenient = (Object.entries(annotationTable) as [string, AnnotationRow][]).filter(([, row]) => row.orDefault);
  assert.ok(lenient.length > 10);
  for (const [key, row] of lenient) {
    const served = row.orDefault === 'once-served' ? annotated({ loadBalancerId: idOf('LB') }) : {};
    for (const value of badValuesOf(row)) {
      const told: string[] = [];
      const values: Readonly<Record<string, unknown>> = readAnnotations(
        { ...served, [row.name]: value },
        ({ message }) => told.push(message),
      );
      assert.equal(values[key], undefined);
      assert.equal(told.length, 1);
      assert.ok(told[0]?.includes(`${row.name} is ignored, and the default taken: ${JSON.stringify(value)} is not `));
    }
  }
});

test('all else is refused in one line that names annotation and value', () => {
  for (const row of rows) {
    const beyond = row.range ? [`${row.range[0] - 1}`, `${row.range[1] + 1}`] : [];
    for (const value of [...(row.orDefault === 'always' ? [] : badValuesOf(row)), ...beyond]) {
      assert.throws(
        () => readAnnotations({ [row.name]: value }),
        (error: Error & { code?: string }) =>
          error.code === 'invalid' &&
          error.message.startsWith(`annotation ${row.name}: ${JSON.stringify(value)} is not `),
        `${row.name} ${value}`,
      );
    }
  }
});

test('what the provider writes is not read', () => {
  assert.equal(readAnnotations(annotated({ loadBalancerAddress: '203.0.113.9' })).loadBalancerAddress, undefined);
});
