/** What the route controller does on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CallContext, CallPriority } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import {
  createClient,
  createTransport,
  noMetrics,
  openStore,
  resources,
  silentLogger,
  systemClock,
  type Client,
  type ClusterConfig,
  type Node,
  type TransportLayer,
} from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '../../../../providers/memory/src/index.ts';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { createRouteController } from './route-controller.ts';

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartApiServer = (t: TestContext) => Promise<ClusterConfig | undefined>;

const PATIENCE_MS = 240_000;
const random = (): number => 0.5;

interface Running {
  readonly client: Client;
  readonly cloud: MemoryCloud;
  /** Status and path of each answer to a PATCH. */
  readonly patches: readonly string[];
  readonly start: () => Promise<void>;
}

async function setUp(t: TestContext, config: ClusterConfig): Promise<Running> {
  const patches: string[] = [];
  const recordPatches: TransportLayer = (inner) => ({
    send: async (request) => {
      const response = await inner.send(request);
      if (request.method === 'PATCH')
        patches.push(`${response.status} ${new URL(request.path, 'http://api').pathname}`);
      return response;
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  });
  const transport = createTransport(config, { layers: [recordPatches] });
  t.after(() => transport[Symbol.asyncDispose]());
  const client = createClient(transport);
  const cloud = createMemoryCloud({ clock: systemClock, random, settings: { latencyMs: 20 } });
  return { client, cloud, patches, start: () => startController(t, client, cloud) };
}

async function startController(t: TestContext, client: Client, cloud: MemoryCloud): Promise<void> {
  const opened = await openProvider(createMemoryProvider({ cloud }), {
    cluster: { id: 'cluster-1', name: 'test' },
    clock: systemClock,
    logger: silentLogger,
    random,
  });
  const { routes } = opened.capabilities;
  assert.ok(routes);
  const environment = { client, clock: systemClock, logger: silentLogger, metrics: noMetrics, random };
  const store = openStore({ ...environment, resource: resources.nodes });
  const ended = new AbortController();
  const running = createRouteController({
    ...environment,
    store,
    routes,
    callContext: (wanted: { signal: AbortSignal; priority: CallPriority }): CallContext => opened.callContext(wanted),
    events: { record: () => {} },
    options: {
      providerName: 'memory',
      clusterId: 'cluster-1',
      clusterCidrs: parseClusterCidrs('10.64.0.0/12,fd00::/48'),
    },
  }).run(ended.signal);
  t.after(async () => {
    ended.abort();
    await running;
    await store[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });
}

async function addNodes(client: Client, cloud: MemoryCloud, count: number): Promise<void> {
  const nodes = client.of(resources.nodes);
  const add = async (i: number): Promise<void> => {
    const name = `n${i}`;
    const { providerID } = cloud.createInstance({ name });
    const ipv4 = `10.${64 + (i >> 8)}.${i & 255}.0/24`;
    const node = hollowNode({ name, images: 2, taints: [] });
    const podCIDRs = i % 2 === 0 ? [ipv4, `fd00:0:0:${i.toString(16)}::/64`] : [ipv4];
    await nodes.create({ ...node, spec: { ...node.spec, providerID, podCIDR: ipv4, podCIDRs } });
  };
  for (let i = 0; i < count; i += 20) {
    await Promise.all(Array.from({ length: Math.min(20, count - i) }, (_, j) => add(i + j)));
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = systemClock.monotonic();
  while (!(await holds())) {
    if (systemClock.monotonic() - startedAt > PATIENCE_MS) assert.fail(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
    await systemClock.sleep(10);
  }
  return systemClock.monotonic() - startedAt;
}

const reasonOf = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.reason;

/** Runs the suite. `count`: nodes of the first test. */
export function testRouteController(subject: string, count: number, start: StartApiServer): void {
  test(`${subject}: ${count} nodes get their routes in batches, and their conditions by one write each`, async (t) => {
    const config = await start(t);
    if (!config) return;
    const { client, cloud, patches, start: run } = await setUp(t, config);
    await addNodes(client, cloud, count);
    const routes = count + Math.ceil(count / 2);
    await run();
    const made = await until('all routes are made', () => cloud.routes().length === routes);
    const written = await until('all conditions are set', () => patches.length >= count);
    const { items } = await client.of(resources.nodes).list();
    assert.ok(items.every((node) => reasonOf(node) === 'RouteCreated'));
    assert.ok(items.every(({ status }) => status?.conditions?.some(({ type }) => type === 'Ready')));
    assert.deepEqual([patches.length, patches.filter((patch) => !patch.startsWith('200 '))], [count, []]);
    const { byOperation, total } = cloud.calls();
    // A process that loses its turn amid the nodes cuts a batch in two; one call for each route, or for each node, would be many times as many.
    assert.ok(total <= 3 * (1 + Math.ceil(routes / 100)), `calls of the cloud: ${JSON.stringify(byOperation)}`);
    const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
    t.diagnostic(
      `${routes} routes in ${seconds(made)}, ${count} conditions in ${seconds(made + written)}, ${total} cloud calls`,
    );
  });

  test(`${subject}: routes follow nodes that leave and machines that are replaced`, async (t) => {
    const config = await start(t);
    if (!config) return;
    const { client, cloud, start: run } = await setUp(t, config);
    await addNodes(client, cloud, 6);
    await run();
    await until('all routes are made', () => cloud.routes().length === 9);
    const nodes = client.of(resources.nodes);
    await nodes.delete({ name: 'n0' });
    await until('the routes of n0 are gone', () => cloud.routes().every(({ instanceId }) => instanceId !== 'n0'));
    const { metadata, spec, status } = await nodes.get({ name: 'n1' });
    await nodes.delete({ name: 'n1' });
    const { providerID } = cloud.createInstance({ name: 'n1b' });
    const { uid: _uid, resourceVersion: _version, ...rest } = metadata ?? {};
    await nodes.create({ metadata: rest, spec: { ...spec, providerID }, ...(status && { status }) });
    await until('the route leads to the new machine', () =>
      cloud.routes().some(({ destination, instanceId }) => destination === '10.64.1.0/24' && instanceId === 'n1b'),
    );
    await until(
      'the new node has its condition',
      async () => reasonOf(await nodes.get({ name: 'n1' })) === 'RouteCreated',
    );
    assert.equal(cloud.routes().length, 7);
  });
}
