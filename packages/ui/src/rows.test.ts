import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedStanding } from '@outrigger/cloud-controller-manager';
import type { Node, Service } from '@outrigger/kube';
import { nodeRow, orphanRows, routeRows, serviceRow } from './rows.ts';

const standing = (given: Partial<ListedStanding>): ListedStanding => ({
  name: 'n1',
  controller: 'a-controller',
  state: 'wait',
  planned: [{ text: 'Wait.', at: 5 }],
  ...given,
});

const node: Node = {
  metadata: { name: 'n1', creationTimestamp: '2026-01-01T00:00:00Z', labels: { 'topology.kubernetes.io/zone': 'z1' } },
  spec: { providerID: 'x://n1', podCIDRs: ['10.1.0.0/24'] },
  status: {
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

test('the state of a node is the worst that is known of it', () => {
  const tainted = (key: string): Node => ({
    ...node,
    spec: { ...node.spec, taints: [{ key: `node.cloudprovider.kubernetes.io/${key}`, effect: 'NoSchedule' }] },
  });
  assert.equal(nodeRow(node, []).state, 'ready');
  assert.equal(nodeRow(tainted('uninitialized'), []).state, 'waiting');
  assert.equal(nodeRow(tainted('shutdown'), []).state, 'shut-down');
  assert.equal(nodeRow({ ...node, status: {} }, []).state, 'not-ready');
  assert.equal(nodeRow({ ...node, metadata: { ...node.metadata, deletionTimestamp: 'x' } }, []).state, 'deleting');
  assert.equal(nodeRow(tainted('uninitialized'), [standing({ state: 'hold' })]).state, 'held');
});

test('a node shows where it is, how long it took and what is waited for', () => {
  const took = standing({ state: 'nothing', planned: [], tookMs: 420.4 });
  assert.deepEqual(nodeRow(node, [took, standing({})]), {
    name: 'n1',
    zone: 'z1',
    state: 'ready',
    type: '',
    address: '10.0.0.1',
    providerID: 'x://n1',
    podCIDRs: '10.1.0.0/24',
    created: Date.parse('2026-01-01T00:00:00Z'),
    tookMs: 420,
    lines: [{ controller: 'a-controller', state: 'wait', planned: [{ text: 'Wait.', at: 5 }] }],
  });
});

const service: Service = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } },
};

test('a Service is as the leader says; without its word what the API server shows is not taken for more', () => {
  const parts = [{ kind: 'address', id: 'a-1', state: 'ready' }];
  const ready = serviceRow(service, [standing({ state: 'ready', planned: [], parts })]);
  assert.deepEqual(
    [ready?.state, ready?.addresses, ready?.ports, ready?.parts],
    ['ready', '203.0.113.7', '80/TCP', parts],
  );
  assert.equal(serviceRow(service, [standing({ state: 'bring' })])?.state, 'waiting');
  assert.equal(serviceRow(service, [standing({ state: 'refuse' })])?.state, 'failing');
  const failed = standing({ state: 'bring', planned: [{ text: 'The last attempt failed: quota.' }] });
  assert.equal(serviceRow(service, [failed])?.state, 'failing');
  assert.equal(
    serviceRow({ ...service, metadata: { ...service.metadata, deletionTimestamp: 'x' } }, [])?.state,
    'deleting',
  );
  assert.deepEqual([serviceRow(service, [])?.state, serviceRow(service, [])?.parts], ['ready', undefined]);
  assert.equal(serviceRow({ ...service, status: {} }, [])?.state, 'unknown');
  assert.equal(serviceRow({ ...service, spec: { type: 'ClusterIP' } }, []), undefined);
});

test('routes of one destination are two rows, orphans are none of them', () => {
  const listed = [
    standing({ name: '10.1.0.0/24', state: 'owned', to: 'n1', planned: [] }),
    standing({ name: '10.1.0.0/24', state: 'foreign', to: 'n1', planned: [] }),
    standing({ name: 'n2', state: 'waits' }),
    standing({ name: '10.9.0.0/24', state: 'orphan' }),
  ];
  const rows = routeRows(listed);
  assert.equal(new Set(rows.map(({ name }) => name)).size, 3);
  assert.deepEqual(
    rows.map(({ destination, state, to }) => [destination, state, to]),
    [
      ['10.1.0.0/24', 'owned', 'n1'],
      ['10.1.0.0/24', 'foreign', 'n1'],
      ['', 'waits', 'n2'],
    ],
  );
  assert.deepEqual(
    orphanRows('route', listed).map(({ kind, name }) => [kind, name]),
    [['route', '10.9.0.0/24']],
  );
});
