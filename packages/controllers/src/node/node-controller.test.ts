// Over 400 lines: one rig, and one test for each way in which clouds, writers and watches can be in the way.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CloudError, type Instance, type InstanceResult, type NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import { silentLogger, StatusError, type EventNote, type LogFields, type Metrics, type Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { ToldHints } from '../told-hints.suite.ts';
import { FakeNodeApi } from './fake-node-api.suite.ts';
import { createNodeController } from './node-controller.ts';
import type { NodeControllerOptions } from './node-dependencies.ts';
import { uninitializedTaintKey } from './well-known-names.ts';

const uninitialized = { key: uninitializedTaintKey, value: 'true', effect: 'NoSchedule' } as const;
const other = { key: 'other', effect: 'NoSchedule' } as const;

function newNode(name: string, more: Partial<NonNullable<Node['spec']>> = {}): Node {
  return {
    metadata: { name, uid: `uid-${name}`, labels: { a: 'b' }, creationTimestamp: '2025-12-31T23:59:50Z' },
    spec: { taints: [other, uninitialized], ...more },
    status: { addresses: [{ type: 'Hostname', address: name }] },
  };
}

const initialised = (name: string): Node => newNode(name, { taints: [], providerID: `fake://${name}` });
const isTainted = (node: Node | undefined): boolean =>
  !!node?.spec?.taints?.some(({ key }) => key === uninitializedTaintKey);

function instanceOf(name: string, more: Partial<Instance> = {}): InstanceResult {
  const address = `10.0.0.${/\d+$/.exec(name)?.[0] ?? '1'}`;
  return {
    kind: 'found',
    instance: {
      providerID: `fake://${name}`,
      state: 'running',
      addresses: [{ type: 'InternalIP', address }],
      zone: 'z1',
      ...more,
    },
  };
}

/** Look-ups that take all questions of one turn into one batch, as the real ones do. */
class FakeLookups {
  readonly clock: FakeClock;
  readonly hints = new ToldHints();
  readonly batches: (readonly string[])[] = [];
  readonly forgotten: string[] = [];
  answer: (node: NodeRef) => InstanceResult = ({ name }) => instanceOf(name);
  /** While set, answers wait for it. */
  gate: Promise<void> | undefined;
  /** Of the answers, where it is not now. */
  asOf: number | undefined;
  #gathering: { node: NodeRef; resolve: (answer: DatedAnswer) => void }[] = [];
  machineOf: (providerID: string) => string = (providerID) => providerID;
  /** The last answer, as the snapshot has it. */
  shown: DatedAnswer | undefined;
  readonly snapshot: {
    get(): DatedAnswer | undefined;
    subscribe(): () => void;
    forget(uid: string): void;
    size: number;
  } = {
    get: () => this.shown,
    subscribe: () => () => {},
    forget: (uid) => void this.forgotten.push(uid),
    size: 0,
  };

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  lookUp(node: NodeRef): Promise<DatedAnswer> {
    if (this.#gathering.length === 0) queueMicrotask(() => void this.#flush());
    return new Promise((resolve) => void this.#gathering.push({ node, resolve }));
  }

  async #flush(): Promise<void> {
    const batch = this.#gathering;
    this.#gathering = [];
    this.batches.push(batch.map(({ node }) => node.name));
    const asOf = this.asOf ?? this.clock.monotonic();
    await this.gate;
    for (const { node, resolve } of batch) resolve({ asOf, result: this.answer(node) });
  }
}

class Counts {
  readonly values = new Map<string, number[]>();

