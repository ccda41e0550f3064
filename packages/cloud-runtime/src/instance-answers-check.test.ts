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
      assert.match(result.error.message, /more than [\d,]+ (?:characters|addresses)/u);
      assert.doesNotMatch(result.error.message, /aaa/u);
    }
  }
});
