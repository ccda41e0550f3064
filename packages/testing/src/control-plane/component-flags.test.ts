import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toArguments } from './component-flags.ts';
import { parseKubernetesMinor } from './releases.ts';
import { generateGoMod } from './build-binaries.ts';

test('later flags win, and undefined takes one away', () => {
  assert.deepEqual(toArguments({ a: '1', b: '2', c: '3' }, { b: 'x', c: undefined }), ['--a=1', '--b=x']);
});

test('a release is known by its minor version, with or without v and patch', () => {
  assert.equal(parseKubernetesMinor('1.37'), '1.37');
  assert.equal(parseKubernetesMinor('v1.34.4'), '1.34');
  for (const text of ['1.20', '', '1', 'latest', '1.37.', '__proto__']) {
    assert.throws(() => parseKubernetesMinor(text), { name: 'RangeError', message: /there are .*1\.34/ });
  }
});

test('staging modules become their published versions, others stay as they are', () => {
  const upstream = [
    'module k8s.io/kubernetes',
    'go 1.24.0',
    'require (',
    '\tk8s.io/api v0.0.0',
    ')',
    'replace (',
    '\tk8s.io/api => ./staging/src/k8s.io/api',
    '\tk8s.io/kubectl => ./staging/src/k8s.io/kubectl',
    '\tgithub.com/x/y => github.com/z/y v1.0.0',
    ')',
  ].join('\n');
  assert.equal(
    generateGoMod('k8s.io/kubernetes', 'v1.33.13', upstream),
    [
      'module outrigger.build/control-plane',
      '',
      'go 1.24.0',
      '',
      'require k8s.io/kubernetes v1.33.13',
      '',
      'replace (',
      '\tk8s.io/api => k8s.io/api v0.33.13',
      '\tk8s.io/kubectl => k8s.io/kubectl v0.33.13',
      ')',
      '',
    ].join('\n'),
  );
  assert.throws(() => generateGoMod('m', 'v1.0.0', 'module m'), /no go line/);
});
