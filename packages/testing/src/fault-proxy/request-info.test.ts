import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestInfoOf } from './request-info.ts';

test('verbs and resources are read as the API server reads them', () => {
  const cases: readonly [string, string, object][] = [
    ['GET', '/api/v1/nodes?limit=500', { verb: 'list', group: '', resource: 'nodes' }],
    ['GET', '/api/v1/nodes?watch=true&resourceVersion=5', { verb: 'watch', group: '', resource: 'nodes' }],
    ['GET', '/api/v1/nodes/a%2Fb', { verb: 'get', group: '', resource: 'nodes', name: 'a/b' }],
    [
      'PATCH',
      '/api/v1/nodes/a/status',
      { verb: 'patch', group: '', resource: 'nodes', name: 'a', subresource: 'status' },
    ],
    [
      'POST',
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
      { verb: 'create', group: 'coordination.k8s.io', namespace: 'kube-node-lease', resource: 'leases' },
    ],
    [
      'PUT',
      '/apis/coordination.k8s.io/v1/namespaces/x/leases/y',
      { verb: 'update', group: 'coordination.k8s.io', namespace: 'x', resource: 'leases', name: 'y' },
    ],
    [
      'DELETE',
      '/api/v1/namespaces/x/services/y',
      { verb: 'delete', group: '', namespace: 'x', resource: 'services', name: 'y' },
    ],
    [
      'DELETE',
      '/api/v1/namespaces/x/services',
      { verb: 'deletecollection', group: '', namespace: 'x', resource: 'services' },
    ],
    ['GET', '/api/v1/namespaces', { verb: 'list', group: '', resource: 'namespaces' }],
    ['GET', '/api/v1/namespaces/x', { verb: 'get', group: '', resource: 'namespaces', name: 'x' }],
    [
      'PUT',
      '/api/v1/namespaces/x/finalize',
      { verb: 'update', group: '', resource: 'namespaces', name: 'x', subresource: 'finalize' },
    ],
    ['GET', '/readyz?verbose', { verb: 'get' }],
    ['POST', '/v2/servers', { verb: 'post' }],
  ];
  for (const [method, path, info] of cases) assert.deepEqual(requestInfoOf(method, path), info, `${method} ${path}`);
});
