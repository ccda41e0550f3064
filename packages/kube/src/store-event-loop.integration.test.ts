import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { createClient } from './create-client.ts';
import { silentLogger } from './logger.ts';
import { noMetrics } from './metrics.ts';
import { openStore } from './open-store.ts';
import { resources } from './resources.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import type { Node } from './types/index.ts';

const NODES = 5_000;
const NODE_BYTES = 10_000;
const CHUNK_BYTES = 64 * 1024;
/** As the store asks for. */
const PAGE = 500;
const LONGEST_BLOCK_MS = 200;

/** A node of about 10 KB: managedFields, images, labels, conditions, addresses. */
function nodeText(index: number, revision: number): string {
  const name = `node-${index}`;
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `uid-${index}`,
      resourceVersion: String(revision),
      labels: Object.fromEntries(
        Array.from({ length: 17 }, (_, i) => [`topology.example.com/label-${i}`, `value-${i}`]),
      ),
      managedFields: Array.from({ length: 4 }, (_, i) => ({
        manager: `manager-${i}`,
        fieldsV1: { 'f:status': { 'f:conditions': 'x'.repeat(600) } },
      })),
    },
    spec: { providerID: `example://${name}`, podCIDR: '10.0.0.0/24' },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      conditions: Array.from({ length: 5 }, (_, i) => ({
        type: `Condition${i}`,
        status: 'False',
        message: 'as it should be',
      })),
      images: Array.from({ length: 13 }, (_, i) => ({
        names: [`registry.example.com/image-${i}@sha256:${'0'.repeat(64)}`],
        sizeBytes: 1,
      })),
    },
  };
  const text = JSON.stringify(node);
  return `${text.slice(0, -1)},"padding":"${'p'.repeat(Math.max(0, NODE_BYTES - text.length - 13))}"}`;
}

/** Answers the n-th watch with all nodes at revision n, all in memory, and then holds it. */
class Firehose implements Transport {
  #watches = 0;
  #cut = Promise.withResolvers<void>();

  cut(): void {
    this.#cut.resolve();
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    const revision = ++this.#watches;
    request.signal?.addEventListener('abort', () => this.cut(), { once: true });
    return Promise.resolve({ status: 200, headers: {}, body: this.#stream(revision) });
  }

  async *#stream(revision: number): AsyncGenerator<Uint8Array, void, void> {
    let pending = '';
    for (let i = 0; i < NODES; i++) {
      pending += `{"type":"ADDED","object":${nodeText(i, revision)}}\n`;
      if (pending.length < CHUNK_BYTES) continue;
      yield Buffer.from(pending);
      pending = '';
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(revision * 1_000_000), annotations };
    yield Buffer.from(`${pending}${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n`);
    await this.#cut.promise;
    this.#cut = Promise.withResolvers();
    const status = { kind: 'Status', code: 410, reason: 'Expired' };
    yield Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** A listener that does about what a controller does: looks, and puts a key in a queue. */
function createListener(): { listener: (change: { key: string }) => void; calls: () => number } {
  const queue = new Set<string>();
  let calls = 0;
  return {
    listener: ({ key }) => {
      calls++;
      queue.add(JSON.stringify({ key }));
      queue.delete(key);
    },
    calls: () => calls,
  };
}

/** Has no initial streams: answers lists with pages of what was asked for, and watches with silence. */
class Paged implements Transport {
  /** Made before anything is measured: what they cost is the server's. */
  readonly #nodes: readonly Buffer[] = Array.from({ length: NODES }, (_, i) =>
    Buffer.from((i % PAGE > 0 ? ',' : '') + nodeText(i, 7)),
  );

  send(request: TransportRequest): Promise<TransportResponse> {
    const query = new URLSearchParams(request.path.split('?')[1]);
    const refused = query.get('sendInitialEvents') === 'true';
    const body = query.get('watch') === 'true' ? this.#silence(request.signal ?? undefined) : this.#page(query);
    return Promise.resolve({ status: refused ? 422 : 200, headers: {}, body: refused ? nothing() : body });
  }

  // oxlint-disable-next-line typescript/require-await -- a page that is all there
  async *#page(query: URLSearchParams): AsyncGenerator<Uint8Array, void, void> {
    const from = Number(query.get('continue') ?? 0);
    assert.equal(query.get('limit'), String(PAGE));
    const to = from + PAGE;
    const metadata = { resourceVersion: '7', ...(to < NODES && { continue: String(to) }) };
    yield Buffer.from(`{"metadata":${JSON.stringify(metadata)},"items":[`);
    yield* this.#nodes.slice(from, to);
    yield Buffer.from(']}');
  }

  // oxlint-disable-next-line require-yield
  async *#silence(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, void> {
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

// oxlint-disable-next-line require-yield, typescript/require-await
async function* nothing(): AsyncGenerator<Uint8Array, void, void> {
  return;
}

/**
 * The longest turn of the event loop, in milliseconds of this thread's own processor time: what the code holds the loop up
 * for, and not what others on the same machine do to it.
 */
class LongestTurn implements Disposable {
  #longest = 0;
  #last = cpuMs();
  #next: NodeJS.Immediate = setImmediate(() => this.#turn());

  /** Since the last call. */
  take(): number {
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  #turn(): void {
    const now = cpuMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
    this.#next = setImmediate(() => this.#turn());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

test(`${NODES} nodes of ${NODE_BYTES} bytes in pages never block the event loop for ${LONGEST_BLOCK_MS} ms`, async (t) => {
  const transport = new Paged();
  using turns = new LongestTurn();
  await using store = openStore({
    client: createClient(transport),
    resource: resources.nodes,
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
  });
  await store.whenSynced();
  assert.equal(store.size, NODES);
  const ms = turns.take();
  t.diagnostic(`list in pages: longest block ${ms.toFixed(0)} ms`);
  assert.ok(ms < LONGEST_BLOCK_MS, `the event loop stood still for ${ms.toFixed(0)} ms`);
});

test(`${NODES} nodes of ${NODE_BYTES} bytes: list, relist with every node changed, and subscribers never block the event loop for ${LONGEST_BLOCK_MS} ms`, async (t) => {
  const transport = new Firehose();
  await using store = openStore({
    client: createClient(transport),
    resource: resources.nodes,
    clock: systemClock,
    logger: silentLogger,
    metrics: noMetrics,
    random: () => 0,
    indexers: { providerID: (node) => (node.spec?.providerID ? [node.spec.providerID] : []) },
  });
  const early = createListener();
  store.subscribe(early.listener);
  using turns = new LongestTurn();
  const longest = (what: string): void => {
    const ms = turns.take();
    t.diagnostic(`${what}: longest block ${ms.toFixed(0)} ms`);
    assert.ok(ms < LONGEST_BLOCK_MS, `${what}: the event loop stood still for ${ms.toFixed(0)} ms`);
  };

  await store.whenSynced();
  assert.equal(store.size, NODES);
  // The transform has cut the node before it was kept.
  assert.equal(store.get('node-7')?.metadata?.managedFields, undefined);
  longest('list');

  const late = createListener();
  store.subscribe(late.listener);
  while (late.calls() < NODES) await new Promise<void>((resolve) => void setImmediate(resolve));
  longest('initial adds of a subscriber');

  transport.cut();
  while (early.calls() < 2 * NODES || late.calls() < 2 * NODES) await systemClock.sleep(20);
  longest('relist and its difference');
  assert.equal(store.byIndex('providerID', 'example://node-7')[0]?.metadata?.resourceVersion, '2');
});
