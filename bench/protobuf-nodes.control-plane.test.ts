import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createTransport, loadConfig, resources, type Node } from '@outrigger/kube';
import { controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import { watchNodesInProtobuf } from './protobuf-nodes.ts';

test('what is read of a node in protobuf is what JSON says of it', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  await using transport = createTransport(await loadConfig({ kubeconfig: controlPlane.kubeconfig.path }));
  const nodes = createClient(transport).of(resources.nodes);
  const { resourceVersion } = await nodes.list();
  const { status, ...node } = hollowNode({ name: 'n1' });
  await nodes.create({
    ...node,
    metadata: { ...node.metadata, labels: { 'topology.kubernetes.io/zone': 'a', empty: '' } },
    spec: { ...node.spec, providerID: 'memory://x', podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] },
  });
  await nodes.patch({ name: 'n1' }, { type: 'merge', body: { status } }, { subresource: 'status' });
  const expected = await nodes.get({ name: 'n1' });

  const seen: string[] = [];
  for await (const { object, type } of watchNodesInProtobuf(transport, resourceVersion ?? '', t.signal)) {
    seen.push(type);
    if (object.metadata?.resourceVersion !== expected.metadata?.resourceVersion) continue;
    assert.deepEqual(facts(object), facts(expected));
    break;
  }
  assert.deepEqual(seen, ['ADDED', 'MODIFIED']);
});

function facts({ metadata, spec, status }: Node): unknown {
  return {
    name: metadata?.name,
    labels: metadata?.labels,
    spec: [spec?.providerID, spec?.podCIDR, spec?.taints?.map(({ effect, key }) => [key, effect])],
    addresses: status?.addresses?.map(({ address, type }) => [type, address]),
    conditions: status?.conditions?.map(({ reason, status, type }) => [type, status, reason]),
  };
}
