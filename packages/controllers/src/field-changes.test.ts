import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerAction, LoadBalancerPart } from '@outrigger/cloud-provider';
import { changesOf } from './field-changes.ts';
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
