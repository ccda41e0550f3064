import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type InstanceAnswer, type NodeTagResult } from '@outrigger/cloud-provider';
import { createInstanceLookups, type MakeCallContext } from '@outrigger/cloud-runtime';
import { noMetrics, silentLogger, type Taint } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { Journal } from '../journal.ts';
import { FakeNodeApi } from './fake-node-api.suite.ts';
import { createNodeController, type NodeController } from './node-controller.ts';

const WANTED: Readonly<Record<string, string>> = { team: 'infra', stage: 'test' };
const TAINT: Taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' };
const SUMMARY = 'put the tags team=infra, stage=test on its machine';
const MINUTE = 60_000;
/** Of the node controller: each node is looked up once in it. */
const PERIOD = 5 * MINUTE;

const callContext: MakeCallContext = ({ signal, priority }) => ({
  signal,
  priority,
  logger: silentLogger,
  call: (_operation, send) => send(signal),
});

/** Nodes in memory, and a cloud that has the tags of their machines. */
class Rig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  /** Tags, by the name of the node. */
  readonly machines: Map<string, Record<string, string>> = new Map();
  /** Provider IDs of each `put`, without their prefix. */
  readonly puts: (readonly string[])[] = [];
  readonly events: string[] = [];
  readonly journal: Journal;
  readonly controller: NodeController;
  /** Of one machine. */
  onPut: (name: string) => Error | undefined = () => undefined;
  /** While set, an answer waits for it. */
  gate: Promise<void> | undefined;
  /** How long the cloud takes for a batch. */
  putMs = 0;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;

  constructor({ dryRun = false } = {}) {
    const { api, clock } = this;
    this.journal = new Journal({ clock, logger: silentLogger, dryRun, redact: (text) => text });
    const lookups = createInstanceLookups({
      instances: {
        lookUp: async (nodes) =>
          nodes.map(({ name }): InstanceAnswer => ({ asOf: clock.monotonic(), result: this.#found(name) })),
        read: () => Promise.reject(new Error('nothing is read directly')),
      },
      clock,
      logger: silentLogger,
      callContext,
    });
    this.controller = createNodeController({
      client: api.client,
      store: api.store,
      lookups,
      provider: {
        callContext,
        capabilities: {
          nodeTags: {
            put: async (nodes) => {
              const names = nodes.map(({ providerID = '' }) => providerID.replace('test://', ''));
              this.puts.push(names);
              await this.gate;
              if (this.putMs > 0) await this.clock.sleep(this.putMs);
              return names.map((name): NodeTagResult => {
                const error = this.onPut(name);
                if (error) return { kind: 'failed', error };
                Object.assign(this.machines.get(name) ?? {}, WANTED);
                return { kind: 'done' };
              });
            },
          },
        },
      },
      events: {
        record: ({ metadata }, { message, reason }) => void this.events.push(`${metadata?.name} ${reason} ${message}`),
      },
      clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      journal: this.journal.of('cloud-node-controller'),
      options: { providerName: 'test' },
    });
    this.#running = this.controller.run(this.#ended.signal).then(() => lookups[Symbol.asyncDispose]());
  }

  /** A node, and its machine, which has one tag. */
  join(name: string, { providerID = '', taints = [TAINT] } = {}): void {
    this.machines.set(name, { own: 'kept', ...this.machines.get(name) });
    const status = { addresses: [{ type: 'InternalIP' as const, address: '10.0.0.1' }] };
    const spec = { ...(providerID && { providerID }), taints };
    this.api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}` }, spec, status });
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    for (let i = 0; i < 10; i++) await this.clock.settle();
  }

  #found(name: string): InstanceAnswer['result'] {
    const tags = this.machines.get(name);
    if (!tags) return { kind: 'missing' };
    const missingTags = Object.fromEntries(Object.entries(WANTED).filter(([key, value]) => tags[key] !== value));
    return { kind: 'found', instance: { providerID: `test://${name}`, state: 'running', missingTags } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('the end'));
    await this.#running;
  }
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `n${n}`);
const tagged = { own: 'kept', ...WANTED };

test('new nodes are initialized, and their machines get the tags: once, in batches, beside those that they have', async () => {
  await using rig = new Rig();
  for (const name of names(300)) rig.join(name);
  await rig.pass(1_000);
  assert.ok([...rig.api.nodes.values()].every(({ spec }) => spec?.taints?.length === 0));
  for (const tags of rig.machines.values()) assert.deepEqual(tags, tagged);
  assert.ok(rig.puts.every((put) => put.length <= 100));
  const writes = rig.api.writes.length;
  for (let i = 0; i < 24; i++) await rig.pass(PERIOD / 2);
  assert.deepEqual(rig.puts.flat().toSorted(), names(300).toSorted());
  assert.deepEqual([rig.events, rig.api.writes.length], [[], writes]);
  assert.equal(rig.journal.applied('uid-n7').at(-1)?.summary, SUMMARY);
});

test('nodes from before get them by the next look-up, and again what somebody has taken away; others get none', async () => {
  await using rig = new Rig();
  rig.join('ours', { providerID: 'test://ours', taints: [] });
  rig.join('foreign', { providerID: 'other://foreign', taints: [] });
  await rig.pass(2 * PERIOD);
  assert.deepEqual(rig.puts, [['ours']]);
  rig.machines.set('ours', { own: 'kept', team: 'another' });
  await rig.pass(2 * PERIOD);
  assert.deepEqual([rig.puts, rig.machines.get('ours')], [[['ours'], ['ours']], tagged]);
});

test('one that is refused is told, and tried again by a later refresh; the others have theirs', async () => {
  await using rig = new Rig();
  rig.onPut = (name) => (name === 'b' ? new CloudError('forbidden', 'CreateTags is denied') : undefined);
  for (const name of ['a', 'b', 'c']) rig.join(name);
  await rig.pass(MINUTE);
  assert.deepEqual([rig.machines.get('a'), rig.machines.get('c')], [tagged, tagged]);
  assert.equal(rig.puts.flat().filter((name) => name === 'b').length, 1);
  assert.deepEqual(rig.events, [
    'b FailedToTagMachine The machine was not tagged: CreateTags is denied (forbidden). A later refresh tries again. Check that the credentials may write tags.',
  ]);
  const last = rig.journal.applied('uid-b').at(-1);
  assert.deepEqual([last?.result, last?.detail, last?.summary], ['failed', 'CreateTags is denied', SUMMARY]);
  rig.onPut = () => undefined;
  await rig.pass(2 * PERIOD);
  assert.deepEqual(rig.machines.get('b'), tagged);
});

test('a cloud that does not answer holds up no node', async () => {
  await using rig = new Rig();
  rig.gate = new Promise(() => {});
  for (const name of names(20)) rig.join(name);
  await rig.pass(1_000);
  assert.ok([...rig.api.nodes.values()].every(({ spec }) => spec?.taints?.length === 0));
  assert.equal(rig.puts.length, 1);
  await rig.pass(2 * PERIOD);
  assert.ok(
    rig.events.some((event) => event.includes('has not answered within 60000 ms')),
    rig.events[0],
  );
});

test('another program that sets them too is answered once with each refresh', async () => {
  await using rig = new Rig();
  rig.join('a');
  for (let second = 0; second < 7_200; second += 10) {
    Object.assign(rig.machines.get('a') ?? {}, { team: 'another' });
    await rig.pass(10_000);
  }
  assert.ok(rig.puts.length >= 10 && rig.puts.length <= 25, String(rig.puts.length));
});

test('however slow the cloud is, none waits twice or is put twice within four minutes', async () => {
  await using rig = new Rig();
  const last = new Map<string, number>();
  const early: string[] = [];
  rig.onPut = (name) => {
    const at = last.get(name);
    if (at !== undefined && rig.clock.monotonic() - at < 4 * MINUTE) early.push(name);
    last.set(name, rig.clock.monotonic());
    return new CloudError('throttled', 'slow down');
  };
  rig.putMs = 50_000;
  for (const name of names(1_200)) rig.join(name);
  for (let i = 0; i < 60; i++) await rig.pass(MINUTE / 2);
  assert.equal(last.size, 1_200);
  assert.deepEqual(early, []);
});

test('each refresh tries again what was refused, also by a cloud that takes a while to answer', async () => {
  await using rig = new Rig();
  rig.onPut = () => new CloudError('forbidden', 'CreateTags is denied');
  rig.putMs = 3_000;
  rig.join('a');
  for (let i = 0; i < 60; i++) await rig.pass(MINUTE);
  assert.ok(rig.puts.length >= 12 && rig.puts.length <= 13, String(rig.puts.length));
});

test('a node of the same name is another machine, which waits for no one', async () => {
  await using rig = new Rig();
  rig.join('a');
  await rig.pass(1_000);
  rig.api.remove('a');
  rig.machines.delete('a');
  await rig.pass(1_000);
  rig.join('a');
  await rig.pass(1_000);
  assert.deepEqual([rig.puts, rig.machines.get('a')], [[['a'], ['a']], tagged]);
});

test('a dry run puts none, and says which it would put', async () => {
  await using rig = new Rig({ dryRun: true });
  rig.join('a', { providerID: 'test://a', taints: [] });
  await rig.pass(2 * PERIOD);
  assert.deepEqual(rig.puts, []);
  assert.deepEqual(
    rig.journal.plans().map(({ actions }) => actions.map(({ summary }) => summary)),
    [[SUMMARY]],
  );
  assert.equal(rig.controller.explain('a')?.planned[0]?.text, `P${SUMMARY.slice(1)}.`);
  Object.assign(rig.machines.get('a') ?? {}, WANTED);
  await rig.pass(2 * PERIOD);
  // A heartbeat.
  rig.join('a', { providerID: 'test://a', taints: [] });
  assert.deepEqual(rig.journal.plans(), []);
});
