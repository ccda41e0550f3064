import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForeignThing, LoadBalancerPart, LoadBalancerService, ServiceAnnotation } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { identityOf } from '../service/load-balancer-service.ts';
import { loadBalancerSharings, mayUse, shareWithAnnotation, whyNotTrusted } from './tenancy.ts';

const CLUSTER = 'cluster';

const serviceIn = (namespace: string, annotations: Record<string, string> = {}): Service => ({
  metadata: { namespace, name: 'web', uid: `uid-${namespace}`, annotations },
});
const ownedBy = (uid: string, clusterId = CLUSTER): ForeignThing => {
  return { kind: 'load-balancer', id: 'lb', owner: { clusterId, uid }, allowed: [] };
};

/** For each mode, in the order of `loadBalancerSharings`. */
function verdicts(thing: ForeignThing, namespace: string, services: readonly Service[] = []): readonly boolean[] {
  const serviceOf = (uid: string): Service | undefined => services.find(({ metadata }) => metadata?.uid === uid);
  const me = { namespace, uid: 'uid-me' };
  return loadBalancerSharings.map((sharing) => mayUse(thing, me, { clusterId: CLUSTER, sharing, serviceOf }));
}

test('a load balancer of another Service is shared in its namespace, in the cluster, or not at all', () => {
  const services = [serviceIn('team-a')];
  assert.deepEqual(verdicts(ownedBy('uid-team-a'), 'team-a', services), [true, true, false]);
  assert.deepEqual(verdicts(ownedBy('uid-team-a'), 'team-b', services), [false, true, false]);
  const me = { namespace: 'team-b', uid: 'uid-me' };
  const of = { clusterId: CLUSTER, serviceOf: () => services[0] };
  assert.equal(mayUse(ownedBy('uid-team-a'), me, of), false, 'without a word of the administrator: of the namespace');
});

test('one whose owner is not known, or is of another cluster, is nobody’s to share', () => {
  assert.deepEqual(verdicts(ownedBy('gone'), 'team-a'), [false, true, false]);
  assert.deepEqual(verdicts(ownedBy('uid-team-a', 'other'), 'team-a', [serviceIn('team-a')]), [false, false, false]);
});

test('the owner’s Service invites namespaces, and the administrator sets a thing aside for some', () => {
  const inviting = [serviceIn('team-a', { [shareWithAnnotation]: 'team-b, team-c' })];
  assert.deepEqual(verdicts(ownedBy('uid-team-a'), 'team-c', inviting), [true, true, false]);
  assert.deepEqual(verdicts(ownedBy('uid-team-a'), 'team-d', inviting), [false, true, false]);
  const set: ForeignThing = { ...ownedBy('x', 'other'), allowed: ['team-b'] };
  assert.deepEqual(verdicts(set, 'team-b'), [true, true, false]);
  assert.deepEqual(verdicts(set, 'team-c'), [false, false, false]);
});

test('an invitation that is longer than a list may be invites no namespace: its end, cut off, could be the name of another', () => {
  const inviting = (length: number): readonly Service[] => [
    serviceIn('team-a', { [shareWithAnnotation]: `team-c,${'x'.repeat(length - 7)}` }),
  ];
  assert.deepEqual(verdicts(ownedBy('uid-team-a'), 'team-c', inviting(4_096)), [true, true, false]);
  assert.deepEqual(verdicts(ownedBy('uid-team-a'), 'team-c', inviting(4_097)), [false, true, false]);
});

test('what a predecessor made for a Service is of its namespace', () => {
  const thing: ForeignThing = { kind: 'load-balancer', id: 'lb', ownerNamespace: 'team-a', allowed: [] };
  assert.deepEqual(verdicts(thing, 'team-a'), [true, true, false]);
  assert.deepEqual(verdicts(thing, 'team-b'), [false, true, false]);
});

test('what is nobody’s is for those that it is set aside for, whatever Services may share; one that has no namespace has none', () => {
  const port: ForeignThing = { kind: 'port', id: 'p', allowed: ['team-a'] };
  assert.deepEqual(verdicts(port, 'team-a'), [true, true, true]);
  assert.deepEqual(verdicts(port, 'team-b'), [false, false, false]);
  assert.deepEqual(verdicts({ ...port, allowed: [''] }, ''), [false, false, false]);
  assert.deepEqual(verdicts({ ...port, allowed: ['*'] }, 'team-b'), [true, true, true]);
});

const declared: readonly ServiceAnnotation[] = [
  { name: 'lb-id', description: '', values: 'string', dangerous: 'uses another’s' },
  { name: 'timeout', description: '', values: 'integer' },
];
const owner = { clusterId: CLUSTER, uid: 'me' };
const partOf = (id: string, more: Partial<LoadBalancerPart> = {}): LoadBalancerPart => {
  return { kind: 'load-balancer', id, owner, state: 'ready', attributes: {}, ...more };
};

test('who is not trusted names nothing of the cloud but what is its own', () => {
  const whyNot = (
    more: Partial<LoadBalancerService>,
    parts: readonly LoadBalancerPart[] = [],
    others: readonly ForeignThing[] = [],
  ): string => {
    const service = { ...identityOf({ metadata: { namespace: 'team-b' } }), ...more };
    const trust = { annotations: declared, owner, trustedNamespaces: ['team-a'] };
    return whyNotTrusted(service, { parts, others }, trust)?.message ?? '';
  };
  assert.equal(whyNot({ annotations: { timeout: '5' } }), '');
  assert.match(whyNot({ annotations: { 'lb-id': 'x' } }), /team-b .* annotation lb-id/);
  assert.match(whyNot({ requestedIP: '203.0.113.5' }), /loadBalancerIP/);
  assert.equal(whyNot({ requestedIP: '203.0.113.5', ingress: [{ ip: '203.0.113.5' }] }), '', 'it has it already');
  assert.equal(whyNot({ annotations: { 'lb-id': 'X' } }, [partOf('x')]), '', 'its own, which the program has written');
  const unowned = partOf('x', { owner: undefined });
  assert.equal(whyNot({ annotations: { 'lb-id': 'x' } }, [unowned]), '', 'a predecessor’s');
  const set = { kind: 'load-balancer', id: 'x', allowed: [] };
  assert.match(whyNot({ annotations: { 'lb-id': 'x' } }, [unowned], [set]), /lb-id/, 'nobody’s');
  const others = partOf('x', { owner: { ...owner, uid: 'other' } });
  assert.match(whyNot({ annotations: { 'lb-id': 'x' } }, [others]), /lb-id/);
});
