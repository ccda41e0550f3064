import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@outrigger/kube';
import { tellService } from './service-story.ts';

const created: Service = { metadata: { name: 'web' }, spec: { type: 'LoadBalancer' } };
const marked: Service = { ...created, metadata: { name: 'web', finalizers: ['a/b'] } };
const served: Service = { ...marked, status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } };

test('tells each step from two states of the object', () => {
  assert.deepEqual(tellService(undefined, created), ['Service of type LoadBalancer created']);
  assert.deepEqual(tellService(created, marked), ['finalizer a/b']);
  assert.deepEqual(tellService(marked, served), ['status: address 203.0.113.7']);
  assert.deepEqual(tellService(served, served), []);
  const going = { ...served, metadata: { ...served.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(tellService(served, going), ['Service is to be deleted']);
  assert.deepEqual(tellService(going, undefined), ['Service deleted']);
  const plain: Service = { ...marked, spec: { type: 'ClusterIP' } };
  assert.deepEqual(tellService(served, plain), ['type ClusterIP', 'status: address taken back']);
});

test('Services that want no load balancer are no part of the story', () => {
  const plain: Service = { metadata: { name: 'kubernetes' }, spec: { type: 'ClusterIP' } };
  assert.deepEqual(tellService(undefined, plain), []);
  assert.deepEqual(tellService(plain, undefined), []);
  assert.deepEqual(tellService(plain, created), ['type LoadBalancer']);
});
