import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, openStore, resources, silentLogger, systemClock } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import { readIpamRanges } from './ipam-ranges.ts';
import { createRangeAllocator } from './range-allocator.ts';

const clusterCidr = '10.64.0.0/12';

test('beside the allocator of kube-controller-manager nothing is allocated, and an Event says why', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, {
    kubeControllerManager: true,
    flags: { 'kube-controller-manager': { 'allocate-node-cidrs': 'true', 'cluster-cidr': clusterCidr } },
  });
  if (!controlPlane) return;
  const client = await clientOf(controlPlane.kubeconfig.path);
  t.after(() => client[Symbol.asyncDispose]());
  const environment = {
    client,
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
    random: () => 0.5,
  };
  const nodes = client.of(resources.nodes);
  const cidrs = async (): Promise<readonly string[]> =>
    (await nodes.list()).items.map(({ spec }) => spec?.podCIDR ?? '');
  const allHave = async (count: number): Promise<void> => {
    for (let i = 0; i < 2_400; i++) {
      const given = await cidrs();
      if (given.length === count && given.every((cidr) => cidr !== '')) return;
      await systemClock.sleep(100);
    }
    assert.fail('kube-controller-manager has given no ranges within four minutes');
  };

  // One node is there already, its range on record; the others come while both run.
  await nodes.create(hollowNode({ name: 'first', images: 2 }));
  await allHave(1);
  const reasons: string[] = [];
  const flags = { nodeCidrMaskSize: 0, nodeCidrMaskSizeIpv4: 0, nodeCidrMaskSizeIpv6: 0, serviceClusterIpRange: '' };
  const store = openStore({ ...environment, resource: resources.nodes });
  const ended = new AbortController();
  const running = createRangeAllocator({
    ...environment,
    store,
    events: { record: (_about, { reason }) => void reasons.push(reason) },
    ranges: readIpamRanges({ ...flags, clusterCidr }),
    observeMs: 0,
  }).run(ended.signal);
  t.after(async () => {
    ended.abort();
    await running;
    await store[Symbol.asyncDispose]();
  });
  for (let i = 0; i < 50; i++) await nodes.create(hollowNode({ name: `n${i}`, images: 2 }));
  await allHave(51);
  assert.equal(new Set(await cidrs()).size, 51);
  for (let i = 0; i < 2_400 && reasons.length === 0; i++) await systemClock.sleep(100);
  assert.ok(reasons.length > 0 && reasons.every((reason) => reason === 'CIDRAllocatorConflict'), reasons.join());
  const writers = (await nodes.list()).items.flatMap(({ metadata }) =>
    (metadata?.managedFields ?? []).map((entry) => (entry as { manager?: string }).manager),
  );
  assert.ok(!writers.includes('outrigger-node-ipam'));
});
