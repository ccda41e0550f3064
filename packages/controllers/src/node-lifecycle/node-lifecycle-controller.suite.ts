/** What the node lifecycle controller does on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { InstanceAnswer, InstanceResult, Instances, NodeRef } from '@outrigger/cloud-provider';
import { createInstanceLookups } from '@outrigger/cloud-runtime';
import {
  createClient,
  createTransport,
  isConflict,
  isInvalid,
  noMetrics,
  openStore,
  resources,
  silentLogger,
  systemClock,
  type Client,
  type ClusterConfig,
  type Node,
  type ResourceClient,
  type TransportLayer,
} from '@outrigger/kube';
import { deleteNode } from './delete-node.ts';
import type { NodeLifecycleControllerOptions } from './lifecycle-dependencies.ts';
import { isShutdownTainted, nodeOf, type NodeSpec } from './lifecycle-rig.suite.ts';
import { createNodeLifecycleController } from './node-lifecycle-controller.ts';
import { addShutdownTaint, removeShutdownTaint } from './shutdown-taint.ts';

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartApiServer = (t: TestContext) => Promise<ClusterConfig | undefined>;

const PATIENCE_MS = 240_000;

const range = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `n${i}`);

/** Machines by name. */
class Cloud implements Instances {
  readonly batchSize = 500;
  readonly machines = new Map<string, 'running' | 'shutdown'>();
  batches = 0;
  reads = 0;

