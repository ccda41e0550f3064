import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hollowNode, UNINITIALIZED_TAINT } from './hollow-node.ts';

test('a node registers uninitialised, not Ready, with its own address and 10 KB', () => {
  const node = hollowNode({ name: 'a', ip: ['10.0.0.1', 'fd00::1'], taints: [{ key: 'x', effect: 'NoExecute' }] });
  assert.deepEqual(node.spec?.taints, [
    { key: 'x', effect: 'NoExecute' },
    { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' },
  ]);
  assert.equal(node.spec?.providerID, undefined);
  assert.equal(node.metadata?.annotations?.['alpha.kubernetes.io/provided-node-ip'], '10.0.0.1,fd00::1');
  assert.deepEqual(node.status?.addresses, [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'Hostname', address: 'a' },
  ]);
  for (const label of ['arch', 'os']) {
    assert.equal(
      node.metadata?.labels?.[`beta.kubernetes.io/${label}`],
      node.metadata?.labels?.[`kubernetes.io/${label}`],
    );
  }
  assert.equal(node.metadata?.labels?.['kubernetes.io/hostname'], 'a');
  assert.equal(node.status?.conditions?.find((condition) => condition.type === 'Ready')?.status, 'False');
  const bytes = JSON.stringify(node).length;
  assert.ok(bytes > 9_500 && bytes < 11_500, `${bytes} bytes`);
});

test('without a node IP there is no annotation and only the Hostname address', () => {
  const node = hollowNode({ name: 'a' });
  assert.equal(node.metadata?.annotations?.['alpha.kubernetes.io/provided-node-ip'], undefined);
  assert.deepEqual(node.status?.addresses, [{ type: 'Hostname', address: 'a' }]);
});

test('two nodes differ in what makes a machine one, and the same node is the same again', () => {
  const [a, b] = ['a', 'b'].map((name) => hollowNode({ name }).status?.nodeInfo);
  for (const key of ['bootID', 'machineID', 'systemUUID'] as const) assert.notEqual(a?.[key], b?.[key]);
  assert.match(a?.systemUUID ?? '', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  assert.deepEqual(hollowNode({ name: 'a' }).status?.nodeInfo, a);
});