  readonly metrics: Metrics = {
    counter: ({ name }) => ({
      inc: (labels, value = 1) => this.#add(`${name} ${Object.values(labels ?? {}).join()}`.trim(), value),
    }),
    gauge: () => ({ set: () => {} }),
    histogram: ({ name }) => ({ observe: (value) => this.#add(name, value) }),
    onCollect: () => {},
  };

  #add(name: string, value: number): void {
    this.values.set(name, [...(this.values.get(name) ?? []), value]);
  }
}

interface Rig {
  readonly api: FakeNodeApi;
  readonly clock: FakeClock;
  readonly lookups: FakeLookups;
  readonly events: { readonly name: string; readonly note: EventNote }[];
  readonly counts: Counts;
  readonly errors: LogFields[];
  start(options?: Partial<NodeControllerOptions>): Promise<void>;
  stop(): Promise<void>;
  /** What is said to have been observed of a node. */
  explain(name: string): readonly string[];
  /** Of each line of the list: the name, the state and what is planned. */
  list(): readonly (readonly [string, string, readonly string[]])[];
  /** How long the nodes took that were initialised; each time once. */
  took(): readonly (number | undefined)[];
}

function setUp(t: TestContext): Rig {
  const api = new FakeNodeApi();
  const clock = new FakeClock();
  const lookups = new FakeLookups(clock);
  const events: { name: string; note: EventNote }[] = [];
  const counts = new Counts();
  const errors: LogFields[] = [];
  const logger = {
    ...silentLogger,
    error: (_: string, fields: LogFields = {}) => void errors.push(fields),
    with: () => logger,
  };
  const ended = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let controller: ReturnType<typeof createNodeController> | undefined;
  const rig: Rig = {
    api,
    clock,
    lookups,
    events,
    counts,
    errors,
    async start(options = {}) {
      controller = createNodeController({
        client: api.client,
        store: api.store,
        lookups,
        events: { record: (about, note) => void events.push({ name: about.metadata?.name ?? '', note }) },
        clock,
        logger,
        metrics: counts.metrics,
        random: () => 0.5,
        options: { providerName: 'fake', ...options },
      });
      running = controller.run(ended.signal);
      await clock.settle();
    },
    async stop() {
      ended.abort();
      await running;
    },
    explain: (name) => controller?.explain(name)?.observed.map(({ text }) => text) ?? [],
    list: () =>
      Array.from(controller?.list?.('node') ?? [], ({ name, planned, state }) => [
        name,
        state,
        planned.map(({ text }) => text),
      ]),
    took: () => [...new Set(Array.from(controller?.list?.('node') ?? [], ({ tookMs }) => tookMs))],
  };
  t.after(() => rig.stop());
  return rig;
}

const settle = async (rig: Rig): Promise<void> => {
  for (let i = 0; i < 5; i++) await rig.clock.settle();
};

test('a thousand new nodes are asked about in one turn, and take two writes each', async (t) => {
  const rig = setUp(t);
  for (let i = 0; i < 1_000; i++) rig.api.put(newNode(`n${i}`));
  await rig.start();
  await settle(rig);
  assert.deepEqual(
    rig.lookups.batches.map(({ length }) => length),
    [1_000],
  );
  assert.equal(rig.api.writes.length, 2_000);
  assert.equal(rig.api.gets, 0);
  assert.ok(
    [...rig.api.nodes.values()].every(
      (node) => !isTainted(node) && node.spec?.providerID && node.status?.addresses?.length === 2,
    ),
  );
  assert.deepEqual(rig.events, []);
  assert.deepEqual(
    rig.counts.values.get('node_controller_cloud_provider_taint_removal_delay_seconds')?.slice(0, 2),
    [10, 10],
  );
  assert.equal(rig.counts.values.get('node_controller_initial_node_sync_delay_seconds')?.length, 1_000);
  rig.lookups.shown = { asOf: 0, result: { kind: 'missing' } };
  assert.deepEqual([rig.list().length, rig.list()[0]], [1_000, ['n0', 'nothing', []]]);
  assert.deepEqual(rig.took(), [10_000]);
  rig.api.remove('n0');
  await settle(rig);
  assert.equal(rig.list().length, 999);
});

test('an explanation shows how the answer came about', async (t) => {
  const rig = setUp(t);
  rig.api.put(initialised('n1'));
  rig.lookups.shown = { asOf: 0, result: instanceOf('n1'), notes: ['fe80::1 is dropped: it is link-local.'] };
  await rig.start();
  assert.deepEqual(rig.explain('n1').slice(-2), [
    'Look-up: its machine is fake://n1, running: zone z1, InternalIP 10.0.0.1.',
    'fe80::1 is dropped: it is link-local.',
  ]);
});

test('the list has the nodes for which something is planned or waited for, and no others', async (t) => {
  const rig = setUp(t);
  rig.lookups.shown = { asOf: 0, result: { kind: 'missing' } };
  rig.lookups.answer = () => ({ kind: 'missing' });
  rig.api.put(initialised('n1'));
  await rig.start();
  await settle(rig);
  assert.deepEqual(rig.list(), []);
  rig.api.put(newNode('n2'));
  await settle(rig);
  const listed = rig.list().find(([name]) => name === 'n2');
  assert.equal(listed?.[1], 'wait');
  assert.equal(listed?.[2].at(-1), 'Look it up in the cloud again.');
});

test('heartbeats while the cloud is being asked, and while a node waits, ask nothing more', async (t) => {
  const rig = setUp(t);
  const gate = Promise.withResolvers<void>();
  rig.lookups.gate = gate.promise;
  rig.lookups.answer = () => ({ kind: 'missing' });
  rig.api.put(newNode('n1'));
  await rig.start();
  const heartbeat = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) rig.api.put({ ...rig.api.nodes.get('n1') });
    await rig.clock.settle();
  };
  await heartbeat();
  assert.equal(rig.lookups.batches.length, 1);
  gate.resolve();
  await heartbeat();
  await heartbeat();
  assert.equal(rig.lookups.batches.length, 1);
  assert.deepEqual(rig.api.writes, []);
});