  lookUp(nodes: readonly NodeRef[]): Promise<readonly InstanceAnswer[]> {
    this.batches += 1;
    const asOf = systemClock.monotonic();
    return Promise.resolve(nodes.map((node) => ({ asOf, result: this.#find(node) ?? { kind: 'missing' } })));
  }

  read(node: NodeRef): Promise<InstanceAnswer> {
    this.reads += 1;
    const asOf = systemClock.monotonic();
    return Promise.resolve({ asOf, result: this.#find(node) ?? { kind: 'absent', proof: 'GET: 404' } });
  }

  #find({ name }: NodeRef): InstanceResult | undefined {
    const state = this.machines.get(name);
    return state && { kind: 'found', instance: { providerID: `fake://${name}`, state } };
  }
}

interface Subject {
  readonly client: Client;
  readonly nodes: ResourceClient<Node>;
  readonly cloud: Cloud;
  /** `METHOD path`, without those of the watch and the test's own. */
  readonly requests: string[];
  join(names: readonly string[], spec?: NodeSpec): Promise<void>;
  ready(name: string, status: 'True' | 'False' | 'Unknown'): Promise<void>;
  start(options?: Partial<NodeLifecycleControllerOptions>): void;
  until(what: string, look: (nodes: readonly Node[]) => boolean): Promise<number>;
}

/** Runs the suite. */
export function testNodeLifecycleController(subject: string, startServer: StartApiServer): void {
  const setUp = async (t: TestContext): Promise<Subject | undefined> => {
    const config = await startServer(t);
    if (!config) return undefined;
    const requests: string[] = [];
    const record: TransportLayer = (inner) => ({
      send: (request) => {
        if (request.method !== 'GET' || /nodes\/\w+/.test(request.path)) {
          requests.push(`${request.method} ${new URL(request.path, 'http://api').pathname}`);
        }
        return inner.send(request);
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    });
    const transport = createTransport(config, { layers: [record] });
    const own = createTransport(config);
    t.after(() => Promise.all([transport[Symbol.asyncDispose](), own[Symbol.asyncDispose]()]));
    const client = createClient(own);
    const nodes = client.of(resources.nodes);
    const cloud = new Cloud();
    return {
      client,
      nodes,
      cloud,
      requests,
      async join(names, spec = {}) {
        await Promise.all(
          names.map(async (name) => {
            cloud.machines.set(name, 'running');
            const { status, ...node } = nodeOf(name, spec);
            delete node.metadata?.uid;
            await nodes.create(node);
            await nodes.patch({ name }, { type: 'merge', body: { status } }, { subresource: 'status' });
          }),
        );
      },
      async ready(name, status) {
        const lastTransitionTime = new Date(systemClock.now()).toISOString().replace(/\.\d+/, '');
        const conditions = [{ type: 'Ready', status, lastTransitionTime }];
        await nodes.patch({ name }, { type: 'strategic', body: { status: { conditions } } }, { subresource: 'status' });
      },
      start: (options = {}) => startController(t, createClient(transport), cloud, options),
      async until(what, look) {
        const from = systemClock.monotonic();
        for (;;) {
          if (look((await nodes.list()).items)) return systemClock.monotonic() - from;
          if (systemClock.monotonic() - from > PATIENCE_MS) assert.fail(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
          await systemClock.sleep(20);
        }
      },
    };
  };

  test(`${subject}: nodes whose machines are gone are deleted, with preconditions, and no others`, async (t) => {
    const it = await setUp(t);
    if (!it) return;
    await it.join(range(50));
    it.start({ deletionGraceMs: 1_000 });
    await systemClock.sleep(100);
    assert.equal(it.cloud.batches, 0);
    for (const name of range(10)) it.cloud.machines.delete(name);
    await Promise.all(range(12).map((name) => it.ready(name, 'Unknown')));
    await it.until('ten are deleted', (nodes) => nodes.length === 40);
    await systemClock.sleep(500);
    const { items } = await it.nodes.list();
    assert.deepEqual(
      items.filter(({ metadata }) => Number(metadata?.name?.slice(1)) < 10),
      [],
    );
    assert.equal(items.length, 40);
    const deletes = it.requests.filter((request) => request.startsWith('DELETE')).toSorted((a, b) => (a < b ? -1 : 1));
    assert.deepEqual(
      deletes,
      range(10).map((name) => `DELETE /api/v1/nodes/${name}`),
    );
    // Two proofs each; on a busy machine another list comes between them, and the first is asked for once more.
    assert.ok(it.cloud.reads >= 20 && it.cloud.reads <= 40, `${it.cloud.reads} reads`);
  });

  test(`${subject}: stopped machines' nodes are tainted by one write each; the taint goes with Ready`, async (t) => {
    const it = await setUp(t);
    if (!it) return;
    const other = { key: 'other', effect: 'NoSchedule' } as const;
    await it.join(range(5));
    await it.join(['m5', 'm6'], { taints: [other] });
    const names = [...range(5), 'm5', 'm6'];
    it.start();
    for (const name of names) it.cloud.machines.set(name, 'shutdown');
    await Promise.all(names.map((name) => it.ready(name, 'Unknown')));
    await it.until('all are tainted', (nodes) => nodes.every(isShutdownTainted));
    for (const name of names) it.cloud.machines.set(name, 'running');
    await Promise.all(names.map((name) => it.ready(name, 'True')));
    await it.until('none is tainted', (nodes) => !nodes.some(isShutdownTainted));
    const { items } = await it.nodes.list();
    for (const { metadata, spec } of items) {
      assert.equal(spec?.taints?.some(({ key }) => key === 'other') ?? false, metadata?.name?.startsWith('m'));
    }
    const patches = it.requests.filter((request) => request.startsWith('PATCH'));
    assert.equal(patches.length, it.requests.filter((request) => request.startsWith('GET')).length + 2 * names.length);
  });

  test(`${subject}: a write made for what is no longer there is refused, and changes nothing`, async (t) => {
    const it = await setUp(t);
    if (!it) return;
    const { nodes } = it;
    await it.join(['n1'], { taints: [{ key: 'a', effect: 'NoSchedule' }] });
    const read = await nodes.get({ name: 'n1' });
    await it.ready('n1', 'Unknown');
    const refused = (error: unknown): boolean => isConflict(error) || isInvalid(error);
    const breaker = { begin: () => {}, withdraw: () => {} };
    const options = { nodes, breaker, signal: t.signal, tell: () => {} };
    assert.equal(await deleteNode(read, options), 'conflict');
    const now = await nodes.get({ name: 'n1' });
    const another = { ...now, metadata: { ...now.metadata, uid: '00000000-0000-4000-8000-000000000000' } };
    assert.equal(await deleteNode(another, options), 'conflict');
    await assert.rejects(nodes.patch({ name: 'n1' }, addShutdownTaint(read)), refused);
    await assert.rejects(nodes.patch({ name: 'n1' }, addShutdownTaint(another)), refused);
    const tainted = await nodes.patch({ name: 'n1' }, addShutdownTaint(now));
    assert.ok(isShutdownTainted(tainted));
    const moved = [{ key: 'b', effect: 'NoSchedule' as const }, ...(tainted.spec?.taints ?? [])];
    await nodes.patch({ name: 'n1' }, { type: 'merge', body: { spec: { taints: moved } } });
    await assert.rejects(nodes.patch({ name: 'n1' }, removeShutdownTaint(tainted)), refused);
    const last = await nodes.get({ name: 'n1' });
    assert.deepEqual(
      last.spec?.taints?.map(({ key }) => key),
      moved.map(({ key }) => key),
    );
    assert.equal(await deleteNode(last, options), 'deleted');
    assert.equal(await deleteNode(last, options), 'gone');
  });
}

function startController(
  t: TestContext,
  client: Client,
  cloud: Cloud,
  options: Partial<NodeLifecycleControllerOptions>,
): void {
  const common = { clock: systemClock, logger: silentLogger, metrics: noMetrics };
  const random = (): number => 0.5;
  const store = openStore({ ...common, client, random, resource: resources.nodes });
  const lookups = createInstanceLookups({
    ...common,
    instances: cloud,
    callContext: ({ signal, priority }) => ({
      signal,
      priority,
      logger: silentLogger,
      call: (_operation, send) => send(signal),
    }),
  });
  const ended = new AbortController();
  const running = createNodeLifecycleController({
    ...common,
    client,
    store,
    lookups,
    events: { record: () => {} },
    random,
    options: { providerName: 'fake', ...options },
  }).run(ended.signal);
  t.after(async () => {
    ended.abort();
    await running;
    await lookups[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
}
