import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerAction, LoadBalancerPart } from '@outrigger/cloud-provider';
import { changesOf, changesOfPatch } from './field-changes.ts';
import { changesOfParts } from './load-balancer/load-balancer-words.ts';
import type { Bring } from './load-balancer/service-plan.ts';

const service = {
  metadata: { name: 'web', uid: 'u', finalizers: ['a'], annotations: { 'x.dev/a': '1' } },
  status: { conditions: [{ type: 'Ready', status: 'False', reason: 'No', message: 'm', lastTransitionTime: 't' }] },
};

test('a patch is told field by field: what is added, changed and removed, and nothing that stays', () => {
  const condition = { type: 'Ready', status: 'True', reason: 'Yes', message: '', lastTransitionTime: 'u' };
  const body = {
    metadata: { uid: 'u', resourceVersion: '7', finalizers: ['b'], annotations: { 'x.dev/a': null, b: '2' } },
    status: { conditions: [condition], loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  };
  assert.deepEqual(changesOf(service, body), [
    { field: 'metadata.finalizers', from: '["a"]', to: '["a","b"]' },
    { field: 'metadata.annotations[x.dev/a]', from: '"1"', to: undefined },
    { field: 'metadata.annotations.b', from: undefined, to: '"2"' },
    {
      field: 'status.conditions[Ready]',
      from: '{"status":"False","reason":"No","message":"m"}',
      to: '{"status":"True","reason":"Yes","message":""}',
    },
    { field: 'status.loadBalancer.ingress', from: undefined, to: '[{"ip":"192.0.2.1"}]' },
  ]);
  assert.deepEqual(changesOf(service, { metadata: { annotations: { 'x.dev/a': '1' }, finalizers: ['a'] } }), []);
});

test('what a strategic patch deletes from a list, and a condition that it takes away', () => {
  const body = {
    metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] },
    status: { conditions: [{ type: 'Ready', $patch: 'delete' }] },
  };
  assert.deepEqual(changesOf(service, body), [
    { field: 'metadata.finalizers', from: '["a"]', to: '[]' },
    { field: 'status.conditions[Ready]', from: '{"status":"False","reason":"No","message":"m"}', to: undefined },
  ]);
});

test('a JSON patch is told as what its operations change, and not what they test', () => {
  const node = {
    metadata: { labels: { a: '1' } },
    spec: { taints: [{ key: 'x' }, { key: 'y', effect: 'NoSchedule' }] },
  };
  const operations = [
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'add', path: '/metadata/labels/topology.kubernetes.io~1zone', value: 'z' },
    { op: 'add', path: '/metadata/labels/a', value: '1' },
    { op: 'add', path: '/metadata/annotations', value: { b: '2' } },
    { op: 'test', path: '/spec/taints/1', value: node.spec.taints[1] },
    { op: 'remove', path: '/spec/taints/1' },
    { op: 'add', path: '/spec/podCIDRs', value: ['10.0.0.0/24'] },
  ] as const;
  assert.deepEqual(changesOfPatch(node, { type: 'json', operations }), [
    { field: 'metadata.labels[topology.kubernetes.io/zone]', from: undefined, to: '"z"' },
    { field: 'metadata.annotations.b', from: undefined, to: '"2"' },
    { field: 'spec.taints[1]', from: '{"key":"y","effect":"NoSchedule"}', to: undefined },
    { field: 'spec.podCIDRs', from: undefined, to: '["10.0.0.0/24"]' },
  ]);
});

test('a list that a strategic patch puts in place of another is told without the word that says so', () => {
  const before = { metadata: {}, status: { addresses: [{ type: 'Hostname', address: 'a' }] } };
  const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
  const body = { status: { addresses: [...addresses, { $patch: 'replace' }] } };
  assert.deepEqual(changesOfPatch(before, { type: 'strategic', body }), [
    {
      field: 'status.addresses',
      from: '[{"type":"Hostname","address":"a"}]',
      to: '[{"type":"InternalIP","address":"192.0.2.1"}]',
    },
  ]);
});

test('of any action, the request that it carries', () => {
  const request = { method: 'POST', body: { pool: { name: 'web', members: ['a'] } } };
  const input = { op: 'create', request, otherwise: [{ method: 'PUT' }] };
  const create: LoadBalancerAction = { kind: 'create', part: 'pool', summary: 'create the pool web', input };
  const bring = { plan: { actions: [create] }, kind: 'bring' } as unknown as Bring;
  assert.deepEqual(changesOfParts(bring, [])[0]?.changes, [
    { field: 'request.method', from: undefined, to: '"POST"' },
    { field: 'request.body.pool.name', from: undefined, to: '"web"' },
    { field: 'request.body.pool.members', from: undefined, to: '["a"]' },
    { field: 'otherwise', from: undefined, to: '[{"method":"PUT"}]' },
  ]);
});

test('of a part that is updated, what it shows otherwise; of one that is made, its words alone', () => {
  const input = { members: ['a', 'b'], port: 80, secret: 'not shown' };
  const update: LoadBalancerAction = { kind: 'update', part: 'pool', id: 'p1', summary: 'update pool p1', input };
  const create: LoadBalancerAction = { kind: 'create', part: 'address', summary: 'create address', input };
  const pool: LoadBalancerPart = {
    kind: 'pool',
    id: 'p1',
    owner: undefined,
    state: 'ready',
    attributes: { members: ['a'], port: 80 },
  };
  const bring = { plan: { actions: [create, update] }, kind: 'bring' } as unknown as Bring;
  const [first, second] = changesOfParts(bring, [pool]);
  assert.equal(first?.changes, undefined);
  assert.deepEqual(second?.changes, [{ field: 'members', from: '["a"]', to: '["a","b"]' }]);
});