test('nodes that the cloud does not know are asked about again in shared rounds, for ever, and a person is told once for long', async (t) => {
  const rig = setUp(t);
  rig.lookups.answer = () => ({ kind: 'missing' });
  rig.api.put(newNode('n1'));
  await rig.start();
  await rig.clock.advance(300);
  rig.api.put(newNode('n2'));
  await rig.clock.advance(1_000);
  // Both by themselves, then one round of both.
  assert.deepEqual(rig.lookups.batches.slice(0, 3), [['n1'], ['n2'], ['n1', 'n2']]);
  assert.equal(rig.events.length, 0);
  await rig.clock.advance(1_200_000);
  const rounds = rig.lookups.batches.length;
  assert.ok(rounds > 8 && rounds < 18, String(rounds));
  assert.deepEqual(
    rig.events.map(({ name, note }) => [name, note.type, note.reason]),
    [
      ['n1', 'Warning', 'InstanceNotFound'],
      ['n2', 'Warning', 'InstanceNotFound'],
    ],
  );
  rig.lookups.answer = ({ name }) => instanceOf(name);
  await rig.clock.advance(450_000);
  assert.ok(!isTainted(rig.api.nodes.get('n1')) && !isTainted(rig.api.nodes.get('n2')));
  assert.ok((rig.counts.values.get('outrigger_node_initialization_waits_total missing')?.length ?? 0) > 10);
});

test('a throttled cloud is asked again when it said, not before', async (t) => {
  const rig = setUp(t);
  rig.lookups.answer = () => ({
    kind: 'failed',
    error: new CloudError('throttled', 'slow down', { retryAfterMs: 60_000 }),
  });
  rig.api.put(newNode('n1'));
  await rig.start();
  await rig.clock.advance(59_999);
  assert.equal(rig.lookups.batches.length, 1);
  await rig.clock.advance(2);
  assert.equal(rig.lookups.batches.length, 2);
});

test('a node that is implemented elsewhere is neither told about nor asked about with each heartbeat', async (t) => {
  const rig = setUp(t);
  rig.lookups.answer = () => ({ kind: 'failed', error: new CloudError('implemented-elsewhere', 'not mine') });
  rig.api.put(newNode('n1'));
  await rig.start();
  for (let i = 0; i < 10; i++) {
    rig.api.put({ ...rig.api.nodes.get('n1') });
    await rig.clock.settle();
  }
  assert.equal(rig.lookups.batches.length, 1);
  assert.deepEqual(rig.events, []);
});

test('a taint that moves between reading and writing is removed all the same, and the other writer keeps his', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  let raced = false;
  rig.api.before = ({ verb, subresource }) => {
    if (raced || verb !== 'patch' || subresource !== '') return;
    raced = true;
    const node = rig.api.nodes.get('n1')!;
    rig.api.put({
      ...node,
      spec: { ...node.spec, taints: [{ key: 'new', effect: 'NoExecute' }, ...(node.spec?.taints ?? [])] },
    });
  };
  await rig.start();
  await settle(rig);
  assert.deepEqual(rig.api.nodes.get('n1')?.spec?.taints, [{ key: 'new', effect: 'NoExecute' }, other]);
  assert.equal(rig.api.gets, 1);
  assert.deepEqual(rig.errors, []);
});

