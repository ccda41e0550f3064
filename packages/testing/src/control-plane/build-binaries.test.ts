import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesProgram } from './build-binaries.ts';

test('a program of Kubernetes learns its version from the linker, whatever it is built from', () => {
  for (const source of ['k8s.io/kubernetes/cmd/kubectl', { folder: '/program' }]) {
    assert.deepEqual(kubernetesProgram('v1.26.13', source), {
      module: 'k8s.io/kubernetes',
      version: 'v1.26.13',
      source,
      linkerFlags: [
        '-s -w',
        '-X k8s.io/component-base/version.gitVersion=v1.26.13',
        '-X k8s.io/component-base/version.gitMajor=1',
        '-X k8s.io/component-base/version.gitMinor=26',
      ].join(' '),
    });
  }
});
