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

test('source ranges where there were none are said to cut traffic, and none where there were some are not', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const { loadBalancers } = await createMemoryProvider({ cloud }).open(bareHost(systemClock));
  const owner = { clusterId: 'cluster-1', uid: 'uid-web' };
  const ports = [{ port: 80, protocol: 'TCP' }];
  const cuts = (there: readonly string[], wanted: readonly string[]): unknown => {
    const attributes = { ip: '192.0.2.1' };
    const address: LoadBalancerPart = { kind: 'address', id: 'ip', owner, state: 'ready', attributes };
    const firewall = { ...address, kind: 'firewall', id: 'fw', attributes: { ports, sources: there } };
    const service = { name: 'web', namespace: 'default', ports, sourceRanges: wanted };
    const desired = { service, wanted: true, owner, backEnds: [] } as unknown as DesiredLoadBalancer;
    const update = loadBalancers?.plan(desired, [address, firewall]).actions.find(({ id }) => id === 'fw');
    assert.equal(update?.kind, 'update');
    return update.mayCutTraffic;
  };
  const [first, second] = ['192.0.2.0/24', '198.51.100.0/24'];
  assert.equal(cuts([], [first]), true);
  assert.equal(cuts([first, second], [first]), true);
  assert.equal(cuts([first], [first, second]), undefined);
  assert.equal(cuts([first], []), undefined);
});
