import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { CallLog, type CallRecord } from './call-log.ts';

const record = (startedAt: number): CallRecord => ({
  operation: 'GET',
  startedAt,
  durationMs: 1,
  code: 'ok',
  priority: 'normal',
  attempt: 1,
});
const times = (records: readonly CallRecord[]): readonly number[] => records.map(({ startedAt }) => startedAt);

test('the last 256 of all, the last 8 of each object, newest last', () => {
  const log = new CallLog();
  log.add(record(0), ['quiet', 'busy']);
  for (let at = 1; at <= 300; at++) log.add(record(at), ['busy']);
  assert.equal(log.list().length, 256);
  assert.deepEqual([log.list()[0]?.startedAt, log.list().at(-1)?.startedAt], [45, 300]);
  assert.deepEqual(times(log.list('quiet')), [0]);
  assert.deepEqual(times(log.list('busy')), [293, 294, 295, 296, 297, 298, 299, 300]);
  assert.deepEqual(log.list('nobody'), []);
});

test('objects that were not asked about for long are dropped, so that it never grows', () => {
  const log = new CallLog();
  log.add(record(0), ['first', 'second']);
  for (let i = 0; i < 19_999; i++) log.add(record(1), [`uid-${i}`, 'first']);
  assert.deepEqual(log.list('second'), []);
  assert.equal(log.list('first').length, 8);
});