test('a node that changes under each write is tried again with back-off, and the next pass reads it live', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  let refusals = 4;
  rig.api.before = ({ verb, subresource }) => {
    if (verb === 'patch' && subresource === '' && refusals-- > 0)
      throw new StatusError('PATCH', 409, { reason: 'Conflict', code: 409 });
  };
  await rig.start();
  await settle(rig);
  assert.equal(rig.api.gets, 1);
  assert.ok(isTainted(rig.api.nodes.get('n1')));
  await rig.clock.advance(500);
  assert.ok(!isTainted(rig.api.nodes.get('n1')));
  assert.equal(rig.lookups.batches.length, 1);
});

test('an answer that is lost after the write took effect does no harm, at either write', async (t) => {
  for (const lostAt of ['status', '']) {
    const rig = setUp(t);
    rig.api.put(newNode('n1'));
    let lost = false;
    rig.api.after = ({ subresource }) => {
      if (lost || subresource !== lostAt) return;
      lost = true;
      throw new Error('connection reset');
    };
    await rig.start();
    await rig.clock.advance(1_000);
    const node = rig.api.nodes.get('n1');
    assert.deepEqual(node?.spec?.taints, [other]);
    assert.equal(node?.status?.addresses?.length, 2);
    assert.equal(rig.api.writes.length, 2);
    await rig.stop();
  }
});

test('a store that lags behind our own writes is not acted on', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  rig.api.holdWatch = true;
  await rig.start();
  await settle(rig);
  assert.equal(rig.api.writes.length, 2);
  rig.api.holdWatch = false;
  rig.api.publish();
  await settle(rig);
  assert.equal(rig.api.writes.length, 2);
  assert.equal(rig.lookups.batches.length, 1);
});

test('a write that fails while the store lags goes on when the store has caught up', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  rig.api.holdWatch = true;
  let failures = 1;
  rig.api.before = ({ subresource }) => {
    if (subresource === '' && failures-- > 0) throw new StatusError('PATCH', 500, { code: 500 });
  };
  await rig.start();
  await rig.clock.advance(1_000);
  assert.ok(isTainted(rig.api.nodes.get('n1')));
  rig.api.holdWatch = false;
  rig.api.publish();
  await settle(rig);
  assert.ok(!isTainted(rig.api.nodes.get('n1')));
});

test('a node that goes away while it is written is no error; one of the same name starts anew', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  let once = true;
  rig.api.before = ({ verb }) => {
    if (verb !== 'patch' || !once) return;
    once = false;
    rig.api.remove('n1');
  };
  await rig.start();
  await settle(rig);
  assert.deepEqual(rig.errors, []);
  assert.deepEqual(rig.lookups.forgotten, ['uid-n1']);
  const again = newNode('n1');
  again.metadata!.uid = 'uid-2';
  rig.api.put(again);
  await settle(rig);
  assert.equal(rig.lookups.batches.length, 2);
  assert.ok(!isTainted(rig.api.nodes.get('n1')));
});

test('a node that is replaced under its name between two writes does not get the answer about the first', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  let once = true;
  rig.api.before = ({ verb, subresource }) => {
    if (verb !== 'patch' || subresource !== '' || !once) return;
    once = false;
    const second = newNode('n1');
    second.metadata!.uid = 'uid-2';
    rig.lookups.answer = () => ({ kind: 'missing' });
    rig.api.put(second);
  };
  await rig.start();
  await settle(rig);
  const node = rig.api.nodes.get('n1');
  assert.equal(node?.metadata?.uid, 'uid-2');
  assert.ok(isTainted(node));
  assert.equal(node?.spec?.providerID, undefined);
});

test('no more nodes are written at a time than allowed', async (t) => {
  const rig = setUp(t);
  for (let i = 0; i < 20; i++) rig.api.put(newNode(`n${i}`));
  let inFlight = 0;
  let most = 0;
  rig.api.before = () => void (most = Math.max(most, ++inFlight));
  rig.api.after = () => void inFlight--;
  await rig.start({ concurrentNodeSyncs: 3 });
  await settle(rig);
  assert.equal(rig.api.writes.length, 40);
  assert.ok(most <= 3, String(most));
});

test('nodes that join together are written together: the last does not wait for several writes of the others', async (t) => {
  const rig = setUp(t);
  const NODES = 30;
  const WRITE_MS = 100;
  for (let i = 0; i < NODES; i++) rig.api.put(newNode(`n${i}`));
  rig.api.writing = () => rig.clock.sleep(WRITE_MS);
  await rig.start();
  // Each is written twice: its status, and then the rest.
  await settle(rig);
  await rig.clock.advance(2 * WRITE_MS);
  await settle(rig);
  const waiting = [...rig.api.nodes.values()].filter((node) => isTainted(node)).length;
  await rig.clock.advance(20 * WRITE_MS);
  assert.equal(waiting, 0);
});

