import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  resources,
  type Client,
  type KubeObject,
  type Lease,
  type Node,
  type Patch,
  type Resource,
  type ResourceClient,
  type WatchEvent,
} from '@outrigger/kube';
import { FakeClock } from '../fake-clock.ts';
import { startHollowNodes } from './start-hollow-nodes.ts';

/** As much of an API server as a kubelet talks to, in memory. */
class FakeCluster {
  readonly nodes = new Map<string, Node>();
  readonly leases = new Map<string, Lease>();
  readonly statuses: { readonly name: string; readonly ready: string | undefined }[] = [];
  /** Errors for the next requests. */
  readonly failures: Error[] = [];
  /** Of the watches of nodes. */
  readonly fieldSelectors: (string | undefined)[] = [];
  inFlight = 0;
  maxInFlight = 0;
  readonly client: Client = {
    of: <T extends KubeObject>(resource: Resource<T>) => this.#of(resource.plural) as unknown as ResourceClient<T>,
    raw: () => Promise.reject(new Error('not here')),
  };
  readonly #events: WatchEvent<Node>[] = [];
  #wake: () => void = () => {};
  #version = 0;

  /** What a cloud-controller-manager does. */
  initialise(name: string): void {
    const node = this.nodes.get(name)!;
    this.#emit({ ...node, spec: { ...node.spec, taints: [] } });
  }

