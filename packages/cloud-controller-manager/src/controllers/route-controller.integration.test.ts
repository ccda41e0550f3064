import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudProvider, Route, Routes } from '@outrigger/cloud-provider';
import { Bench, greenCloud, until } from '../program/program-bench.suite.ts';

/** The green cloud, with routes that are kept here. */
function routedCloud(routes: Route[]): CloudProvider {
  const cloud = greenCloud();
  return {
    ...cloud,
    open: async (host) => {
      const capability: Routes = {
        batchSize: 10,
        list: () => Promise.resolve({ asOf: host.clock.monotonic(), routes: [...routes] }),
        create: (requests) => {
          for (const { node, destination } of requests) {
            const target = { targetNodeName: node.name, targetProviderID: node.providerID };
            routes.push({ id: destination, destination, ...target, blackhole: false, ownership: 'owned' });
          }
          return Promise.resolve(requests.map(() => ({ kind: 'done' })));
        },
        delete: (given) => Promise.resolve(given.map(() => ({ kind: 'done' }))),
      };
      return { ...(await cloud.open(host)), routes: capability };
    },
  };
}

test('a new node is initialised as NetworkUnavailable, and gets its route and the condition', async () => {
  await using bench = await Bench.start();
  const routes: Route[] = [];
  const program = await bench.run(routedCloud(routes), '--cluster-cidr=10.0.0.0/16', '--allocate-node-cidrs');
  bench.addNode('node-1');
  const condition = (): string | undefined =>
    bench.node('node-1').status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.reason;
  await until('marked', () => condition() === 'NoRouteCreated', program.log);
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  const node = bench.node('node-1');
  bench.server.store.put({
    ...node,
    metadata: { ...node.metadata, name: 'node-1' },
    spec: { ...node.spec, podCIDRs: ['10.0.7.0/24'] },
  });
  await until('routed', () => condition() === 'RouteCreated', program.log);
  assert.deepEqual(
    routes.map(({ destination, targetProviderID }) => [destination, targetProviderID]),
    [['10.0.7.0/24', 'green://node-1']],
  );
});

function addRangedNode(bench: Bench, name: string, cidr: string): void {
  bench.addNode(name);
  const node = bench.node(name);
  const spec = { ...node.spec, providerID: `green://${name}`, podCIDRs: [cidr] };
  bench.server.store.put({ ...node, metadata: { ...node.metadata, name }, spec });
}

function networkReason(bench: Bench, name: string): string | undefined {
  return bench.node(name).status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.reason;
}

test('a node in --service-cluster-ip-range gets no route', async () => {
  await using bench = await Bench.start();
  const routes: Route[] = [];
  addRangedNode(bench, 'node-1', '10.0.7.0/24');
  addRangedNode(bench, 'node-2', '10.0.8.0/24');
  const flags = ['--cluster-cidr=10.0.0.0/16', '--service-cluster-ip-range=10.0.0.0/21, fd00::/112'];
  const program = await bench.run(routedCloud(routes), ...flags);
  const condition = (name: string): string | undefined => networkReason(bench, name);
  await until(
    'told',
    () => condition('node-1') === 'NoRouteCreated' && condition('node-2') === 'RouteCreated',
    program.log,
  );
  assert.deepEqual(
    routes.map(({ destination }) => destination),
    ['10.0.8.0/24'],
  );
});

test('while --additional-cluster-cidrs-file cannot be read, a node that may be in one of its ranges is not marked', async () => {
  await using bench = await Bench.start();
  addRangedNode(bench, 'node-1', '10.1.7.0/24');
  addRangedNode(bench, 'node-2', '10.0.7.0/24');
  const condition = (name: string): string | undefined => networkReason(bench, name);
  const routes: Route[] = [];
  const program = await bench.run(
    routedCloud(routes),
    '--cluster-cidr=10.0.0.0/16',
    '--additional-cluster-cidrs-file=not-there',
  );
  await until('routed', () => condition('node-2') === 'RouteCreated', program.log);
  assert.equal(condition('node-1'), undefined);
  assert.match(program.log(), /The file of additional cluster CIDRs is not in effect.*not-there/u);
});

test('without --cluster-cidr no route is made, no node is marked, and the log says so once', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  const routes: Route[] = [];
  const program = await bench.run(routedCloud(routes), '--allocate-node-cidrs');
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  const marked = bench.node('node-1').status?.conditions?.some(({ type }) => type === 'NetworkUnavailable') ?? false;
  assert.deepEqual([marked, routes], [false, []]);
  const lines = program
    .log()
    .split('\n')
    .filter((line) => line.includes('Controller not started'));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /controller="node-route-controller".*--cluster-cidr is not set/u);
});
