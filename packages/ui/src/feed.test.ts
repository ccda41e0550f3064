import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed } from './feed.ts';

test('each reader is told what has changed since it was told last, and what is as it was is no change', () => {
  const feed = new Feed();
  let told = 0;
  const stop = feed.onChange(() => told++);
  feed.set('nodes', { name: 'a' });
  feed.fact('dryRun', false);
  const first = feed.changes(0);
  assert.deepEqual(first, {
    version: 2,
    reset: true,
    tables: { nodes: { set: [{ name: 'a' }], gone: [] } },
    facts: { dryRun: false },
  });
  feed.set('nodes', { name: 'a' });
  feed.fact('dryRun', false);
  feed.delete('nodes', 'none');
  assert.equal(feed.changes(2), undefined);
  assert.equal(told, 2);
  feed.replace('nodes', [{ name: 'b' }]);
  assert.deepEqual(feed.changes(2)?.tables, { nodes: { set: [{ name: 'b' }], gone: ['a'] } });
  assert.deepEqual(feed.changes(0)?.tables, { nodes: { set: [{ name: 'b' }], gone: [] } });
  stop();
  feed.set('nodes', { name: 'a' });
  assert.equal(told, 4);
  const back = feed.changes(2)?.tables['nodes'];
  assert.deepEqual([back?.gone, back?.set.length], [[], 2]);
});

test('of more rows that went than are remembered, a reader that is behind begins anew', () => {
  const feed = new Feed();
  feed.set('nodes', { name: 'stays' });
  const { version = 0 } = feed.changes(0) ?? {};
  for (let i = 0; i < 20_001; i++) {
    feed.set('nodes', { name: `n${i}` });
    feed.delete('nodes', `n${i}`);
  }
  assert.deepEqual(feed.changes(version)?.reset, true);
  assert.deepEqual(feed.changes(version)?.tables, { nodes: { set: [{ name: 'stays' }], gone: [] } });
});
