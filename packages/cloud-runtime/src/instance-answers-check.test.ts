import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceResult, NodeRef } from '@outrigger/cloud-provider';
import { checkAnswers } from './instance-answers-check.ts';

const NODE: NodeRef = { name: 'n', uid: 'u', labels: {}, annotations: {} };

function kindOf(maintenance: unknown, addressesBy?: unknown): string | undefined {
  const instance = { providerID: 'fake://1', state: 'running', maintenance, addressesBy };
  return checkAnswers([NODE], [{ result: { kind: 'found', instance } }], 0, 0)[0]?.result.kind;
}

test('a maintenance that breaks the contract fails the answer for its node', () => {
  for (const good of [
    undefined,
    { state: 'planned' },
    { state: 'in-progress', notBefore: 0, reason: '' },
    { state: 'planned', notBefore: undefined, reason: undefined },
  ]) {
    assert.equal(kindOf(good), 'found', JSON.stringify(good));
  }
  for (const bad of [
    null,
    'planned',
    {},
    { state: 'over' },
    { state: 'planned', notBefore: '2026-01-01' },
    { state: 'planned', notBefore: Number.NaN },
    { state: 'planned', notBefore: 1e300 },
    { state: 'planned', reason: 7 },
  ]) {
    assert.equal(kindOf(bad), 'failed', JSON.stringify(bad));
  }
});

test('whose word addresses are is one of two, or the answer for its node fails', () => {
  const kinds = [undefined, 'cloud', 'guest', null, 'Guest', true].map((by) => kindOf(undefined, by));
  assert.deepEqual(kinds, ['found', 'found', 'found', 'failed', 'failed', 'failed']);
});

test('labels, annotations and tags are text by name, or the answer for its node fails', () => {
  for (const name of ['labels', 'annotations', 'missingTags']) {
    const kinds = [undefined, {}, { a: '' }, null, ['a'], { a: 1 }, 'a'].map((given) => {
      const instance = { providerID: 'fake://1', state: 'running', [name]: given };
      return checkAnswers([NODE], [{ result: { kind: 'found', instance } }], 0, 0)[0]?.result.kind;
    });
    assert.deepEqual(kinds, ['found', 'found', 'found', 'failed', 'failed', 'failed', 'failed'], name);
  }
});

test('texts and lists are as long as the contract says at most, or the answer for its node fails without a word of them', () => {
  const most = {
    providerID: `fake://${'a'.repeat(1_017)}`,
    name: 'a'.repeat(255),
    type: 'a'.repeat(255),
    zone: 'a'.repeat(255),
    region: 'a'.repeat(255),
    addresses: Array.from({ length: 1_000 }, () => ({ type: 'Hostname', address: 'a'.repeat(255) })),
  };
  const resultOf = (more: object): InstanceResult | undefined => {
    const instance = { ...most, state: 'running', ...more };
    return checkAnswers([NODE], [{ result: { kind: 'found', instance } }], 0, 0)[0]?.result;
  };
  assert.equal(resultOf({})?.kind, 'found');
  for (const [name, value] of Object.entries(most)) {
    const longer =
      typeof value === 'string'
        ? [`${value}a`]
        : [[...value, ...value.slice(0, 1)], [{ type: 'Hostname', address: 'a'.repeat(256) }]];
    for (const one of longer) {
      const result = resultOf({ [name]: one });
      assert.ok(result?.kind === 'failed', name);
      assert.match(result.error.message, /more than \d+ characters|\d+ of \d+ characters at most/u);
      assert.doesNotMatch(result.error.message, /aaa/u);
    }
  }
});

test('of labels, annotations, tags and ranges there are a thousand at most, or the answer for its node fails without a word of them', () => {
  const resultOf = (more: object): InstanceResult | undefined => {
    const instance = { providerID: 'fake://1', state: 'running', ...more };
    return checkAnswers([NODE], [{ result: { kind: 'found', instance } }], 0, 0)[0]?.result;
  };
  const many = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, 'a'.repeat(100)]));
  const long = (length: number): string => 'a'.repeat(length);
  const texts = {
    right: [many(1_000), { [long(4_096)]: long(4_096) }],
    wrong: [many(1_001), { [long(4_097)]: '' }, { a: long(4_097) }],
  };
  const ranges = {
    right: [Array(1_000).fill('10.0.0.0/24')],
    wrong: [Array(1_001).fill('10.0.0.0/24'), [`10.0.0.0/${long(240_000)}`]],
  };
  for (const [name, { right, wrong }] of Object.entries({
    labels: texts,
    annotations: texts,
    missingTags: texts,
    podCidrs: ranges,
  })) {
    for (const one of right) assert.equal(resultOf({ [name]: one })?.kind, 'found', name);
    for (const one of wrong) {
      const result = resultOf({ [name]: one });
      assert.ok(result?.kind === 'failed', name);
      assert.match(result.error.message, new RegExp(`${name} .*1000.* at most`, 'u'));
      assert.doesNotMatch(result.error.message, /aaa/u);
    }
  }
});

test('a place is a text of a bounded length, and of a proof that is longer than a note the beginning is kept', () => {
  const answerOf = (more: object): ReturnType<typeof checkAnswers>[number] | undefined =>
    checkAnswers([NODE], [{ result: { kind: 'missing' }, ...more }], 0, 0)[0];
  assert.equal(answerOf({ place: 'p'.repeat(1_024) })?.result.kind, 'missing');
  assert.equal(answerOf({ place: 'p'.repeat(1_025) })?.result.kind, 'failed');
  const { result } = answerOf({ result: { kind: 'absent', proof: 'p'.repeat(240_000), wasHere: true } }) ?? {};
  assert.deepEqual(result, { kind: 'absent', proof: `${'p'.repeat(300)}…`, wasHere: true });
});

test('of a kind or state that there is not, nothing is quoted', () => {
  const long = 'a'.repeat(240_000);
  for (const result of [{ kind: long }, { kind: 'found', instance: { providerID: 'fake://1', state: long } }]) {
    const [answer] = checkAnswers([NODE], [{ result }], 0, 0);
    assert.ok(answer?.result.kind === 'failed');
    assert.doesNotMatch(answer.result.error.message, /aaa/u);
  }
});