test('the refresh asks once a period about each of our nodes, in batches spread over the period, and writes nothing new', async (t) => {
  const rig = setUp(t);
  for (let i = 0; i < 10; i++) {
    const node = initialised(`n${i}`);
    node.status = {
      addresses: [
        { type: 'InternalIP', address: `10.0.0.${i}` },
        { type: 'Hostname', address: `n${i}` },
      ],
    };
    node.metadata!.labels = { 'topology.kubernetes.io/zone': 'z1', 'failure-domain.beta.kubernetes.io/zone': 'z1' };
    rig.api.put(node);
  }
  rig.api.put(newNode('foreign', { taints: [], providerID: 'aws:///a/i-1' }));
  rig.api.put(newNode('nobodys', { taints: [] }));
  await rig.start({ batchSize: 4, nodeStatusUpdateFrequencyMs: 300_000 });
  assert.deepEqual(rig.lookups.batches, []);
  const times: number[] = [];
  for (let i = 0; i < 120; i++) {
    const before = rig.lookups.batches.length;
    await rig.clock.advance(5_000);
    if (rig.lookups.batches.length > before) times.push(rig.clock.monotonic() / 1_000);
  }
  assert.deepEqual(times, [50, 150, 250, 350, 450, 550]);
  assert.deepEqual(
    rig.lookups.batches.map(({ length }) => length),
    [4, 4, 2, 4, 4, 2],
  );
  assert.deepEqual(rig.api.writes, []);
});

test('a refresh changes addresses, and tells and counts a label that differs once', async (t) => {
  const rig = setUp(t);
  const node = initialised('n1');
  node.metadata!.labels = { 'topology.kubernetes.io/zone': 'mine' };
  rig.api.put(node);
  await rig.start({ nodeStatusUpdateFrequencyMs: 60_000 });
  await rig.clock.advance(600_000);
  assert.equal(rig.api.writes.length, 1);
  assert.deepEqual(rig.api.nodes.get('n1')?.status?.addresses?.[0], { type: 'InternalIP', address: '10.0.0.1' });
  assert.deepEqual(
    rig.events.map(({ note }) => note.reason),
    ['LabelsDiffer'],
  );
  assert.deepEqual(rig.counts.values.get('outrigger_node_label_differences_total topology.kubernetes.io/zone'), [1]);
});

test('a failed refresh changes nothing, and the next one comes', async (t) => {
  const rig = setUp(t);
  rig.api.put(initialised('n1'));
  rig.lookups.answer = () => ({ kind: 'failed', error: new CloudError('timeout', 'x') });
  await rig.start({ nodeStatusUpdateFrequencyMs: 60_000 });
  await rig.clock.advance(125_000);
  assert.equal(rig.lookups.batches.length, 2);
  assert.deepEqual([rig.api.writes, rig.events], [[], []]);
});

test('beta labels are copied on an event, without the cloud', async (t) => {
  const rig = setUp(t);
  rig.api.put(initialised('n1'));
  await rig.start();
  const node = rig.api.nodes.get('n1')!;
  rig.api.put({ ...node, metadata: { ...node.metadata, labels: { 'beta.kubernetes.io/instance-type': 't1' } } });
  await settle(rig);
  assert.equal(rig.api.nodes.get('n1')?.metadata?.labels?.['node.kubernetes.io/instance-type'], 't1');
  assert.deepEqual([rig.lookups.batches.length, rig.api.writes.length], [0, 1]);
});

test('an answer from a cache of the provider is used, however old what it rests on', async (t) => {
  const rig = setUp(t);
  await rig.clock.advance(600_000);
  rig.lookups.asOf = 0;
  rig.api.put(newNode('n1'));
  await rig.start();
  await settle(rig);
  assert.ok(!isTainted(rig.api.nodes.get('n1')));
  assert.equal(rig.lookups.batches.length, 1);
});

test('a cloud is not asked again about nodes that wait minutes for a slow API server', async (t) => {
  const rig = setUp(t);
  for (let i = 0; i < 500; i++) rig.api.put(newNode(`n${i}`));
  rig.api.writing = () => rig.clock.sleep(1_000);
  await rig.start({ concurrentNodeSyncs: 8 });
  // 1,000 writes, 8 at a time: two minutes.
  for (let s = 0; s < 150; s++) await rig.clock.advance(1_000);
  assert.ok([...rig.api.nodes.values()].every((node) => !isTainted(node)));
  assert.deepEqual(
    rig.lookups.batches.map(({ length }) => length),
    [500],
  );
});

