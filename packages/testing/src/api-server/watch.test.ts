import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../fake-clock.ts';
import { findKind } from './kinds.ts';
import { parseSelection } from './list.ts';
import { ObjectStorage } from './object-storage.ts';
import { Encoder } from './representation.ts';
import { WatchHub, type WatchRequest, type WatchSink } from './watch.ts';

const KIND = findKind('', 'v1', 'configmaps')!;

/** A client that reads `credit` writes and then nothing until told. */
class Client implements WatchSink {
  readonly lines: { type: string; object: { metadata: { name?: string; resourceVersion: string }; code?: number } }[] =
    [];
  readonly chunks: Buffer[] = [];
  state: 'open' | 'ended' | 'cut' = 'open';
  credit: number;
  #resume: () => void = () => {};

  constructor(credit = Number.POSITIVE_INFINITY) {
    this.credit = credit;
  }

  write(chunk: Buffer): boolean {
    this.chunks.push(chunk);
    for (const line of chunk.toString('utf8').trimEnd().split('\n')) this.lines.push(JSON.parse(line) as never);
    return --this.credit > 0;
  }

  onDrain(resume: () => void): void {
    this.#resume = resume;
  }

  read(credit: number): void {
    this.credit = credit;
    this.#resume();
  }

  end(): void {
    this.state = 'ended';
  }

  cut(): void {
    this.state = 'cut';
  }

  get said(): string[] {
    return this.lines.map((line) => `${line.type} ${line.object.metadata?.name ?? line.object.code ?? ''}`.trimEnd());
  }
}

interface Bench {
  readonly clock: FakeClock;
  readonly storage: ObjectStorage;
  readonly hub: WatchHub;
  readonly put: (name: string) => void;
  readonly watch: (client: Client, options?: Partial<WatchRequest>) => () => void;
}

function createBench(window = 100): Bench {
  const clock = new FakeClock();
  const storage = new ObjectStorage(window);
  const hub = new WatchHub(storage, clock, 60_000);
  return {
    clock,
    storage,
    hub,
    put: (name) => void storage.put(KIND, { metadata: { name, namespace: 'default' } }),
    watch: (sink, options = {}) =>
      hub.open({
        selection: parseSelection(KIND, '', new URLSearchParams()),
        encoder: new Encoder(KIND, { form: 'object', includeObject: 'None' }, clock),
        sink,
        from: 1,
        sendInitialEvents: false,
        bookmarks: true,
        timeoutMs: 300_000,
        ...options,
      }),
  };
}

test('a client that does not read is not written to, and is told all once it reads', async () => {
  const { clock, put, watch } = createBench();
  const client = new Client(1);
  watch(client);
  put('a');
  await clock.settle();
  put('b');
  put('c');
  await clock.settle();
  assert.deepEqual(client.said, ['ADDED a']);
  client.read(10);
  await clock.settle();
  assert.deepEqual(client.said, ['ADDED a', 'ADDED b', 'ADDED c']);
});

test('a client that falls out of the window is told 410 and let go, the others are not held up', async () => {
  const { clock, put, watch, hub } = createBench(5);
  const slow = new Client(1);
  const quick = new Client();
  watch(slow);
  watch(quick);
  for (let i = 0; i < 20; i++) {
    put(`m${i}`);
    await clock.settle();
  }
  assert.equal(quick.said.length, 20);
  slow.read(10);
  await clock.settle();
  assert.deepEqual(slow.said, ['ADDED m0', 'ERROR 410']);
  assert.equal(slow.state, 'ended');
  assert.equal(hub.size, 1);
});

test('bookmarks come every minute with the version the client knows, and before the end', async () => {
  const { clock, put, watch, storage } = createBench();
  const client = new Client();
  watch(client, { timeoutMs: 150_000 });
  put('a');
  await clock.advance(60_000);
  assert.deepEqual(client.said, ['ADDED a', 'BOOKMARK']);
  assert.equal(client.lines[1]!.object.metadata.resourceVersion, String(storage.revision));
  await clock.advance(90_000);
  assert.deepEqual(client.said, ['ADDED a', 'BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
  assert.equal(client.state, 'ended');
  assert.equal(clock.pendingTimers, 0);
});

test('without allowWatchBookmarks there are none', async () => {
  const { clock, watch } = createBench();
  const client = new Client();
  watch(client, { bookmarks: false, timeoutMs: 150_000 });
  await clock.advance(150_000);
  assert.deepEqual(client.said, []);
  assert.equal(client.state, 'ended');
});

test('a bookmark never runs ahead of events that the client has not been sent', async () => {
  const { clock, put, watch } = createBench();
  const client = new Client(1);
  watch(client);
  put('a');
  await clock.settle();
  put('b');
  await clock.advance(60_000);
  assert.deepEqual(client.said, ['ADDED a']);
});

test('a client that went away is forgotten, with its timers', async () => {
  const { clock, watch, hub, put } = createBench();
  const client = new Client();
  const close = watch(client);
  close();
  put('a');
  await clock.settle();
  assert.deepEqual(client.said, []);
  assert.equal(hub.size, 0);
  assert.equal(clock.pendingTimers, 0);
});

test('watches of one kind are sent the same bytes, encoded once', async () => {
  const { clock, put, watch } = createBench();
  const clients = [new Client(), new Client(), new Client()];
  for (const client of clients) watch(client);
  put('a');
  await clock.settle();
  assert.equal(new Set(clients.map((client) => client.chunks[0])).size, 1);
});

test('writes of one turn are sent in one piece', async () => {
  const { clock, put, watch } = createBench();
  const client = new Client();
  watch(client);
  for (let i = 0; i < 50; i++) put(`m${i}`);
  await clock.settle();
  assert.equal(client.said.length, 50);
  assert.equal(client.chunks.length, 1);
});

test('objects that come while the initial ones are being sent are told after them, once', async () => {
  const { clock, put, watch, storage } = createBench(10_000);
  for (let i = 0; i < 100; i++) {
    storage.put(KIND, { metadata: { name: `m${i}`, namespace: 'default' }, data: { big: 'x'.repeat(100_000) } });
  }
  const client = new Client(1);
  watch(client, { sendInitialEvents: true, from: undefined });
  await clock.settle();
  assert.ok(client.said.length < 100, 'in several turns');
  put('late');
  storage.remove(KIND, 'default/m99');
  client.read(Number.POSITIVE_INFINITY);
  for (let i = 0; i < 20; i++) await clock.settle();
  assert.equal(client.said.length, 103);
  assert.deepEqual(client.said.slice(-3), ['BOOKMARK', 'ADDED late', 'DELETED m99']);
});
