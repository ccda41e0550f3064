import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const KEYS = { list: 'name', primitives: 'set' };

test('an element that only the object has keeps its place', () => {
  const document = { list: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] };
  const patched = applyStrategicMergePatch(document, { list: [{ name: 'b', v: 1 }] }, KEYS);
  assert.deepEqual(patched, { list: [{ name: 'a' }, { name: 'b', v: 1 }, { name: 'c' }] });
});

test('an order alone reorders', () => {
  const document = { list: [{ name: 'a' }, { name: 'b' }] };
  const order = { '$setElementOrder/list': [{ name: 'b' }, { name: 'a' }] };
  assert.deepEqual(applyStrategicMergePatch(document, order, KEYS), { list: [{ name: 'b' }, { name: 'a' }] });
});

test('$patch replaces or empties an object, $retainKeys drops what it does not name', () => {
  const document = (): Record<string, unknown> => ({ o: { a: 1, b: 2 } });
  const apply = (o: object): unknown => applyStrategicMergePatch(document(), { o }, {})['o'];
  assert.deepEqual(apply({ $patch: 'replace', c: 3 }), { c: 3 });
  assert.deepEqual(apply({ $patch: 'delete' }), {});
  assert.deepEqual(apply({ $retainKeys: ['a', 'c'], c: 3 }), { a: 1, c: 3 });
});

test('elements that are not objects, or have no merge key, are refused', () => {
  assert.throws(() => applyStrategicMergePatch({}, { list: ['x'] }, KEYS), { code: 400 });
  assert.throws(() => applyStrategicMergePatch({}, { list: [{ other: 1 }] }, KEYS), { code: 500 });
  assert.throws(() => applyStrategicMergePatch({}, [], KEYS), { code: 400 });
  assert.throws(() => applyStrategicMergePatch({}, { list: [{ name: 'a', $patch: 'burn' }] }, KEYS), { code: 400 });
});

test('no element of another writer is lost, whatever one writer merges', () => {
  const names = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e'));
  fc.assert(
    fc.property(names, names, (mine, theirs) => {
      const element = (name: string, by: string): object => ({ name, by });
      const document = { list: theirs.map((name) => element(name, 'them')) };
      const patch = { list: mine.map((name) => element(name, 'me')) };
      const { list } = applyStrategicMergePatch(document, patch, KEYS) as { list: { name: string; by: string }[] };
      assert.deepEqual(new Set(list.map(({ name }) => name)), new Set([...mine, ...theirs]));
      assert.equal(list.length, new Set([...mine, ...theirs]).size);
      for (const { name, by } of list) assert.equal(by, mine.includes(name) ? 'me' : 'them');
    }),
  );
});

test('without lists it is a merge patch', () => {
  const value = fc.letrec((tie) => ({
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.integer(), fc.constant(null), tie('object'))),
  })).object;
  const plain = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer());
  fc.assert(
    fc.property(plain, value, (document, patch) => {
      const strategic = applyStrategicMergePatch(structuredClone(document), structuredClone(patch), {});
      assert.deepEqual(strategic, applyMergePatch(structuredClone(document), structuredClone(patch)));
    }),
  );
});