  #emit(node: Node): void {
    const object = { ...node, metadata: { ...node.metadata, resourceVersion: String(++this.#version) } };
    this.#events.push({ type: 'MODIFIED', object });
    this.#wake();
  }

  #of(plural: string): Partial<ResourceClient<Node>> | Partial<ResourceClient<Lease>> {
    return plural === 'leases' ? this.#leases : (this.#nodes as Partial<ResourceClient<Node>>);
  }

  readonly #nodes = {
    resource: resources.nodes,
    create: (node: Node): Promise<Node> =>
      this.#request(() => {
        const created = { ...node, metadata: { ...node.metadata, uid: `uid-${node.metadata?.name}` } };
        this.nodes.set(node.metadata?.name ?? '', created);
        return created;
      }),
    patch: (ref: { name: string }, patch: Patch): Promise<Node> =>
      this.#request(() => {
        const { conditions = [] } = (patch as { body: { status: NonNullable<Node['status']> } }).body.status;
        this.statuses.push({
          name: ref.name,
          ready: conditions.find((condition) => condition.type === 'Ready')?.status,
        });
        return {};
      }),
    list: () => Promise.resolve({ items: [...this.nodes.values()], resourceVersion: '1' }),
    pages: async function* (): AsyncGenerator<{ items: Node[]; resourceVersion: string }> {
      yield { items: [], resourceVersion: '1' };
    },
    watch: ({
      fieldSelector,
      signal,
      sendInitialEvents,
    }: {
      fieldSelector?: string;
      signal?: AbortSignal;
      sendInitialEvents?: boolean;
    } = {}): AsyncIterable<WatchEvent<Node>> => {
      this.fieldSelectors.push(fieldSelector);
      return this.#watch(signal, sendInitialEvents ?? false);
    },
  };

  readonly #leases = {
    resource: resources.leases,
    create: (lease: Lease): Promise<Lease> => this.#request(() => this.#put(lease)),
    update: (lease: Lease): Promise<Lease> => this.#request(() => this.#put(lease)),
  };

  #put(lease: Lease): Lease {
    this.leases.set(lease.metadata?.name ?? '', lease);
    return lease;
  }

  async *#watch(signal: AbortSignal | undefined, initial: boolean): AsyncGenerator<WatchEvent<Node>> {
    if (initial) {
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '1', annotations } } };
    }
    signal?.addEventListener('abort', () => this.#wake());
    const ended = (): boolean => signal?.aborted ?? false;
    while (!ended()) {
      for (let event = this.#events.shift(); event; event = this.#events.shift()) yield event;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #request<T>(answer: () => T): Promise<T> {
    this.maxInFlight = Math.max(this.maxInFlight, ++this.inFlight);
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.inFlight--;
    const failure = this.failures.shift();
    if (failure) throw failure;
    return answer();
  }
}

const random = (): number => 0.5;

test('nodes register with bounded concurrency and turn Ready only when the taint is gone', async () => {
  const cluster = new FakeCluster();
  const clock = new FakeClock();
  await using nodes = await startHollowNodes({ client: cluster.client, clock, random, count: 40, concurrency: 4 });
  assert.equal(cluster.nodes.size, 40);
  assert.equal(cluster.maxInFlight, 4);
  await clock.settle();
  assert.equal(nodes.ready, 0);
  cluster.initialise('hollow-00007');
  await clock.settle();
  await clock.settle();
  assert.deepEqual(cluster.statuses, [{ name: 'hollow-00007', ready: 'True' }]);
  assert.equal(nodes.ready, 1);
});

test('the watch is of the nodes that the selectors choose', async () => {
  const cluster = new FakeCluster();
  const clock = new FakeClock();
  const selectors = { fieldSelector: 'metadata.name!=other' };
  await using _nodes = await startHollowNodes({ client: cluster.client, clock, random, count: 1, selectors });
  await clock.settle();
  assert.deepEqual(cluster.fieldSelectors, ['metadata.name!=other']);
});

test('a Lease is renewed every 10 s and the status every 5 min, until the kubelet stops', async () => {
  const cluster = new FakeCluster();
  const clock = new FakeClock();
  await using nodes = await startHollowNodes({ client: cluster.client, clock, random, count: 1 });
  await clock.advance(5_000);
  assert.equal(nodes.counts.lease, 1);
  const lease = cluster.leases.get('hollow-00000');
  assert.equal(lease?.spec?.leaseDurationSeconds, 40);
  assert.equal(lease?.metadata?.ownerReferences?.[0]?.uid, 'uid-hollow-00000');
  assert.equal(lease?.spec?.renewTime, '2026-01-01T00:00:05.000000Z');
  await clock.advance(60_000);
  assert.equal(nodes.counts.lease, 7);
  assert.equal(nodes.counts.status, 0);
  await clock.advance(240_000);
  assert.deepEqual(cluster.statuses, [{ name: 'hollow-00000', ready: 'False' }]);
  nodes.stop('hollow-00000');
  const { lease: renewals } = nodes.counts;
  await clock.advance(600_000);
  assert.equal(nodes.counts.lease, renewals);
  nodes.resume('hollow-00000');
  await clock.advance(10_000);
  assert.ok(nodes.counts.lease > renewals);
  assert.throws(() => nodes.stop('nobody'), RangeError);
});

test('registration is tried for ever, from 100 ms to 7 s; a failed heartbeat is made up for by the next', async () => {
  const cluster = new FakeCluster();
  const clock = new FakeClock();
  cluster.failures.push(...Array.from({ length: 9 }, () => new Error('unavailable')));
  const errors: unknown[] = [];
  const starting = startHollowNodes({
    client: cluster.client,
    clock,
    random,
    count: 1,
    onError: (e) => errors.push(e),
  });
  await clock.advance(100 + 200 + 400 + 800 + 1_600 + 3_200 + 6_400 + 7_000 - 1);
  assert.equal(cluster.nodes.size, 0);
  await clock.advance(7_001);
  await using nodes = await starting;
  assert.equal(errors.length, 9);
  cluster.failures.push(new Error('unavailable'));
  await clock.advance(20_000);
  assert.equal(nodes.counts.error, 10);
  assert.ok(nodes.counts.lease >= 1);
});

test('without heartbeats nothing is written after registration; disposal leaves no timer', async () => {
  const cluster = new FakeCluster();
  const clock = new FakeClock();
  const nodes = await startHollowNodes({
    client: cluster.client,
    clock,
    random,
    count: 3,
    heartbeats: false,
    becomeReady: false,
    node: (index) => ({ name: `n${index}`, ip: '10.0.0.1' }),
  });
  await clock.advance(600_000);
  assert.deepEqual(nodes.counts, { registration: 3, lease: 0, status: 0, error: 0 });
  assert.deepEqual(await nodes.add(1), ['n3']);
  await nodes[Symbol.asyncDispose]();
  assert.equal(clock.pendingTimers, 0);
});

test('a signal ends the registration', async () => {
  const cluster = new FakeCluster();
  const controller = new AbortController();
  cluster.failures.push(...Array.from({ length: 100 }, () => new Error('unavailable')));
  const clock = new FakeClock();
  const starting = startHollowNodes({ client: cluster.client, clock, random, count: 1, signal: controller.signal });
  const rejected = assert.rejects(starting, /enough/);
  await clock.advance(1_000);
  controller.abort(new Error('enough'));
  await rejected;
});
