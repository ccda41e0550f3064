import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from './api-object.ts';
import { applyJsonPatch } from './json-patch.ts';
import { StatusError } from './status-error.ts';

const document = (): JsonObject => ({ a: { b: [1, 2, 3] }, 'x/y~z': 'v' });
const patched = (...operations: unknown[]): JsonObject => applyJsonPatch(document(), operations);

test('lists: insert, append, replace, remove, by index', () => {
  assert.deepEqual(patched({ op: 'add', path: '/a/b/1', value: 9 })['a'], { b: [1, 9, 2, 3] });
  assert.deepEqual(patched({ op: 'add', path: '/a/b/-', value: 9 })['a'], { b: [1, 2, 3, 9] });
  assert.deepEqual(patched({ op: 'replace', path: '/a/b/0', value: 9 })['a'], { b: [9, 2, 3] });
  assert.deepEqual(patched({ op: 'remove', path: '/a/b/2' })['a'], { b: [1, 2] });
});

test('pointers escape / and ~', () => {
  assert.equal(patched({ op: 'replace', path: '/x~1y~0z', value: 'w' })['x/y~z'], 'w');
});

test('what cannot be done is 422', () => {
  const impossible: unknown[] = [
    { op: 'add', path: '/a/b/4', value: 1 },
    { op: 'remove', path: '/a/b/-' },
    { op: 'remove', path: '/a/b/01' },
    { op: 'replace', path: '/a/missing', value: 1 },
    { op: 'add', path: '/missing/x', value: 1 },
    { op: 'test', path: '/a/b', value: [3, 2, 1] },
    { op: 'copy', from: '/nowhere', path: '/q' },
    { op: 'add', path: 'a', value: 1 },
    { op: 'add', value: 1 },
    { op: 'nonsense', path: '/a' },
    'no object',
  ];
  for (const operation of impossible) {
    const is422 = (error: unknown): boolean => error instanceof StatusError && error.code === 422;
    assert.throws(() => patched(operation), is422, JSON.stringify(operation));
  }
});

test('a value that is added is a copy: later operations do not change the patch', () => {
  const value = { inner: 1 };
  const patch = [
    { op: 'add', path: '/n', value },
    { op: 'replace', path: '/n/inner', value: 2 },
  ];
  assert.deepEqual(applyJsonPatch({}, patch), { n: { inner: 2 } });
  assert.equal(value.inner, 1);
});

test('add and then remove gives back the document', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (object, key, value) => {
      fc.pre(!Object.hasOwn(object, key) && key !== '__proto__');
      const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const document = { ...object };
      applyJsonPatch(document, [
        { op: 'add', path, value },
        { op: 'test', path, value },
        { op: 'remove', path },
      ]);
      assert.deepEqual(document, { ...object });
    }),
  );
});
