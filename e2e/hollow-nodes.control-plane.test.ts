import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, startHollowNodes, UNINITIALIZED_TAINT } from '@outrigger/testing';

const COUNT = 100;

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let attempt = 0; !holds(); attempt++) {
    assert.ok(attempt < 9_000, `not within 180 s: ${what}`);
    await new Promise<void>((resolve) => void setTimeout(resolve, 20));
  }
}

test('100 hollow nodes come up on a real control plane, turn Ready when initialised, and cost what they must', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { tokenUsers: [{ user: 'kubelets', groups: ['system:masters'] }] });
  if (!controlPlane) return;
  const kubelets = await controlPlane.kubeconfigFor({ user: 'kubelets', credential: 'token' });
  await using kubeletClient = await clientOf(kubelets.path);
  await using nodes = await startHollowNodes({ client: kubeletClient, count: COUNT, heartbeats: false });

  await using admin = await clientOf(controlPlane.kubeconfig.path);
  const client = admin.of(resources.nodes);
  const registered = (await client.list()).items;
  assert.equal(registered.length, COUNT);
  for (const node of registered) {
    assert.ok(node.spec?.taints?.some((taint) => taint.key === UNINITIALIZED_TAINT));
    assert.equal(node.status?.conditions?.find((condition) => condition.type === 'Ready')?.status, 'False');
    const bytes = JSON.stringify(node).length;
    assert.ok(bytes > 10_000 && bytes < 15_000, `${bytes} bytes`);
  }

  for (const node of registered) {
    const taints = node.spec?.taints ?? [];
    const index = taints.findIndex((taint) => taint.key === UNINITIALIZED_TAINT);
    await client.patch(
      { name: node.metadata?.name ?? '' },
      { type: 'json', operations: [{ op: 'remove', path: `/spec/taints/${index}` }] },
    );
  }
  await until('all nodes are Ready', () => nodes.ready === COUNT);

  const counts = await controlPlane.auditLog.count((entry) =>
    // A server without WatchList refuses one watch before it grants the other.
    entry.user.username === 'kubelets' && (entry.responseStatus?.code ?? 0) < 400
      ? `${entry.verb} ${entry.objectRef?.resource}${entry.objectRef?.subresource ? `/${entry.objectRef.subresource}` : ''}`
      : undefined,
  );
  assert.equal(counts['create nodes'], COUNT);
  assert.equal(counts['patch nodes/status'], COUNT);
  assert.equal(counts['watch nodes'], 1);
  const { registration, lease, status } = nodes.counts;
  assert.deepEqual({ registration, lease, status }, { registration: COUNT, lease: 0, status: COUNT });
});
