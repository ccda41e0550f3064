import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RouteRecord } from './route-record.ts';

const DESTINATION = '10.0.1.0/24';
const HOP = '192.168.0.1';

test('lists from before a route was made, or while it may still come about, do not make it be forgotten', () => {
  const record = new RouteRecord();
  record.note(DESTINATION, [HOP], Number.POSITIVE_INFINITY);
  for (const asOf of [1, 2, 3]) record.keepOnly([], asOf);
  assert.ok(record.has(DESTINATION, [HOP]), 'it is under way');
  record.release(DESTINATION, [HOP], 100);
  for (const asOf of [98, 99, 100]) record.keepOnly([], asOf);
  assert.ok(record.has(DESTINATION, [HOP]), 'no list is newer');
  record.keepOnly([], 101);
  assert.ok(record.has(DESTINATION, [HOP]), 'one list may lack what is there');
  record.keepOnly([], 102);
  assert.equal(record.text, '');
});

test('what is there again after a list that lacked it is not forgotten by the next one that does', () => {
  const record = new RouteRecord();
  const route = {
    id: 'r',
    destination: DESTINATION,
    nextHops: [HOP],
    blackhole: false,
    ownership: 'unmarked',
  } as const;
  record.note(DESTINATION, [HOP], 0);
  for (let asOf = 1; asOf < 9; asOf += 2) {
    record.keepOnly([], asOf);
    record.keepOnly([route], asOf + 1);
  }
  assert.ok(record.has(DESTINATION, [HOP]));
  const { version } = record;
  record.note(DESTINATION, [HOP], 9);
  assert.equal(record.version, version, 'nothing new is to be written');
});
