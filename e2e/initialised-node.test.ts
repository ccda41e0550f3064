import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, Node } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { faultsOfNode } from './initialised-node.ts';
import { OtherWriter } from './other-writer.ts';

const machine = {
  name: 'node-1',
  ip: '10.0.0.1',
  externalIp: '203.0.113.1',
  providerID: 'memory://north-1/i-1',
  zone: 'north-1a',
  region: 'north-1',
  type: 'small',
};

function initialised(): Node {
  const node = hollowNode({ name: machine.name, ip: machine.ip });
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: {
        ...node.metadata?.labels,
        'topology.kubernetes.io/zone': machine.zone,
        'failure-domain.beta.kubernetes.io/zone': machine.zone,
        'topology.kubernetes.io/region': machine.region,
        'failure-domain.beta.kubernetes.io/region': machine.region,
        'node.kubernetes.io/instance-type': machine.type,
        'beta.kubernetes.io/instance-type': machine.type,
      },
    },
    spec: { providerID: machine.providerID, taints: [] },
    status: {
      ...node.status,
      addresses: [
        { type: 'InternalIP', address: machine.ip },
        { type: 'ExternalIP', address: machine.externalIp },
        { type: 'Hostname', address: machine.name },
      ],
      conditions: (node.status?.conditions ?? []).map((condition) =>
        condition.type === 'Ready' ? { ...condition, status: 'True' } : condition,
      ),
    },
  };
}

test('a node as it must be has no faults', () => {
  assert.deepEqual(faultsOfNode(initialised(), machine), []);
});

test('each thing that is missing or wrong is named', () => {
  const node = initialised();
  const wrong: readonly (readonly [Node, RegExp])[] = [
    [hollowNode({ name: machine.name, ip: machine.ip }), /^node-1: initialised is false/u],
    [{ ...node, spec: { taints: [] } }, /^node-1: provider ID is undefined/u],
    [{ ...node, metadata: { ...node.metadata, labels: {} } }, /zone is undefined, not north-1a/u],
    [{ ...node, metadata: { ...node.metadata, annotations: {} } }, /provided-node-ip is undefined/u],
    [{ ...node, status: { ...node.status, addresses: [] } }, /addresses is , not ExternalIP/u],
    [{ ...node, status: { ...node.status, conditions: [] } }, /Ready is undefined, not True/u],
  ];
  for (const [faulty, message] of wrong) assert.match(faultsOfNode(faulty, machine).join('\n'), message);
});

test('what the other writer was told is written and is not there is lost', async () => {
  const calls: unknown[] = [];
  const node = initialised();
  const nodes = {
    get: () => Promise.resolve(node),
    update: (object: Node) => Promise.resolve(void calls.push(object)),
    patch: (...args: unknown[]) => Promise.resolve(void calls.push(args)),
  };
  const writer = new OtherWriter({ of: () => nodes } as unknown as Client);
  assert.deepEqual(writer.lostOn(node), [], 'not touched yet');
  await writer.touch(machine.name, new AbortController().signal);
  assert.equal(calls.length, 3);
  assert.deepEqual(writer.lostOn(node), [
    'node-1: taint other.example/maintenance',
    'node-1: label other.example/rack',
    'node-1: condition OtherExampleHealthy',
  ]);
});
