import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { metadataOf } from './resource.ts';
import { resources } from './resources.ts';
import { defaultTransform, trimManagedFields, trimNode } from './transform.ts';
import type { Node } from './types/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMB(): number {
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}

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

test('of what else a kubelet writes into a status, conditions count to a thousand, and texts are cut', () => {
  const long = 'x'.repeat(100_000);
  const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
  const cut = trimNode({
    status: {
      conditions: [
        { ...condition, reason: long, message: long },
        ...Array.from({ length: 5_000 }, () => ({ type: long, status: long })),
      ],
      nodeInfo: { systemUUID: long, osImage: 'os' } as NonNullable<Node['status']>['nodeInfo'] & object,
    },
  }).status;
  const [first, second] = cut?.conditions ?? [];
  const text = (length: number): string => 'x'.repeat(length);
  assert.deepEqual(first, { ...condition, reason: text(255), message: text(1_024) });
  assert.deepEqual(second, { type: text(255), status: text(255) });
  assert.equal(cut?.conditions?.length, 1_000);
  assert.deepEqual(cut?.nodeInfo, { systemUUID: text(255), osImage: 'os' });
  assert.ok(JSON.stringify(cut).length < 600_000);
});

test('what is cut off is let go, and not held by the beginning that is kept', () => {
  // Over a Buffer: a string of its own, as one off the wire.
  const megabyte = (i: number): string => Buffer.from(`${i}`.padEnd(1_000_000)).toString();
  const before = heapMB();
  const nodes = Array.from({ length: 50 }, (_, i) =>
    trimNode({ status: { conditions: [{ type: 'Ready', status: 'True', message: megabyte(i) }] } }),
  );
  assert.ok(heapMB() - before < 10, 'of 50 MB');
  assert.equal(nodes.length, 50);
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
