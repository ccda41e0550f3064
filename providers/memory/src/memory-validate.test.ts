import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerService, LoadBalancerVerdict } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { bareHost, CALL } from './bare-host.suite.ts';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from './index.ts';

const CLUSTER = 'cluster-1';

function serviceOf(name: string, uid = `uid-${name}`): LoadBalancerService {
  return {
    uid,
    namespace: 'default',
    name,
    labels: {},
    annotations: {},
    ports: [{ name: '', port: 80, protocol: 'TCP', nodePort: 30_080 }],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
  };
}

async function ask(cloud: MemoryCloud, service: LoadBalancerService): Promise<LoadBalancerVerdict | undefined> {
  const { loadBalancers } = await createMemoryProvider({ cloud }).open(bareHost(systemClock));
  return loadBalancers?.validate?.(service, CALL);
}

function named(cloud: MemoryCloud, clusterId: string, uid: string): void {
  cloud.createPart({ kind: 'dns', tags: { clusterId, uid }, attributes: { name: 'web.default.memory.test' } });
}

test('a name that another cluster has is refused; one of an earlier Service of this cluster has to be waited for', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  assert.deepEqual(await ask(cloud, serviceOf('web')), { warnings: [] });
  named(cloud, CLUSTER, 'uid-earlier');
  assert.match((await ask(cloud, serviceOf('web')))?.warnings?.join() ?? '', /still belongs to an earlier Service/u);
  assert.deepEqual(await ask(cloud, serviceOf('other')), { warnings: [] });

  const shared = createMemoryCloud({ clock: systemClock, random: () => 0 });
  named(shared, 'cluster-2', 'uid-web');
  const verdict = await ask(shared, serviceOf('web'));
  assert.match(verdict?.refused?.message ?? '', /^dns web\.default\.memory\.test belongs to another cluster/u);
});

test('a quota without room for what is lacking is told, and is nothing to a Service that has its parts', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  cloud.configure({ quota: { parts: 5 } });
  assert.deepEqual(await ask(cloud, serviceOf('web')), { warnings: [] });
  for (const kind of ['address', 'load-balancer', 'firewall', 'dns']) {
    cloud.createPart({ kind, tags: { clusterId: CLUSTER, uid: 'uid-web' }, attributes: {} });
  }
  assert.deepEqual(await ask(cloud, serviceOf('web')), { warnings: [] });
  assert.deepEqual(await ask(cloud, serviceOf('next')), {
    warnings: ['the quota leaves room for 1 more parts of load balancers'],
  });
});

test('an answer that could not be had is none', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  cloud.setFaults([{ operation: 'GET /quota', effect: 'status', status: 500 }]);
  await assert.rejects(ask(cloud, serviceOf('web')), { code: 'unavailable' });
});
