import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance } from '@outrigger/cloud-provider';
import { isLabelKey, isLabelValue } from './label-syntax.ts';
import { initialLabels, laterLabels, stableFromBeta } from './labels.ts';

const instance = (more: Partial<Instance> = {}): Instance => ({ providerID: 'fake://1', state: 'running', ...more });
const located = instance({ type: 't1.micro', zone: 'us-west-1a', region: 'us-west' });
const allSix = {
  'node.kubernetes.io/instance-type': 't1.micro',
  'beta.kubernetes.io/instance-type': 't1.micro',
  'topology.kubernetes.io/zone': 'us-west-1a',
  'failure-domain.beta.kubernetes.io/zone': 'us-west-1a',
  'topology.kubernetes.io/region': 'us-west',
  'failure-domain.beta.kubernetes.io/region': 'us-west',
};

test('a new node gets type, zone and region under both names, over what the kubelet said', () => {
  assert.deepEqual(initialLabels({}, located).set, allSix);
  assert.deepEqual(initialLabels({ ...allSix, 'topology.kubernetes.io/zone': 'old' }, located).set, {
    'topology.kubernetes.io/zone': 'us-west-1a',
  });
  assert.deepEqual(initialLabels({ a: 'b' }, instance({ zone: '' })).set, {});
});

// Upstream: Test_syncNode, "[instanceV2] provided additional labels with labels to discard".
test("a provider's own labels are added, never over existing ones and never under kubernetes.io or k8s.io", () => {
  const plan = initialLabels(
    { 'my.custom.label/foo': 'fizz', 'my.custom.label/bar': 'foo' },
    instance({
      labels: {
        'topology.kubernetes.io/region': 'us-other-west',
        'topology.k8s.io/region': 'us-other-west',
        'kubernetes.io/region': 'us-other-west',
        'k8s.io/region': 'us-other-west',
        'my.custom.label/foo': 'bar',
        'my.custom.label/bar': 'foo',
        'app.k8snio/bar': 'foo',
        'k8snio/bar': 'foo',
      },
    }),
  );
  assert.deepEqual(plan.set, {});
  assert.deepEqual(plan.addMissing, { 'app.k8snio/bar': 'foo', 'k8snio/bar': 'foo' });
  assert.deepEqual(plan.differences, [{ key: 'my.custom.label/foo', node: 'fizz', cloud: 'bar' }]);
});

test('labels that the API server would refuse are left out and named, so that the others get through', () => {
  const plan = initialLabels(
    {},
    instance({ type: 'two words', zone: 'z', labels: { 'Bad/key': 'v', ok: 'b@d', fine: 'v' } }),
  );
  assert.deepEqual(plan.invalid, ['node.kubernetes.io/instance-type=two words', 'Bad/key=v', 'ok=b@d']);
  assert.deepEqual(Object.keys(plan.set), ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone']);
  assert.deepEqual(plan.addMissing, { fine: 'v' });
});

test('later, missing labels are added and existing ones are kept and told', () => {
  const { 'topology.kubernetes.io/zone': _zone, ...rest } = allSix;
  const plan = laterLabels(
    { ...rest, 'topology.kubernetes.io/region': 'mine', 'failure-domain.beta.kubernetes.io/region': 'mine' },
    located,
  );
  assert.deepEqual(plan.addMissing, { 'topology.kubernetes.io/zone': 'us-west-1a' });
  assert.deepEqual(plan.differences, [
    { key: 'topology.kubernetes.io/region', node: 'mine', cloud: 'us-west' },
    { key: 'failure-domain.beta.kubernetes.io/region', node: 'mine', cloud: 'us-west' },
  ]);
});

test('beside a label that differs its missing twin is not added: beta → GA would carry it over', () => {
  const plan = laterLabels({ 'topology.kubernetes.io/zone': 'mine' }, instance({ zone: 'cloud' }));
  assert.deepEqual([plan.set, plan.addMissing], [{}, {}]);
  assert.equal(plan.differences.length, 1);
});

// Upstream: Test_reconcileNodeLabels.
test('stable labels follow the beta ones', () => {
  const beta = {
    'failure-domain.beta.kubernetes.io/zone': 'foo',
    'failure-domain.beta.kubernetes.io/region': 'bar',
    'beta.kubernetes.io/instance-type': 'the-best-type',
  };
  const stable = {
    'topology.kubernetes.io/zone': 'foo',
    'topology.kubernetes.io/region': 'bar',
    'node.kubernetes.io/instance-type': 'the-best-type',
  };
  assert.deepEqual(stableFromBeta(beta), stable);
  assert.deepEqual(stableFromBeta({ ...beta, ...stable }), {});
  assert.deepEqual(stableFromBeta({ ...beta, ...stable, 'topology.kubernetes.io/zone': 'wrongfoo' }), {
    'topology.kubernetes.io/zone': 'foo',
  });
  assert.deepEqual(stableFromBeta(stable), {});
});

test('label syntax is the API server’s', () => {
  for (const key of ['a', 'A.b_c-d', 'example.com/x', 'a'.repeat(63)]) assert.ok(isLabelKey(key), key);
  for (const key of [
    '',
    '-a',
    'a-',
    'a/',
    '/a',
    'A.com/x',
    'a/b/c',
    'a'.repeat(64),
    `${'a'.repeat(254)}/x`,
    '__proto__',
  ])
    assert.ok(!isLabelKey(key), key);
  for (const value of ['', 'a', '1.2-3_4']) assert.ok(isLabelValue(value), value);
  for (const value of [' ', 'a b', '.a', 'a'.repeat(64)]) assert.ok(!isLabelValue(value), value);
});
