/** What the node controller does on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Instance, NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
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
import { hollowNode, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { createNodeController } from './node-controller.ts';
import type { NodeControllerOptions } from './node-dependencies.ts';
import { objectPatch, statusPatch } from './node-patch.ts';

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartApiServer = (t: TestContext) => Promise<ClusterConfig | undefined>;

const PATIENCE_MS = 240_000;

const isTainted = (node: Node): boolean => !!node.spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT);

function instanceOf({ name }: NodeRef): Instance {
  const n = Number(/\d+$/.exec(name)?.[0] ?? 0);
  return {
    providerID: `fake://${name}`,
    state: 'running',
    type: 't1.micro',
    zone: 'z1',
    region: 'r1',
    labels: { 'fake.example/rack_row': 'a' },
    addresses: [
      { type: 'InternalIP', address: `10.0.0.${n}` },
      { type: 'InternalIP', address: `fd00::${n}` },
      { type: 'ExternalIP', address: `192.0.2.${n}` },
    ],
  };
}

/** Returns the names that the cloud is asked about, as they are asked. */
function startController(
  t: TestContext,
  client: Client,
  options: Partial<NodeControllerOptions> = {},
): readonly string[] {
  const asked: string[] = [];
  let waiting: (() => void)[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    for (const answer of batch) answer();
  };
  const lookUp = (node: NodeRef): Promise<DatedAnswer> => {
    if (waiting.length === 0) setImmediate(flush);
    const asOf = systemClock.monotonic();
    asked.push(node.name);
    return new Promise((resolve) => {
      waiting.push(() => resolve({ asOf, result: { kind: 'found', instance: instanceOf(node) } }));
    });
  };
  const random = (): number => 0.5;
  const store = openStore({
    client,
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
    random,
    resource: resources.nodes,
  });
  const ended = new AbortController();
  const running = createNodeController({
    client,
    store,
    lookups: {
      lookUp,
      machineOf: (providerID) => providerID,
      snapshot: { get: () => undefined, subscribe: () => () => {}, forget: () => {}, size: 0 },
    },
    events: { record: () => {} },
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
    random,
    options: { providerName: 'fake', ...options },
  }).run(ended.signal);
  t.after(async () => {
    ended.abort();
    await running;
    await store[Symbol.asyncDispose]();
  });
  return asked;
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (systemClock.monotonic() > deadline) assert.fail(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
    await systemClock.sleep(20);
  }
}

function allInitialised(nodes: ResourceClient<Node>): Promise<readonly Node[]> {
  return until('all nodes are initialised', async () => {
    const { items } = await nodes.list();
    return items.some(isTainted) ? undefined : items;
  });
}

