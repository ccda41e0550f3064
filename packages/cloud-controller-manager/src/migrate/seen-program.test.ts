import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@outrigger/kube';
import { flagsOf, seenPrograms } from './seen-program.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

function pod(container: Partial<Container>, phase: NonNullable<Pod['status']>['phase'] = 'Running'): Pod {
  return {
    metadata: { name: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'c', ...container }] },
    status: { phase },
  };
}

test('flags in all of their forms', () => {
  const flags = flagsOf(['x', '--a=1', '--b_c', 'two', '-v=4', '--last', '--a=', '--e=x=y']);
  assert.deepEqual(Object.fromEntries(flags), { a: '', 'b-c': 'two', v: '4', last: 'true', e: 'x=y' });
});

test('programs are known by command, image or name of the container', () => {
  const cases: readonly (readonly [Partial<Container>, string])[] = [
    [{ command: ['/usr/local/bin/kube-apiserver', '--a=b'] }, 'kube-apiserver'],
    [{ command: ['sh', '-c', 'exec kube-controller-manager --a=b'] }, 'kube-controller-manager'],
    [
      { image: 'registry.example:5000/x/openstack-cloud-controller-manager:v1@sha256:ab', args: ['--a=b'] },
      'cloud-controller-manager',
    ],
    [{ name: 'vsphere-cloud-controller-manager', image: 'x/manager:v1', args: ['--a=b'] }, 'cloud-controller-manager'],
    [{ image: 'outrigger/cloud-controller-manager:0.1.0', args: ['--a=b'] }, 'outrigger'],
  ];
  for (const [container, program] of cases) {
    const [seen] = seenPrograms([pod(container)]);
    assert.equal(seen?.program, program);
    assert.equal(seen.flags.get('a'), 'b');
  }
  assert.deepEqual(seenPrograms([pod({ image: 'x/coredns', command: ['coredns'] })]), []);
  assert.deepEqual(seenPrograms([pod({ command: ['kube-apiserver'] }, 'Failed')]), []);
});

test('flags that cannot be seen are known to be there', () => {
  const isPartial = (...command: readonly string[]): boolean | undefined =>
    seenPrograms([pod({ command: [...command] })])[0]?.isPartial;
  assert.equal(isPartial('kube-apiserver', '--a=b'), false);
  assert.equal(isPartial('kube-apiserver', '$(FLAGS)'), true);
  // Another manager's may be of its cloud.
  assert.equal(isPartial('acme-cloud-controller-manager', '--config=/x'), false);
  const ours = seenPrograms([pod({ image: 'outrigger/cloud-controller-manager:1.0', args: ['--config=/x'] })]);
  assert.equal(ours[0]?.isPartial, true);
});
