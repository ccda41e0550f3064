import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackEnd } from '@outrigger/cloud-provider';
import { SharedSelections } from './shared-selections.ts';

const backEndsOf = (...names: readonly string[]): readonly BackEnd[] =>
  names.map((name) => ({ node: { name, uid: name, providerID: name, labels: {}, annotations: {} }, addresses: [] }));

test('the same rule of the same array is read once, and gives the same array; of another one it is read anew', () => {
  const selections = new SharedSelections();
  let reads = 0;
  const select = (backEnds: readonly BackEnd[], name: string): readonly BackEnd[] =>
    selections.select(backEnds, name, () => {
      reads += 1;
      return ({ node }) => node.name === name;
    });
  const [one, other] = [backEndsOf('a', 'b'), backEndsOf('a', 'b')];
  const selected = select(one, 'a');
  assert.deepEqual(selected, one.slice(0, 1));
  assert.deepEqual([select(one, 'a') === selected, select(one, 'b') === selected, reads], [true, false, 2]);
  assert.deepEqual([select(other, 'a') === selected, reads], [false, 3]);
});

test('a rule that takes all gives the array itself', () => {
  const all = backEndsOf('a', 'b');
  assert.equal(
    new SharedSelections().select(all, '', () => () => true),
    all,
  );
});

test('of thousands of rules few are remembered, and each is right', () => {
  const selections = new SharedSelections();
  const all = backEndsOf('a', 'b');
  const select = (rule: number): readonly BackEnd[] =>
    selections.select(
      all,
      `${rule}`,
      () =>
        ({ node }) =>
          rule % 2 === 0 || node.name === 'a',
    );
  const first = Array.from({ length: 1_000 }, (_, rule) => select(rule));
  const again = Array.from({ length: 1_000 }, (_, rule) => select(rule));
  assert.deepEqual(first, again);
  assert.equal(first.filter((one, rule) => rule % 2 === 1 && one === again[rule]).length, 32);
});