/** Runs the suite. */
export function testNodeController(subject: string, start: StartApiServer): void {
  let patches: string[] = [];
  const recordPatches: TransportLayer = (inner) => ({
    send: (request) => {
      if (request.method === 'PATCH') patches.push(new URL(request.path, 'http://api').pathname);
      return inner.send(request);
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  });
  const setUp = async (t: TestContext): Promise<Client | undefined> => {
    const config = await start(t);
    if (!config) return undefined;
    patches = [];
    const transport = createTransport(config, { layers: [recordPatches] });
    t.after(() => transport[Symbol.asyncDispose]());
    return createClient(transport);
  };

  test(`${subject}: kubelet-style nodes become initialised nodes, by two writes each`, async (t) => {
    const client = await setUp(t);
    if (!client) return;
    const nodes = client.of(resources.nodes);
    for (let i = 1; i <= 40; i++) {
      const taints = [{ key: 'other', effect: 'NoSchedule' as const }];
      await nodes.create(
        hollowNode({ name: `n${i}`, taints, images: 2, ...(i % 2 && { ip: [`10.0.0.${i}`, `fd00::${i}`] }) }),
      );
    }
    const asked = startController(t, client, { runsRoutes: true });
    for (const node of await allInitialised(nodes)) {
      const n = node.metadata?.name?.slice(1) ?? '';
      assert.equal(node.spec?.providerID, `fake://n${n}`);
      assert.ok(node.spec?.taints?.some(({ key }) => key === 'other'));
      assert.deepEqual(
        node.status?.addresses?.filter(({ type }) => type !== 'Hostname'),
        instanceOf({ name: `n${n}`, uid: '', labels: {}, annotations: {} }).addresses,
      );
      assert.ok(node.status?.addresses?.some(({ type, address }) => type === 'Hostname' && address === `n${n}`));
      const { labels = {} } = node.metadata ?? {};
      assert.equal(labels['topology.kubernetes.io/zone'], 'z1');
      assert.equal(labels['beta.kubernetes.io/instance-type'], 't1.micro');
      assert.equal(labels['kubernetes.io/hostname'], `n${n}`);
      const conditions = node.status?.conditions ?? [];
      assert.equal(conditions.find(({ type }) => type === 'NetworkUnavailable')?.reason, 'NoRouteCreated');
      assert.ok(conditions.some(({ type }) => type === 'Ready'));
    }
    const names = Array.from({ length: 40 }, (_, i) => `n${i + 1}`);
    assert.deepEqual(asked.toSorted(), names.toSorted(), 'each is asked about once');
    const both = Array.from({ length: 40 }, (_, i) => [`/api/v1/nodes/n${i + 1}`, `/api/v1/nodes/n${i + 1}/status`]);
    assert.deepEqual(patches.toSorted(), both.flat().toSorted());
  });

  test(`${subject}: writers beside the controller keep their taints, labels and conditions`, async (t) => {
    const client = await setUp(t);
    if (!client) return;
    const nodes = client.of(resources.nodes);
    startController(t, client, { concurrentNodeSyncs: 4 });
    const names = Array.from({ length: 30 }, (_, i) => `n${i + 1}`);
    await Promise.all(
      names.map(async (name) => {
        await nodes.create(hollowNode({ name, images: 2 }));
        for (let i = 0; i < 5; i++) {
          // A whole update with the version that was read, as a controller that knows nothing of us.
          const node = await nodes.get({ name });
          const taints = [{ key: `theirs-${i}`, effect: 'NoSchedule' as const }, ...(node.spec?.taints ?? [])];
          const metadata = { ...node.metadata, labels: { ...node.metadata?.labels, [`theirs-${i}`]: 'x' } };
          await nodes.update({ ...node, metadata, spec: { ...node.spec, taints } }).catch((error: unknown) => {
            if (!isConflict(error)) throw error;
            i -= 1;
          });
        }
        const conditions = [{ type: 'Theirs', status: 'True' }];
        await nodes.patch({ name }, { type: 'strategic', body: { status: { conditions } } }, { subresource: 'status' });
      }),
    );
    for (const node of await allInitialised(nodes)) {
      for (let i = 0; i < 5; i++) {
        assert.ok(
          node.spec?.taints?.some(({ key }) => key === `theirs-${i}`),
          `${node.metadata?.name} lost taint ${i}`,
        );
        assert.equal(node.metadata?.labels?.[`theirs-${i}`], 'x');
      }
      assert.equal(node.metadata?.labels?.['fake.example/rack_row'], 'a');
      assert.ok(node.status?.conditions?.some(({ type }) => type === 'Theirs'));
    }
  });

  test(`${subject}: a patch made for what is no longer there is refused, and changes nothing`, async (t) => {
    const client = await setUp(t);
    if (!client) return;
    const nodes = client.of(resources.nodes);
    const node = await nodes.create(hollowNode({ name: 'n1', images: 2 }));
    const removal = {
      kind: 'patch-object',
      providerID: 'fake://n1',
      setLabels: {},
      addLabels: {},
      removeTaint: true,
    } as const;
    const labelling = {
      kind: 'patch-object',
      setLabels: {},
      addLabels: { 'fake.example/x': 'y' },
      removeTaint: false,
    } as const;
    const seen = { labels: node.metadata?.labels, resourceVersion: '1' };
    const another: Node = { ...node, metadata: { ...node.metadata, uid: '00000000-0000-4000-8000-000000000000' } };
    const refused = (error: unknown): boolean => isConflict(error) || isInvalid(error);

    const addresses = [{ type: 'InternalIP', address: '10.0.0.9' }];
    await assert.rejects(
      nodes.patch({ name: 'n1' }, statusPatch(another, { kind: 'patch-status', addresses }), { subresource: 'status' }),
      refused,
    );
    await assert.rejects(nodes.patch({ name: 'n1' }, objectPatch(another, removal, seen)!), refused);
    await assert.rejects(nodes.patch({ name: 'n1' }, objectPatch(node, labelling, seen)!), refused);
    const first = { key: 'first', effect: 'NoSchedule' as const };
    const moved = { ...node, spec: { taints: [first, ...(node.spec?.taints ?? [])] } };
    await assert.rejects(nodes.patch({ name: 'n1' }, objectPatch(moved, removal, seen)!), refused);

    const { metadata, spec, status } = await nodes.get({ name: 'n1' });
    assert.deepEqual(
      [metadata?.labels, spec, status?.addresses],
      [node.metadata?.labels, node.spec, node.status?.addresses],
    );
  });
}
