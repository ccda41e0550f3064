import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlagSet } from '@outrigger/controller-manager';
import { cloudFlags } from './cloud-flags.ts';

function rulesOf(...args: readonly string[]): readonly string[] {
  return new FlagSet([cloudFlags])
    .parse(args)
    .of(cloudFlags)
    .unmanagedNodes.map(({ text }) => text);
}

test('nodes of virtual kubelets are left alone unless others are named, or none', () => {
  assert.deepEqual(rulesOf(), ['label:type=virtual-kubelet', 'taint:virtual-kubelet.io/provider']);
  assert.deepEqual(rulesOf('--unmanaged-nodes=label:a, taint:b=c', '--unmanaged-nodes=provider-id:d://'), [
    'label:a',
    'taint:b=c',
    'provider-id:d://',
  ]);
  assert.deepEqual(rulesOf('--unmanaged-nodes='), []);
});

test('a rule that says nothing is refused', () => {
  assert.throws(() => rulesOf('--unmanaged-nodes=edge'), /--unmanaged-nodes.*"edge" is not label:<key>/u);
});
