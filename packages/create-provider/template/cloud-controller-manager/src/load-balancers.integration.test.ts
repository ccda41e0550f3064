import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredLoadBalancer, LoadBalancerService } from '@outrigger/cloud-provider';
import { CLUSTER, nodeOf, openOnFake, type ProviderOnFake } from '../fake/open-provider.ts';

const PATHS = ['addresses', 'load-balancers', 'firewalls'];

function desiredOf(nodes: readonly string[], more: Partial<LoadBalancerService> = {}): DesiredLoadBalancer {
  const service: LoadBalancerService = {
    uid: 'uid-of-web',
    namespace: 'default',
    name: 'web',
    labels: {},
    annotations: {},
    ports: [{ name: '', port: 80, protocol: 'TCP', nodePort: 30_080 }],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
    ...more,
  };
  const backEnds = nodes.map((name) => ({ node: nodeOf(name, `my-cloud://srv-${name}`), addresses: [] }));
  return { service, wanted: true, backEnds, owner: { clusterId: CLUSTER.id, uid: service.uid } };
}

/** Observes, plans and applies as the host does, until nothing is to be done. Returns the addresses. */
async function bring(provider: ProviderOnFake, desired: DesiredLoadBalancer): Promise<readonly string[]> {
  const { call } = provider;
  const balancers = provider.of('loadBalancers');
  for (let round = 0; round < 20; round++) {
    const [seen] = await balancers.observe([desired.service], call);
    assert.ok(seen?.kind === 'parts');
    const plan = balancers.plan(desired, seen.parts);
    if (plan.complete) return plan.ingress.map(({ ip = '' }) => ip);
    for (const action of plan.actions) await balancers.apply(action, desired, call);
  }
  return assert.fail('it does not come to an end');
}

function countsOf({ cloud }: ProviderOnFake): readonly number[] {
  return PATHS.map((path) => cloud.resource(path).size);
}

test('a load balancer comes, follows its nodes, and goes with all of its parts', async () => {
  await using provider = await openOnFake();
  assert.deepEqual(await bring(provider, desiredOf(['node-1', 'node-2'])), ['203.0.113.1']);
  assert.deepEqual(countsOf(provider), [1, 1, 1]);
  await bring(provider, desiredOf(['node-2']));
  const [balancer] = provider.cloud.resource('load-balancers').all();
  assert.deepEqual(balancer?.['targets'], ['my-cloud://srv-node-2']);
  assert.equal(balancer?.['size'], 'small', 'without an annotation');
  const writes = (): number => provider.cloud.calls.all().filter(({ method }) => method !== 'GET').length;
  const before = writes();
  await bring(provider, desiredOf(['node-2']));
  assert.equal(writes(), before, 'nothing is changed that is as it should be');
  await bring(provider, { ...desiredOf([]), wanted: false });
  assert.deepEqual(countsOf(provider), [0, 0, 0]);
});

test('what another cluster has made is not touched', async () => {
  await using provider = await openOnFake();
  const theirs = {
    id: 'theirs',
    ip: '203.0.113.200',
    labels: { 'outrigger-cluster': 'another', 'outrigger-uid': 'uid-of-web' },
  };
  provider.cloud.resource('addresses').put(theirs);
  await bring(provider, desiredOf(['node-1']));
  await bring(provider, { ...desiredOf([]), wanted: false });
  assert.deepEqual(provider.cloud.resource('addresses').all(), [theirs]);
});

test('a wrong annotation is refused by its name', async () => {
  await using provider = await openOnFake();
  const desired = desiredOf([], { annotations: { 'my-cloud.example/size': 'huge' } });
  const { refused } = provider.of('loadBalancers').plan(desired, []);
  assert.match(refused?.message ?? '', /my-cloud\.example\/size: "huge" is not one of small, large/u);
});
