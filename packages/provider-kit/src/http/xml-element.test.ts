import assert from 'node:assert/strict';
import { test } from 'node:test';
import { xmlChild, xmlChildren, xmlText } from './xml-element.ts';
import { xmlFormat } from './xml-format.ts';

test('an element is asked for children and text, whatever was read in its place', () => {
  const read = xmlFormat({ attributes: true }).read('<r><a t="1">x</a><b/><c><d>1</d><d>2</d></c><e t="2"/></r>');
  const root = xmlChild(read, 'r');
  assert.deepEqual(
    [xmlText(xmlChild(root, 'a')), xmlText(xmlChild(root, 'a', '@t')), xmlText(xmlChild(root, 'b'))],
    ['x', '1', undefined],
  );
  assert.deepEqual(
    [xmlText(xmlChild(root, 'e')), xmlText(xmlChild(root, 'c')), xmlChild(root, 'a', 'none', 'further')],
    [undefined, undefined, undefined],
  );
  assert.deepEqual(
    ['a', 'b', 'none'].map((name) => xmlChildren(root, name).length),
    [1, 0, 0],
  );
  assert.deepEqual(xmlChildren(xmlChild(root, 'c'), 'd'), ['1', '2']);
  assert.deepEqual([xmlChildren(undefined, 'a'), xmlChildren({ a: null }, 'a'), xmlChildren(null, 'a')], [[], [], []]);
});