test('an answer that could not be acted on for a minute is asked for again', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  rig.api.before = () => {
    throw new StatusError('PATCH', 503, { code: 503 });
  };
  await rig.start();
  await rig.clock.advance(59_000);
  assert.equal(rig.lookups.batches.length, 1);
  await rig.clock.advance(120_000);
  assert.ok(rig.lookups.batches.length >= 2);
  rig.api.before = () => {};
  await rig.clock.advance(300_000);
  assert.ok(!isTainted(rig.api.nodes.get('n1')));
});

test('a look-up that ends without an answer is asked again in a round', async (t) => {
  const rig = setUp(t);
  rig.lookups.gate = Promise.resolve();
  let rejections = 1;
  const lookUp = rig.lookups.lookUp.bind(rig.lookups);
  rig.lookups.lookUp = (node): Promise<DatedAnswer> =>
    rejections-- > 0 ? Promise.reject(new Error('disposed')) : lookUp(node);
  rig.api.put(newNode('n1'));
  await rig.start();
  assert.ok(isTainted(rig.api.nodes.get('n1')));
  await rig.clock.advance(2_000);
  assert.ok(!isTainted(rig.api.nodes.get('n1')));
});

test('a node that goes away while it waits leaves its round', async (t) => {
  const rig = setUp(t);
  rig.lookups.answer = () => ({ kind: 'missing' });
  rig.api.put(newNode('n1'));
  await rig.start();
  const timers = rig.clock.pendingTimers;
  rig.api.remove('n1');
  assert.equal(rig.clock.pendingTimers, timers - 1);
  await rig.clock.advance(10_000);
  assert.equal(rig.lookups.batches.length, 1);
});

test('stopping ends between two writes, leaves no timer, and starts nothing more', async (t) => {
  const rig = setUp(t);
  rig.api.put(newNode('n1'));
  rig.lookups.answer = ({ name }) => (name === 'n1' ? instanceOf(name) : { kind: 'missing' });
  rig.api.put(newNode('n2'));
  rig.api.after = () => void rig.stop();
  await rig.start();
  await settle(rig);
  await rig.stop();
  assert.deepEqual(
    rig.api.writes.map(({ subresource }) => subresource),
    ['status'],
  );
  assert.ok(isTainted(rig.api.nodes.get('n1')));
  rig.api.put(newNode('n3'));
  await settle(rig);
  assert.equal(rig.lookups.batches.length, 1);
  assert.equal(rig.clock.pendingTimers, 0);
});

for (const registered of ['before', 'with', 'after'] as const) {
  test(`two nodes of one machine, one registered ${registered} the start: the older stays, the newer keeps its taint, both are told`, async (t) => {
    const rig = setUp(t);
    const aged = (name: string, creationTimestamp: string, more: Partial<NonNullable<Node['spec']>> = {}): Node => {
      const node = newNode(name, more);
      return { ...node, metadata: { ...node.metadata, creationTimestamp } };
    };
    rig.lookups.answer = () => instanceOf('n1');
    const older = aged(
      'n1',
      '2025-12-31T10:00:00Z',
      registered === 'before' ? { taints: [], providerID: 'fake://n1' } : {},
    );
    // As who may register a node can write it.
    const newer = aged('n2', '2025-12-31T11:00:00Z', { providerID: 'fake://n1' });
    rig.api.put(older);
    if (registered !== 'after') rig.api.put(newer);
    await rig.start();
    await rig.clock.advance(10);
    if (registered === 'after') {
      rig.api.put(newer);
      await rig.clock.advance(10);
    }
    assert.deepEqual(
      ['n1', 'n2'].map((name) => isTainted(rig.api.nodes.get(name))),
      [false, true],
    );
    const told = rig.events.filter(({ note }) => note.reason === 'DuplicateProviderID');
    assert.deepEqual(told.map(({ name }) => name).toSorted(), ['n1', 'n2']);
    for (const { note } of told) assert.match(note.message, /n1 is older and is kept; n2 keeps its taint/);
    assert.deepEqual(rig.api.nodes.get('n2')?.status?.addresses, [{ type: 'Hostname', address: 'n2' }]);
    // The machine has a new name: who deletes the old node lets the new one in.
    rig.api.remove('n1');
    await rig.clock.advance(300_000);
    assert.equal(isTainted(rig.api.nodes.get('n2')), false);
    await rig.stop();
  });
}

