import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  CloudError,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancerPlan,
} from '@outrigger/cloud-provider';
import { batchSizeOf, hasItsMembers, isComplete, summaryOf } from './answer-defaults.ts';

const owner = { clusterId: 'c', uid: 'u' };
const desired = { wanted: true, owner } as DesiredLoadBalancer;
const going: DesiredLoadBalancer = { ...desired, wanted: false };
const served: LoadBalancerPlan = { actions: [], ingress: [{ ip: '192.0.2.1' }] };
const idle: LoadBalancerPlan = { actions: [], ingress: [] };

const part = (state: LoadBalancerPart['state'], of: LoadBalancerPart['owner'] = owner): LoadBalancerPart => ({
  kind: 'load-balancer',
  id: 'lb-1',
  owner: of,
  state,
  attributes: {},
});
const others = part('pending', { clusterId: 'c', uid: 'another' });
const nobodys: LoadBalancerPart = { ...part('ready'), owner: undefined };

test('a plan that does not say whether it is complete is, once all own parts are ready and there is an address', () => {
  assert.ok(isComplete(served, desired, [part('ready')]));
  assert.ok(isComplete(served, desired, [part('ready'), others]), "what is another's does not count");
  for (const state of ['pending', 'deleting', 'failed'] as const) {
    assert.ok(!isComplete(served, desired, [part('ready'), part(state)]), state);
  }
  assert.ok(!isComplete(idle, desired, [part('ready')]), 'no address');
  assert.ok(!isComplete(served, desired, []), 'nothing is there');
  assert.ok(!isComplete({ ...served, refused: new CloudError('invalid', 'no') }, desired, [part('ready')]));
});

test("a removal that does not say whether it is complete is, once no part is shown but what is another's", () => {
  assert.ok(isComplete(idle, going, []));
  assert.ok(isComplete(idle, going, [others]));
  assert.ok(!isComplete(idle, going, [part('deleting')]));
  assert.ok(!isComplete(idle, going, [nobodys]), "it may be a predecessor's that is to be claimed");
});

test('members that nothing is said of are in place once all own parts are ready', () => {
  assert.ok(hasItsMembers(idle, desired, [part('ready')]));
  assert.ok(!hasItsMembers(idle, desired, [part('pending')]));
  assert.ok(!hasItsMembers(idle, desired, []));
});

test('what a provider says counts, but for a plan with actions', () => {
  const action = { kind: 'update', part: 'pool', id: 'p', input: {} } as const;
  for (const complete of [isComplete, hasItsMembers]) {
    assert.ok(complete({ ...idle, complete: true }, desired, []));
    assert.ok(!complete({ ...served, complete: false }, desired, [part('ready')]));
    assert.ok(!complete({ ...served, complete: true, actions: [action] }, desired, [part('ready')]));
  }
  assert.equal(summaryOf(action), 'update pool p');
  assert.equal(summaryOf({ ...action, summary: '3 members' }), 'update pool p: 3 members');
  assert.equal(summaryOf({ kind: 'create', part: 'dns' }), 'create dns');
  assert.deepEqual([batchSizeOf({}), batchSizeOf({ batchSize: 7 })], [100, 7]);
});
