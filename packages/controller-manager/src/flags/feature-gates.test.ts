import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeatureGates, type FeatureGate } from './feature-gates.ts';

const known: Readonly<Record<string, FeatureGate>> = {
  Flagz: { stage: 'beta', default: true },
  Webhook: { stage: 'alpha', default: false },
  Elsewhere: { stage: 'alpha', default: false, hasEffect: false },
};

test('a gate has its default unless it is set', () => {
  const gates = readFeatureGates(known, { Webhook: true });
  assert.deepEqual([gates.enabled('Flagz'), gates.enabled('Webhook')], [true, true]);
  assert.deepEqual(gates.warnings, []);
});

test('AllAlpha and AllBeta set what is not set by name', () => {
  const gates = readFeatureGates(known, { AllAlpha: true, Webhook: false, AllBeta: false });
  assert.deepEqual(
    [gates.enabled('Flagz'), gates.enabled('Webhook'), gates.enabled('Elsewhere')],
    [false, false, true],
  );
});

test('gates that change nothing are accepted and named in one line', () => {
  const { warnings } = readFeatureGates(known, { Elsewhere: false, Flagz: false });
  assert.deepEqual(warnings, ['feature gates without a meaning here, accepted: Elsewhere']);
});

test('an unknown gate is refused, with the closest one that exists', () => {
  for (const [name, hint] of [
    ['Flags', /"Flags"; did you mean Flagz\?/u],
    ['constructor', /unknown feature gate "constructor"/u],
    ['Nothing', /flags\.md/u],
  ] as const) {
    assert.throws(() => readFeatureGates(known, { [name]: true }), { name: 'FlagError', message: hint });
  }
  assert.throws(() => readFeatureGates(known, {}).enabled('toString'), TypeError);
});
