import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findKind } from './kinds.ts';
import { ObjectStorage, parseStored } from './object-storage.ts';

const KIND = findKind('', 'v1', 'configmaps')!;
const object = (name: string, n: number): { metadata: { name: string; namespace: string }; data: object } => ({
  metadata: { name, namespace: 'default' },
  data: { n },
});

interface Write {
  readonly name: string;
  readonly remove: boolean;
}

const writes = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean() }), {
  maxLength: 60,
});

/** Does the writes; returns what a list showed after each revision. */
function run(storage: ObjectStorage, list: readonly Write[]): Map<number, string[]> {
  const shown = new Map<number, string[]>();
  const show = (): void => void shown.set(storage.revision, names(storage));
  show();
  for (const [n, { name, remove }] of list.entries()) {
    if (remove) storage.remove(KIND, `default/${name}`);
    else storage.put(KIND, object(name, n));
    show();
  }
  return shown;
}

const describe = (stored: Parameters<typeof parseStored>[0]): string => `${stored.name}@${stored.revision}`;
const names = (storage: ObjectStorage): string[] => storage.list(KIND).map(describe);

test('every revision in the window can be listed as it was, every older one is 410', () => {
  fc.assert(
    fc.property(writes, fc.integer({ min: 1, max: 70 }), (list, window) => {
      const storage = new ObjectStorage(window);
      for (const [revision, expected] of run(storage, list)) {
        if (revision >= storage.oldestRevision) {
          assert.deepEqual(storage.listAt(KIND, revision).map(describe), expected);
        } else assert.throws(() => storage.listAt(KIND, revision), { code: 410 });
      }
      assert.ok(storage.revision - storage.oldestRevision <= window);
    }),
  );
});

test('the events from any revision in the window on lead from its list to the current one', () => {
  fc.assert(
    fc.property(writes, (list) => {
      const storage = new ObjectStorage(1_000);
      const shown = run(storage, list);
      for (const from of shown.keys()) {
        const state = new Map(storage.listAt(KIND, from).map((stored) => [stored.key, describe(stored)]));
        for (let revision = from + 1; revision <= storage.revision; revision++) {
          const event = storage.eventAt(revision)!;
          assert.equal(event.revision, revision);
          assert.equal(event.type === 'ADDED', !state.has(event.object.key));
          if (event.type === 'DELETED') state.delete(event.object.key);
          else state.set(event.object.key, describe(event.object));
        }
        assert.deepEqual([...state.values()].sort(), names(storage).sort());
      }
    }),
  );
});

test('a compaction forgets the past, not the objects', () => {
  const storage = new ObjectStorage(100);
  storage.put(KIND, object('a', 1));
  const before = storage.revision;
  storage.put(KIND, object('b', 2));
  storage.compact();
  assert.deepEqual(names(storage), ['a@2', 'b@3']);
  assert.throws(() => storage.listAt(KIND, before), { code: 410 });
  storage.put(KIND, object('c', 3));
  assert.equal(storage.eventAt(4)?.object.name, 'c');
  assert.equal(storage.eventAt(3), undefined);
});

test('what is stored cannot be changed from outside', () => {
  const storage = new ObjectStorage(10);
  const mine = object('a', 1);
  const stored = storage.put(KIND, mine);
  mine.data = { n: 2 };
  parseStored(stored)['data'] = 'changed';
  assert.deepEqual(parseStored(storage.get(KIND, 'default/a')!)['data'], { n: 1 });
});
