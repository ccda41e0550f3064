import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@outrigger/kube';
import type { MemoryPart } from '@outrigger/provider-memory';
import { faultsOfServices } from './served-services.ts';

const ports = [{ port: 80, protocol: 'TCP' as const }];
const service: Service = {
  metadata: { name: 'a', uid: 'u', finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
  spec: { type: 'LoadBalancer', ports },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
};
const tags = { clusterId: 'c', uid: 'u' };
const ip = '203.0.113.1';
const parts: readonly MemoryPart[] = [
  { id: 'address-1', kind: 'address', tags, attributes: { ip } },
  { id: 'load-balancer-1', kind: 'load-balancer', tags, attributes: { ip, ports } },
  { id: 'firewall-1', kind: 'firewall', tags, attributes: { ports } },
  { id: 'dns-1', kind: 'dns', tags, attributes: { ip } },
];

test('a Service with all of its parts has no fault', () => {
  assert.deepEqual(faultsOfServices([service], parts), []);
});

test('what is left of a Service that is gone is leaked, each part of it', () => {
  assert.deepEqual(
    faultsOfServices([], parts),
    parts.map(({ id }) => `leaked: ${id}`),
  );
});

test('a part that is missing, of which there are two, or that is not as wanted is told', () => {
  assert.match(faultsOfServices([service], parts.slice(1)).join(), /^a: has the parts dns,firewall,load-balancer, not/);
  assert.match(faultsOfServices([service], [...parts, ...parts.slice(3)]).join(), /has the parts address,dns,dns/);
  const changed = { ...service, spec: { ...service.spec, ports: [{ port: 81 }] } } as Service;
  assert.deepEqual(faultsOfServices([changed], parts), [
    'a: its firewall has the ports 80/TCP, not 81/TCP',
    'a: its load-balancer has the ports 80/TCP, not 81/TCP',
  ]);
  const { status: _, ...silent } = service;
  assert.deepEqual(faultsOfServices([silent], parts), [`a: says nothing, its address is ${ip}`]);
});

test('a Service that wants no load balancer any more has neither finalizer nor address nor parts', () => {
  const left = { ...service, spec: { ...service.spec, type: 'ClusterIP' } } as Service;
  const faults = faultsOfServices([left], parts.slice(0, 1));
  assert.deepEqual(faults, ['leaked: address-1', 'a: still says that it has an address', 'a: still has its finalizer']);
});

test('a Service that is being deleted is not done', () => {
  const going = { ...service, metadata: { ...service.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(faultsOfServices([going], []), ['a: is not deleted yet']);
});
