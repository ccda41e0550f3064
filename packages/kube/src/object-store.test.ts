import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import type { Clock } from './clock.ts';
import type { KubeObject } from './kube-object.ts';
import { ObjectStore } from './object-store.ts';
import type { ResourceEvent } from './store.ts';

interface Thing extends KubeObject {
  zone?: string;
}

function thing(name: string, resourceVersion: number, zone?: string, uid: string = `uid-${name}`): Thing {
  return { metadata: { name, uid, resourceVersion: String(resourceVersion) }, ...(zone && { zone }) };
}

function create(clock: Clock = new FakeClock()): { store: ObjectStore<Thing>; errors: unknown[] } {
  const errors: unknown[] = [];
  const store = new ObjectStore<Thing>({
    clock,
    indexers: { zone: (object) => (object.zone ? [object.zone] : []) },
    onHandlerError: (error) => void errors.push(error),
  });
  return { store, errors };
}

function fill(store: ObjectStore<Thing>, ...objects: Thing[]): void {
  void store.take({ type: 'init' });
  for (const object of objects) void store.take({ type: 'init-apply', object });
  void store.take({ type: 'init-done' });
}

function follow(store: ObjectStore<Thing>): string[] {
  const said: string[] = [];
  store.subscribe((change) => {
    const version = change.type === 'delete' ? change.previous : change.object;
    said.push(`${change.type} ${change.key}@${version.metadata?.resourceVersion}`);
  });
  return said;
}

test('nothing is seen of a list before it is complete, then all of it at once', async () => {
  const { store } = create();
  const said = follow(store);
  void store.take({ type: 'init' });
  void store.take({ type: 'init-apply', object: thing('a', 1) });
  void store.take({ type: 'init-apply', object: thing('b', 1) });
  void store.take({ type: 'delete', object: thing('b', 2) });
  assert.equal(store.size, 0);
  assert.equal(store.synced, false);
  assert.deepEqual(said, []);
  void store.take({ type: 'init-done' });
  assert.ok(store.synced);
  await store.whenSynced();
  assert.deepEqual(said, ['add a@1']);
  assert.deepEqual(store.get('a'), thing('a', 1));
});

test('a relist tells the difference and nothing else, and what did not change stays the same object', () => {
  const { store } = create();
  fill(store, thing('same', 1), thing('changed', 1), thing('gone', 1), thing('other', 1));
  const same = store.get('same');
  const said = follow(store).splice(0);
  assert.equal(said.length, 4);
  const changes = follow(store);
  changes.length = 0;
  fill(store, thing('same', 1), thing('changed', 2), thing('new', 3), thing('other', 3, undefined, 'another'));
  assert.deepEqual(changes, ['delete gone@1', 'update changed@2', 'add new@3', 'delete other@1', 'add other@3']);
  assert.equal(store.get('same'), same);
  void store.take({ type: 'init-done' });
  assert.equal(changes.length, 5, 'an init-done without an init says nothing');
});

test('a list that is broken off leaves no trace in the next', () => {
  const { store } = create();
  fill(store, thing('a', 1));
  void store.take({ type: 'init' });
  void store.take({ type: 'init-apply', object: thing('ghost', 2) });
  assert.ok(store.get('a'), 'what was there is read on');
  fill(store, thing('a', 1));
  assert.deepEqual([...store.values()], [thing('a', 1)]);
});

test('changes after the list come one by one, repeated ones not at all', () => {
  const { store } = create();
  fill(store);
  const said = follow(store);
  void store.take({ type: 'apply', object: thing('a', 1) });
  void store.take({ type: 'apply', object: thing('a', 1) });
  void store.take({ type: 'apply', object: thing('a', 2) });
  void store.take({ type: 'apply', object: thing('a', 3, undefined, 'another') });
  void store.take({ type: 'delete', object: thing('a', 4, undefined, 'another') });
  void store.take({ type: 'delete', object: thing('a', 4, undefined, 'another') });
  assert.deepEqual(said, ['add a@1', 'update a@2', 'delete a@2', 'add a@3', 'delete a@4']);
});

