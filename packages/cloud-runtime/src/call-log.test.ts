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

test('a request costs the same however many objects its call is about, and each of them knows it', () => {
  const log = new CallLog();
  const reads = { count: 0 };
  const uids = Array.from({ length: 100 }, (_, i) => `uid-${i}`);
  const about = new Proxy(uids, {
    get: (all, key, self) => {
      reads.count++;
      return Reflect.get(all, key, self) as unknown;
    },
  });
  log.add(record(0), ['uid-7']);
  log.add(record(1), about);
  const { count } = reads;
  for (let at = 2; at < 7; at++) log.add(record(at), about);
  assert.equal(reads.count, count);
  log.add(record(7), ['uid-7']);
  assert.deepEqual(times(log.list('uid-7')), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(times(log.list('uid-8')), [1, 2, 3, 4, 5, 6]);
  log.add(record(8), about);
  assert.deepEqual(times(log.list('uid-7')), [1, 2, 3, 4, 5, 6, 7, 8]);
});
