import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiVersionOf, pathOf, type Resource } from './resource.ts';

const nodes: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const leases: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

test('paths of collections and objects, core and grouped, with and without a namespace', () => {
  assert.equal(pathOf(nodes), '/api/v1/nodes');
  assert.equal(pathOf(nodes, { name: 'a', namespace: 'ignored' }), '/api/v1/nodes/a');
  assert.equal(pathOf(leases), '/apis/coordination.k8s.io/v1/leases');
  assert.equal(
    pathOf(leases, { namespace: 'kube-system', name: 'ccm' }),
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ccm',
  );
});

test('a name cannot break out of its path segment', () => {
  assert.equal(pathOf(nodes, { name: '../secrets?x=1' }), '/api/v1/nodes/..%2Fsecrets%3Fx%3D1');
});

test('the apiVersion of core has no group', () => {
  assert.equal(apiVersionOf(nodes), 'v1');
  assert.equal(apiVersionOf(leases), 'coordination.k8s.io/v1');
});