test('indexes follow every change, and can be added later', () => {
  const { store } = create();
  fill(store, thing('a', 1, 'x'), thing('b', 1, 'x'), thing('c', 1));
  const names = (index: string, value: string): unknown[] =>
    store
      .byIndex(index, value)
      .map((o) => o.metadata?.name)
      .sort((a = '', b = '') => a.localeCompare(b));
  assert.deepEqual(names('zone', 'x'), ['a', 'b']);
  void store.take({ type: 'apply', object: thing('a', 2, 'y') });
  void store.take({ type: 'delete', object: thing('b', 3, 'x') });
  assert.deepEqual([names('zone', 'x'), names('zone', 'y'), names('zone', 'none')], [[], ['a'], []]);
  fill(store, thing('d', 4, 'y'));
  assert.deepEqual(names('zone', 'y'), ['d']);
  const initial = (object: Thing): readonly string[] => [object.metadata?.name?.[0] ?? ''];
  void store.take({ type: 'init' });
  void store.take({ type: 'init-apply', object: thing('early', 5) });
  store.addIndexers({ initial });
  store.addIndexers({ initial });
  assert.deepEqual(names('initial', 'd'), ['d']);
  void store.take({ type: 'init-done' });
  assert.deepEqual(names('initial', 'e'), ['early']);
  assert.throws(() => store.addIndexers({ initial: () => [] }), /another function/);
  assert.throws(() => store.byIndex('typo', 'x'), /no index "typo"; it has: zone, initial/);
});

test('a listener that throws stops neither the others nor itself', () => {
  const { store, errors } = create();
  store.subscribe(() => {
    throw new Error('mine');
  });
  const said = follow(store);
  fill(store, thing('a', 1), thing('b', 1));
  assert.deepEqual(said, ['add a@1', 'add b@1']);
  assert.equal(errors.length, 2);
});

test('who has unsubscribed hears no more, even of what is under way', () => {
  const { store } = create();
  const said: string[] = [];
  const stop = store.subscribe((change) => {
    said.push(change.key);
    stop();
  });
  fill(store, thing('a', 1), thing('b', 1));
  assert.deepEqual(said, ['a']);
});

test('whenSynced rejects with the reason of its signal, and when the store is given up', async () => {
  const { store } = create();
  await assert.rejects(store.whenSynced(AbortSignal.abort(new Error('early'))), /early/);
  const abort = new AbortController();
  const waiting = store.whenSynced(abort.signal);
  abort.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  const forever = store.whenSynced();
  store.abandon(new Error('closed'));
  await assert.rejects(forever, /closed/);
});

test('many changes are handed over in slices: others run in between, order holds, the next event waits', async () => {
  // Each reading of the clock is 1 ms later, so that a slice is spent after ten of them.
  let reading = 0;
  const busy: Clock = {
    now: () => 0,
    monotonic: () => reading++,
    setTimer: () => ({ cancel: () => {} }),
    sleep: () => Promise.resolve(),
  };
  const { store } = create(busy);
  const objects = Array.from({ length: 100 }, (_, i) => thing(`n${i}`, 1));
  void store.take({ type: 'init' });
  for (const object of objects) void store.take({ type: 'init-apply', object });
  const first: ResourceEvent<Thing>[] = [];
  store.subscribe((change) => void first.push(change));
  const told = store.take({ type: 'init-done' });
  assert.ok(told, 'the fold has to wait');
  assert.equal(store.size, 100, 'while readers see all at once');
  assert.ok(first.length > 0 && first.length < 100);
  // One that comes while the others are still being told: it hears of each object once.
  const late: string[] = [];
  store.subscribe((change) => void late.push(`${change.type} ${change.key}`));
  let turns = 0;
  let going = true;
  const count = (): void => {
    turns++;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  await told;
  going = false;
  assert.ok(turns >= 5, `only ${turns} turns of the event loop`);
  assert.deepEqual(
    first.map((change) => change.key),
    objects.map((object) => object.metadata?.name),
  );
  const next = store.take({ type: 'apply', object: thing('n0', 2) });
  await next;
  assert.deepEqual(late, [...objects.map((object) => `add ${object.metadata?.name}`), 'update n0']);
});
