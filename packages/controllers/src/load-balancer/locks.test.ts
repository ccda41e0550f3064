import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Locks } from './locks.ts';

const HOUR = 3_600_000;

test('who waits for a lock is woken once it is free, once for each key', () => {
  const locks = new Locks();
  const woken: string[] = [];
  const take = (key: string): boolean => locks.tryAcquire('lb', key, () => void woken.push(key));
  assert.deepEqual([take('a'), take('b'), take('b'), take('c')], [true, false, false, false]);
  assert.ok(locks.tryAcquire('another', 'b', () => {}));
  assert.deepEqual([locks.isAwaited('lb'), locks.isAwaited('another'), locks.isAwaited('free')], [true, false, false]);
  locks.release('lb');
  assert.deepEqual(woken, ['b', 'c']);
  assert.ok(take('c'), 'it is free');
  assert.ok(!locks.isAwaited('lb'));
});

test('when something was changed under a lock is remembered for an hour, shared locks of load balancers that are gone no longer', () => {
  const locks = new Locks();
  locks.noteApplied('old', 0);
  locks.noteApplied('busy', 1);
  locks.noteApplied('busy', HOUR / 2);
  assert.deepEqual([locks.appliedAt('old'), locks.appliedAt('busy')], [0, HOUR / 2]);
  locks.noteApplied('new', HOUR);
  assert.deepEqual([locks.appliedAt('old'), locks.appliedAt('busy')], [-Infinity, HOUR / 2]);
  locks.forget('busy');
  assert.equal(locks.appliedAt('busy'), -Infinity);
});
