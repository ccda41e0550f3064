import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metadataOf } from './resource.ts';
import { resources } from './resources.ts';
import { defaultTransform, trimManagedFields, trimNode } from './transform.ts';
import type { Node } from './types/index.ts';

const node: Node = Object.freeze({
  metadata: { name: 'a', managedFields: [{}], labels: { x: 'y' } },
  spec: { providerID: 'p://1' },
  status: {
    images: [{ names: ['i'] }],
    capacity: { cpu: '1' },
    allocatable: { cpu: '1' },
    volumesInUse: ['v'],
    runtimeHandlers: [{ name: 'runc' }],
    addresses: [],
    fieldOfTheFuture: 1,
  } as Node['status'] & object,
});

test('managedFields go, and a node loses its images, sizes and volumes; all else stays', () => {
  assert.deepEqual(trimNode(node), {
    metadata: { name: 'a', labels: { x: 'y' } },
    spec: { providerID: 'p://1' },
    status: { addresses: [], fieldOfTheFuture: 1 },
  });
  assert.ok(node.metadata?.managedFields && node.status?.images, 'the original is as it was');
});

test('of the addresses that a kubelet writes, those count that may be some: the first thousand, of 255 characters at most', () => {
  const address = (text: string): { type: string; address: string } => ({ type: 'Hostname', address: text });
  const addressesOf = (...texts: readonly string[]): readonly string[] | undefined =>
    trimNode({ status: { addresses: texts.map(address) } }).status?.addresses?.map((one) => one.address);
  assert.deepEqual(addressesOf('a', 'x'.repeat(256), 'x'.repeat(255)), ['a', 'x'.repeat(255)]);
  assert.equal(addressesOf(...Array.from({ length: 50_000 }, (_, i) => `${i}`))?.length, 1_000);
});

test('an object with nothing to cut is kept as it is', () => {
  for (const lean of [
    {},
    { metadata: { name: 'a' } },
    { status: { addresses: [{ type: 'Hostname', address: 'a' }] } },
  ]) {
    assert.equal(trimManagedFields(lean), lean);
    assert.equal(trimNode(lean), lean);
  }
});

test('nodes are trimmed as nodes, all others of managedFields', () => {
  assert.equal(defaultTransform(resources.nodes), trimNode);
  assert.equal(defaultTransform(resources.services), trimManagedFields);
  assert.equal(defaultTransform(metadataOf(resources.nodes)), trimManagedFields);
});
