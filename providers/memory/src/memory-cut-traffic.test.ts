import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredLoadBalancer, LoadBalancerPart } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { bareHost } from './bare-host.suite.ts';
import { createMemoryCloud, createMemoryProvider } from './index.ts';

test('a change that takes a port or a node away is said to cut traffic, and one that adds one is not', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const { loadBalancers } = await createMemoryProvider({ cloud }).open(bareHost(systemClock));
  assert.ok(loadBalancers);
  const owner = { clusterId: 'cluster-1', uid: 'uid-web' };
  const portOf = (port: number) => ({ port, protocol: 'TCP', nodePort: 30_000 + port });
  const attributes = { ip: '192.0.2.1', ports: [portOf(80)], backEnds: ['memory://a'] };
  const there: LoadBalancerPart = { kind: 'load-balancer', id: 'lb', owner, state: 'ready', attributes };
  const address: LoadBalancerPart = { ...there, kind: 'address', id: 'ip', attributes: { ip: '192.0.2.1' } };
  const cuts = (ports: readonly number[], nodes: readonly string[]): readonly unknown[] => {
    const service = { name: 'web', namespace: 'default', ports: ports.map(portOf), sourceRanges: [] };
    const backEnds = nodes.map((name) => ({ node: { name, providerID: `memory://${name}` }, addresses: [] }));
    const desired = { service, wanted: true, owner, backEnds } as unknown as DesiredLoadBalancer;
    return [loadBalancers.plan(desired, [address, there]), loadBalancers.planMembers?.(desired, [address, there])].map(
      (plan) => plan?.actions.find(({ id }) => id === 'lb')?.mayCutTraffic,
    );
  };
  assert.deepEqual(cuts([80], ['a', 'b']), [undefined, undefined]);
  assert.deepEqual(cuts([80], ['b']), [true, true]);
  assert.deepEqual(cuts([443], ['a']), [true, undefined]);
});
