import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { WrittenVersions } from './written-versions.ts';

const object = (resourceVersion: string, uid = 'u'): object => ({ metadata: { uid, resourceVersion } });

function setUp(): {
  readonly clock: FakeClock;
  readonly written: WrittenVersions;
  readonly believed: string[];
  readonly ended: AbortController;
} {
  const clock = new FakeClock();
  const believed: string[] = [];
  const ended = new AbortController();
  const onBelieved = (key: string): void => void believed.push(key);
  return { clock, believed, ended, written: new WrittenVersions({ clock, signal: ended.signal, onBelieved }) };
}

test('what is older than our last write is behind, until the store has seen it', () => {
  const { written } = setUp();
  written.note('a', { uid: 'u', resourceVersion: '9007199254740993' });
  assert.ok(written.isBehind('a', object('9007199254740992')));
  assert.ok(!written.isBehind('a', object('9007199254740992', 'another')));
  assert.ok(!written.isBehind('b', object('1')));
  assert.ok(!written.isBehind('a', object('9007199254740993')));
});

test('an API server restored from a backup: what the store has seen already is not waited for again', () => {
  const { written } = setUp();
  written.note('a', { uid: 'u', resourceVersion: '100' });
  assert.ok(!written.isBehind('a', object('101')));
  assert.ok(!written.isBehind('a', object('7')), 'lower than what was written, and what there is');
});

test('a write that the store never sees is waited for a minute, and who waits is called, once', async () => {
  const { written, clock, believed, ended } = setUp();
  written.note('a', { uid: 'u', resourceVersion: '100' });
  written.note('b', { uid: 'u', resourceVersion: '101' });
  assert.ok(written.isBehind('a', object('7')));
  await clock.advance(30_000);
  written.note('c', { uid: 'u', resourceVersion: '102' });
  assert.ok(written.isBehind('c', object('7')));
  await clock.advance(29_999);
  assert.ok(written.isBehind('a', object('7')));
  await clock.advance(1);
  assert.deepEqual(believed, ['a'], 'nobody waits for b');
  assert.ok(!written.isBehind('a', object('7')));
  assert.ok(!written.isBehind('b', object('7')));
  await clock.advance(30_000);
  assert.deepEqual(believed, ['a', 'c']);
  assert.equal(clock.pendingTimers, 0);
  written.note('d', { uid: 'u', resourceVersion: '103' });
  assert.ok(written.isBehind('d', object('7')));
  assert.equal(clock.pendingTimers, 1);
  ended.abort();
  assert.equal(clock.pendingTimers, 0);
});