test('a node whose provider ID is another form of that of an older node keeps its taint', async (t) => {
  const rig = setUp(t);
  rig.lookups.machineOf = (providerID) => providerID.split('/').at(-1) ?? '';
  const aged = (name: string, creationTimestamp: string, spec: Partial<NonNullable<Node['spec']>>): Node => {
    const node = newNode(name, spec);
    return { ...node, metadata: { ...node.metadata, creationTimestamp } };
  };
  // As providers answer: a node keeps the form that it has.
  rig.lookups.answer = ({ name, providerID = '' }) => {
    const found = instanceOf(name);
    return found.kind === 'found' ? { ...found, instance: { ...found.instance, providerID } } : found;
  };
  rig.api.put(aged('n1', '2025-12-31T10:00:00Z', { taints: [], providerID: 'fake://n1' }));
  rig.api.put(aged('n2', '2025-12-31T11:00:00Z', { providerID: 'fake://zone/n1' }));
  rig.api.put(aged('n3', '2025-12-31T11:00:00Z', { providerID: 'fake://zone/n3' }));
  await rig.start();
  await rig.clock.advance(10);
  const tainted = ['n1', 'n2', 'n3'].filter((name) => isTainted(rig.api.nodes.get(name)));
  assert.deepEqual(tainted, ['n2']);
  const told = rig.events.filter(({ note }) => note.reason === 'DuplicateProviderID');
  assert.deepEqual(told.map(({ name }) => name).toSorted(), ['n1', 'n2']);
  await rig.stop();
});

test('two nodes of one machine that both are initialised already stay so, and are told at the next refresh', async (t) => {
  const rig = setUp(t);
  rig.lookups.answer = () => instanceOf('n1');
  for (const name of ['n1', 'n2']) rig.api.put(newNode(name, { taints: [], providerID: 'fake://n1' }));
  await rig.start();
  await rig.clock.advance(600_000);
  const told = rig.events.filter(({ note }) => note.reason === 'DuplicateProviderID');
  assert.deepEqual(told.map(({ name }) => name).toSorted(), ['n1', 'n2']);
  assert.match(told.find(({ name }) => name === 'n1')?.note.message ?? '', /n1 and n2 belong to the same machine/);
  await rig.stop();
});

test('a node that waits is asked about at once when its machine is hinted at, and an initialised one too', async (t) => {
  const rig = setUp(t);
  rig.lookups.answer = () => ({ kind: 'missing' });
  rig.api.put(newNode('waits'));
  rig.api.put(initialised('there'));
  rig.api.put(newNode('foreign', { taints: [], providerID: 'aws:///a/i-1' }));
  await rig.start();
  await rig.clock.advance(100_000);
  const asked = rig.lookups.batches.length;
  rig.lookups.answer = ({ name }) => instanceOf(name);
  rig.lookups.hints.tell({ names: ['waits', 'nobody'], ids: ['fake://there', 'aws:///a/i-1'] });
  await settle(rig);
  assert.deepEqual(rig.lookups.batches.slice(asked), [['waits', 'there']]);
  assert.ok(!isTainted(rig.api.nodes.get('waits')));
  await rig.clock.advance(60_000);
  assert.equal(rig.lookups.batches.length, asked + 1);
  await rig.stop();
  assert.equal(rig.lookups.hints.listeners, 0);
});

test('hints that lie cost a look-up each, and change nothing', async (t) => {
  const rig = setUp(t);
  for (let i = 0; i < 10; i++) rig.api.put(initialised(`n${i}`));
  rig.lookups.answer = ({ name }) => instanceOf(name);
  await rig.start({ nodeStatusUpdateFrequencyMs: 3_600_000 });
  rig.lookups.hints.tell({ all: true });
  await settle(rig);
  const writes = rig.api.writes.length;
  for (let i = 0; i < 10; i++) {
    rig.lookups.hints.tell({ names: ['n1', 'unknown'] });
    await settle(rig);
  }
  assert.deepEqual(
    rig.lookups.batches.slice(1),
    Array.from({ length: 10 }, () => ['n1']),
  );
  assert.equal(rig.api.writes.length, writes);
});
