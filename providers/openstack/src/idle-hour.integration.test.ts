/** What the whole program asks of OpenStack in an hour in which nothing happens. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient, createTransport, loadConfig, resources, type Service } from '@outrigger/kube';
import { FakeClock, hollowNode } from '@outrigger/testing';
import { Bench } from '../../../packages/cloud-controller-manager/src/program/program-bench.suite.ts';
import { createFakeOpenStack } from '../fake/fake-openstack.ts';
import { fakeCloudConf, NOWHERE } from '../fake/fake-cloud-conf.ts';
import { inProcessFetch } from '../fake/in-process-fetch.ts';
import { seededRandom } from '../fake/seeded-random.ts';
import { seedProject } from '../fake/seed-project.ts';
import { createOpenStackProvider } from './openstack-provider.ts';

const PAGE = new URL('../docs/idle-hour.md', import.meta.url);
const NODES = 3;
const SERVICES = 20;
const HOUR_MS = 3_600_000;
/** Far below every time-out of a connection. */
const STEP_MS = 4_000;

test('an idle hour of all controllers and twenty load balancers is what docs/idle-hour.md says, and 60 requests at most', async (t) => {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const seeded = seedProject(cloud);
  await using bench = await Bench.start();
  bench.clock = clock;
  const more = `[Route]\nrouter-id = ${seeded.router.id}\n[LoadBalancer]\ncreate-monitor = true\nmanage-security-groups = true`;
  await writeFile(join(bench.directory, 'cloud.conf'), fakeCloudConf({ more }));
  // On a clock of its own that stands still: this test has no time-outs.
  const kubeconfig = await loadConfig({ kubeconfig: join(bench.directory, 'kubeconfig') });
  await using transport = createTransport(kubeconfig, { clock: new FakeClock() });
  const namespaces = createClient(transport).of(resources.namespaces);
  for (let i = 0; i < NODES; i++) {
    const name = `node-${i}`;
    const { port } = seeded.addNode({ name });
    const node = hollowNode({ name, ip: port.fixed_ips[0]?.ip_address ?? '' });
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' } as const;
    const status = { ...node.status, conditions: [ready] };
    bench.server.store.put({ ...node, status, metadata: { ...node.metadata, name, uid: `uid-${name}` } });
  }
  await bench.run(
    createOpenStackProvider({ environment: NOWHERE, fetch: inProcessFetch(cloud) }),
    '--cloud-config=cloud.conf',
    '--leader-elect=false',
    '--controllers=*,node-ipam-controller,persistent-volume-label-controller',
    '--cluster-cidr=10.244.0.0/16',
    '--allocate-node-cidrs',
  );
  for (let i = 0; i < SERVICES; i++) {
    const name = `web-${i}`;
    const ports = [{ port: 80, protocol: 'TCP' as const, nodePort: 30_000 + i }];
    bench.server.store.put({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default', uid: `uid-${name}` },
      spec: { type: 'LoadBalancer', ports, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    });
  }
  // The API server lives in this process too: once it has answered this, it has answered what it was asked before.
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await clock.advance(STEP_MS);
      await namespaces.get({ name: 'default' });
    }
  };
  const isBuilt = (): boolean => {
    const services: readonly Service[] = bench.server.store.list({ plural: 'services' });
    const served = services.filter(({ status }) => (status?.loadBalancer?.ingress ?? []).length > 0);
    const routes = cloud.networking.routers.routers.get(seeded.router.id)?.routes ?? [];
    return served.length === SERVICES && routes.length === NODES;
  };
  while (!isBuilt()) await pass(STEP_MS);
  await pass(HOUR_MS / 4);
  cloud.calls.reset();
  await pass(HOUR_MS);
  const counts = cloud.calls.counts();
  t.diagnostic(JSON.stringify(counts));
  const total = Object.values(counts).reduce((sum, one) => sum + one, 0);
  assert.ok(total > 0 && total <= 60, JSON.stringify(counts));
  const rows = (await readFile(PAGE, 'utf8')).matchAll(/^\| (\S+) \| `(.+)` \| (\d+) \|/gmu);
  const page = new Map([...rows].map(([, service, operation, most]) => [`${service} ${operation}`, Number(most)]));
  for (const [operation, count] of Object.entries(counts)) {
    const most = page.get(operation) ?? 0;
    assert.ok(count <= most, `${operation}: ${count}, and the page says ${most}: ${JSON.stringify(counts)}`);
  }
  assert.equal(cloud.octavia.store.loadBalancers.size, SERVICES);
});
